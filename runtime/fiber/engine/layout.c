#include "runtime/fiber/engine/layout.h"

#include "runtime/defect.h"
#include "runtime/fiber/engine/code.h"
#include "runtime/fiber/engine/ranges.h"

#include <stdio.h>

/* Sizes that the headers give; the library tells its own in its symbol table. */
static const struct expected {
    const char *symbol;
    size_t bytes;
} expected[] = {
    {"executor_globals", sizeof(zend_executor_globals)},
    {"compiler_globals", sizeof(zend_compiler_globals)},
    {"core_globals", sizeof(php_core_globals)},
    {"sapi_globals", sizeof(sapi_globals_struct)},
    {"output_globals", sizeof(zend_output_globals)},
    {"basic_globals", sizeof(php_basic_globals)},
    {"file_globals", sizeof(php_file_globals)},
    {"language_scanner_globals", sizeof(zend_php_scanner_globals)},
    {"ini_scanner_globals", sizeof(zend_ini_scanner_globals)},
    {"pcre_globals", sizeof(zend_pcre_globals)},
};

static bool check_sizes(const char *path, char *problem, size_t problem_bytes)
{
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        size_t there, wanted = expected[i].bytes;
        code_variable(expected[i].symbol, &there);
        if (there == wanted || DEFECT(B27))
            continue;
        snprintf(
            problem, problem_bytes,
            "%s: %s has %zu bytes, and %zu in the headers of PHP %s that this was compiled with: install the "
            "libphp of that version, or compile against this one's headers",
            path, expected[i].symbol, there, wanted, PHP_VERSION);
        return false;
    }
    return true;
}

/* "Zend Engine v4.2.36, Copyright ..." and the headers' "4.2.36": layouts change from 4.2 to 4.3. */
static bool check_version(char *problem, size_t problem_bytes)
{
    static const char prefix[] = "Zend Engine v";
    const char *there = get_zend_version();
    there = !strncmp(there, prefix, sizeof prefix - 1) ? there + sizeof prefix - 1 : there;
    size_t minor_ends = strcspn(ZEND_VERSION, ".") + 1;
    minor_ends += strcspn(&ZEND_VERSION[minor_ends], ".") + 1;
    if (!strncmp(there, ZEND_VERSION, minor_ends))
        return true;
    snprintf(problem, problem_bytes,
             "libphp has the Zend Engine %.*s, and this was compiled for %s (PHP %s): install the libphp of "
             "that version, or compile against this one's headers",
             (int)strcspn(there, ", \n"), there, ZEND_VERSION, PHP_VERSION);
    return false;
}

/* Modules tell what they were built for; libphp's own do too. */
static bool check_build(char *problem, size_t problem_bytes)
{
    const zend_module_entry *module =
        zend_hash_str_find_ptr(&module_registry, "standard", sizeof "standard" - 1);
    if (module && module->zend_api == ZEND_MODULE_API_NO && !strcmp(module->build_id, ZEND_MODULE_BUILD_ID))
        return true;
    snprintf(problem, problem_bytes, "libphp was built as \"%s\", and this for \"%s\" (PHP %s)",
             module ? module->build_id : "?", ZEND_MODULE_BUILD_ID, PHP_VERSION);
    return false;
}

bool layout_check(char *problem, size_t problem_bytes)
{
    const char *path;
    if (code_libphp(&path))
        return check_sizes(path, problem, problem_bytes);
    snprintf(problem, problem_bytes, "libphp was not found in this process");
    return false;
}

/* ---- the statics: each is shown to be the right one by what the engine does to it ---- */

static bool gc_is_right(void)
{
    const unsigned char *protected = (const unsigned char *)ranges_hidden()->gc_buffer + 10;
    bool before = gc_protect(true);
    bool seen_set = *protected == 1;
    gc_protect(false);
    bool seen_clear = *protected == 0;
    gc_protect(before);
    return seen_set && seen_clear && (!*ranges_hidden()->gc_buffer || ranges_gc_buffer_count() >= 1024);
}

static bool match_is_right(void)
{
    const pcre2_match_data *match = *ranges_hidden()->pcre_match_data;
    return match && pcre2_get_ovector_count((pcre2_match_data *)(uintptr_t)match) == 32;
}

static bool cwd_is_right(void)
{
    zend_string *setting = zend_string_init("realpath_cache_size", sizeof "realpath_cache_size" - 1, false);
    zend_long limit = zend_ini_parse_quantity_warn(zend_ini_get_value(setting), setting);
    zend_string_release(setting);
    return ranges_hidden()->cwd->realpath_cache_size_limit == limit;
}

bool layout_check_statics(char *problem, size_t problem_bytes)
{
    static const struct {
        const char *what;
        bool (*is_right)(void);
    } checks[] = {{"the collector's state (gc_globals)", gc_is_right},
                  {"pcre's match data", match_is_right},
                  {"virtual_cwd's globals", cwd_is_right}};
    if (!check_version(problem, problem_bytes) || !check_build(problem, problem_bytes))
        return false;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].is_right())
            continue;
        snprintf(problem, problem_bytes,
                 "%s was not where it is in the PHP %s that is known: this libphp was built differently",
                 checks[i].what, PHP_VERSION);
        return false;
    }
    return true;
}
