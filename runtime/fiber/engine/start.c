#include "runtime/fiber/engine/audit.h"
#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/engine/layout.h"
#include "runtime/fiber/engine/open.h"
#include "runtime/fiber/engine/process.h"
#include "runtime/fiber/engine/ranges.h"
#include "runtime/fiber/engine/stack.h"
#include "runtime/fiber/engine/tables.h"

#include <limits.h>
#include <main/build-defs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* libphp looks for php.ini where Debian's embed SAPI has its own; a server in php-fpm's place reads
 * php-fpm's. */
static bool find_fpm_settings(char path[], size_t bytes)
{
    const char *slash = strrchr(PHP_CONFIG_FILE_PATH, '/');
    struct stat status;
    snprintf(path, bytes, "%.*s/fpm", slash ? (int)(slash - PHP_CONFIG_FILE_PATH) : 0, PHP_CONFIG_FILE_PATH);
    return slash && !stat(path, &status) && S_ISDIR(status.st_mode);
}

static bool start_modules(const struct engine_settings *settings)
{
    sapi_module_struct *sapi = settings->sapi;
    char folder[PATH_MAX], scanned[PATH_MAX + sizeof "/conf.d"];
    bool of_fpm = !settings->ini_path && !settings->ini_ignored && find_fpm_settings(folder, sizeof folder);
    bool scan = of_fpm && !getenv("PHP_INI_SCAN_DIR");
    sapi->php_ini_path_override = of_fpm ? strdup(folder) : (char *)(uintptr_t)settings->ini_path;
    sapi->executable_location = realpath("/proc/self/exe", NULL); /* PHP_BINARY */
    sapi->php_ini_ignore = settings->ini_ignored;
    sapi->ini_entries = settings->ini_entries ? strdup(settings->ini_entries) : NULL;
    snprintf(scanned, sizeof scanned, "%s/conf.d", of_fpm ? folder : "");
    if (scan)
        setenv("PHP_INI_SCAN_DIR", scanned, true);
    bool started = sapi->startup(sapi) == SUCCESS;
    if (scan)
        unsetenv("PHP_INI_SCAN_DIR");
    return started;
}

bool engine_start(const struct engine_settings *settings, char problem[ENGINE_PROBLEM_BYTES])
{
    if (!layout_check(problem, ENGINE_PROBLEM_BYTES))
        return false;
    /* A huge page for each heap and stack would cost each request megabytes. */
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    zend_signal_startup();
    sapi_startup(settings->sapi);
    if (!start_modules(settings)) {
        snprintf(problem, ENGINE_PROBLEM_BYTES, "PHP did not start; what it says itself is above");
        return false;
    }
    SIGG(reset) = 0; /* no checking of seven signal handlers after each request */
    return ranges_find(problem, ENGINE_PROBLEM_BYTES) && layout_check_statics(problem, ENGINE_PROBLEM_BYTES);
}

bool engine_open(const struct engine_limits *limits, char problem[ENGINE_PROBLEM_BYTES])
{
    char *virgin = malloc(image_bytes());
    if (!virgin || !stack_watch_overruns()) {
        snprintf(problem, ENGINE_PROBLEM_BYTES, "no memory for the image of a request");
        return false;
    }
    process_begin();
    ranges_hidden()->cwd->cwd.cwd = NULL; /* of the heap that nobody uses any more */
    image_copy_out(virgin);
    tables_share(limits->slots_max);
    slots_open(limits, virgin);
    audit_open();
    return true;
}
