#include "runtime/fiber/engine/audit.h"
#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/engine/layout.h"
#include "runtime/fiber/engine/open.h"
#include "runtime/fiber/engine/process.h"
#include "runtime/fiber/engine/ranges.h"
#include "runtime/fiber/engine/stack.h"

#include <stdio.h>
#include <sys/prctl.h>

bool engine_start(const struct engine_settings *settings, char problem[ENGINE_PROBLEM_BYTES])
{
    if (!layout_check(problem, ENGINE_PROBLEM_BYTES))
        return false;
    /* A huge page for each heap and stack would cost each request megabytes. */
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    zend_signal_startup();
    sapi_startup(settings->sapi);
    settings->sapi->php_ini_path_override = (char *)(uintptr_t)settings->ini_path;
    settings->sapi->php_ini_ignore = settings->ini_ignored;
    settings->sapi->ini_entries = settings->ini_entries ? strdup(settings->ini_entries) : NULL;
    if (settings->sapi->startup(settings->sapi) == FAILURE) {
        snprintf(problem, ENGINE_PROBLEM_BYTES, "PHP did not start; what it says itself is above");
        return false;
    }
    SIGG(reset) = 0; /* no checking of seven signal handlers after each request */
    return ranges_find(problem, ENGINE_PROBLEM_BYTES) && layout_check_statics(problem, ENGINE_PROBLEM_BYTES);
}

bool engine_open(const struct engine_limits *limits, char problem[ENGINE_PROBLEM_BYTES])
{
    char *virgin = malloc(image_bytes());
    if (!virgin || !process_begin() || !stack_watch_overruns()) {
        snprintf(problem, ENGINE_PROBLEM_BYTES, "no memory for the image of a request");
        return false;
    }
    ranges_hidden()->cwd->cwd.cwd = NULL; /* of the heap that nobody uses any more */
    image_copy_out(virgin);
    slots_open(limits, virgin);
    audit_open();
    return true;
}
