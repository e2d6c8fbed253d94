#include "runtime/fiber/engine/ranges.h"

#include "runtime/fiber/engine/code.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>

/* Where the collector keeps the size of its buffer, after the pointer to it. */
enum { GC_BUFFER_COUNT_AT = 24 };

enum { RANGES_MAX = 192, NO_VERSION_LIMIT = 999999 };

static struct range ranges[RANGES_MAX];
static unsigned ranges_count;
static size_t ranges_bytes;
static struct hidden hidden;

/* ---- the tables ---- */

/* Globals that libphp exports. The address may be that of a copy in this executable, so it is taken at run
 * time and not from the library. */
static const struct exported {
    void *at;
    size_t bytes;
    const char *what;
} exported[] = {
    {&executor_globals, sizeof executor_globals, "executor_globals"},
    {&compiler_globals, sizeof compiler_globals, "compiler_globals"},
    {&core_globals, sizeof core_globals, "core_globals"},
    {&sapi_globals, sizeof sapi_globals, "sapi_globals"},
    {&output_globals, sizeof output_globals, "output_globals"},
    {&basic_globals, sizeof basic_globals, "basic_globals"},
    {&file_globals, sizeof file_globals, "file_globals"},
    {&language_scanner_globals, sizeof language_scanner_globals, "language_scanner_globals"},
    {&ini_scanner_globals, sizeof ini_scanner_globals, "ini_scanner_globals"},
    /* all but its first member, the process-wide cache of compiled patterns */
    {(char *)&pcre_globals + sizeof(HashTable), sizeof pcre_globals - sizeof(HashTable), "pcre_globals"},
};

/* Hidden globals of modules: a setting of the module points into them (mh_arg2 is their address). */
static const struct by_setting {
    const char *setting;
    size_t offset, bytes;
    const char *what;
    int php_min, php_max;
} by_setting[] = {
    {"filter.default", 0, sizeof(zend_filter_globals), "filter_globals", 0, NO_VERSION_LIMIT},
    {"assert.active", 0, 32, "assert_globals", 0, 80299},
    /* ZCG up to its member `key`, a scratch buffer that no request reads from before it wrote it */
    {"opcache.enable", 0, 408, "accel_globals", 80200, 80299},
    {"realpath_cache_size", offsetof(virtual_cwd_globals, cwd), sizeof(cwd_state), "cwd_globals.cwd", 0,
     NO_VERSION_LIMIT},
    /* the limits are settings; the realpath cache behind them is the process's */
    {"realpath_cache_size", offsetof(virtual_cwd_globals, realpath_cache_size_limit), 16,
     "cwd_globals limits", 0, NO_VERSION_LIMIT},
};

/* libxml2: what PHP sets for each request. The library has functions that give the addresses. */
static const struct by_accessor {
    const char *accessor;
    size_t bytes;
} by_accessor[] = {
    {"__xmlLastError", 88},
    {"__xmlGenericError", 8},
    {"__xmlGenericErrorContext", 8},
    {"__xmlStructuredError", 8},
    {"__xmlStructuredErrorContext", 8},
    {"__xmlParserInputBufferCreateFilenameValue", 8},
    {"__xmlOutputBufferCreateFilenameValue", 8},
    {"__xmlLoadExtDtdDefaultValue", 4},
    {"__xmlDoValidityCheckingDefaultValue", 4},
    {"__xmlSubstituteEntitiesDefaultValue", 4},
    {"__xmlKeepBlanksDefaultValue", 4},
    {"__xmlPedanticParserDefaultValue", 4},
    {"__xmlIndentTreeOutput", 4},
};

/* Statics without a name, by the code that uses them: a function of libphp, or one that scripts call. */
static const struct by_code {
    const char *function;
    bool of_scripts; /* `function` is one that scripts call */
    const char *opcode;
    size_t opcode_bytes, operand_bytes;
    size_t before, bytes; /* the range begins so many bytes before the address in the code */
    const char *what;
    int php_min, php_max;
    void *noted; /* a pointer in `hidden` that is set to the range; NULL: none */
} by_code[] = {
    {"gc_protected", false, "\x0f\xb6\x05", 3, 0, 10, 40, "gc_globals", 80200, 80299, &hidden.gc_buffer},
    {"zend_fiber_switch_block", false, "\x83\x05", 2, 1, 0, 4, "zend_fiber_switch_blocking", 80200, 80299,
     NULL},
    {"spl_autoload_functions", true, "\x48\x8b\x05", 3, 0, 0, 16,
     "spl_autoload_functions, spl_autoload_extensions", 80200, 80299, NULL},
    /* pcre's one block for matches and its flag "in use": preg_replace_callback() waits while it uses it */
    {"php_pcre_free_match_data", false, "\x48\x39\x3d", 3, 0, 0, 8, "pcre mdata", 80200, 80299,
     &hidden.pcre_match_data},
    {"php_pcre_free_match_data", false, "\xc6\x05", 2, 1, 0, 1, "pcre mdata_used", 80200, 80299, NULL},
    /* its limits are settings: pcre.backtrack_limit, pcre.recursion_limit */
    {"php_pcre_mctx", false, "\x48\x8b\x05", 3, 0, 0, 8, "pcre mctx", 80200, 80299,
     &hidden.pcre_match_context},
    {"array_multisort", true, "\x48\x89\x05", 3, 0, 0, 8, "array_globals.multisort_func", 80200, 80299, NULL},
    {"rewinddir", true, "\x48\x83\x3d", 3, 1, 0, 8, "dir_globals.default_dir", 80200, 80299, NULL},
};

/* ---- finding them ---- */

static bool fails(char *problem, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, bytes, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_for_this_php(int php_min, int php_max)
{
    return PHP_VERSION_ID >= php_min && PHP_VERSION_ID <= php_max;
}

static bool overlaps_known(const char *at)
{
    for (unsigned i = 0; i < ranges_count; i++)
        if (at >= ranges[i].at && at < ranges[i].at + ranges[i].bytes)
            return true;
    return false;
}

static void add(void *at, size_t bytes, const char *what)
{
    if (!bytes || overlaps_known(at) || ranges_count == RANGES_MAX)
        return;
    ranges[ranges_count++] = (struct range){at, bytes, what};
    ranges_bytes += bytes;
}

static void add_exported(void)
{
    for (size_t i = 0; i < sizeof exported / sizeof *exported; i++)
        add(exported[i].at, exported[i].bytes, exported[i].what);
}

static void add_modules(void)
{
    zend_module_entry *module;
    ZEND_HASH_FOREACH_PTR(&module_registry, module)
    {
        if (module->globals_size && module->globals_ptr && module->globals_ptr != (void *)&pcre_globals)
            add(module->globals_ptr, module->globals_size, module->name);
    }
    ZEND_HASH_FOREACH_END();
}

static char *globals_of_setting(const char *name)
{
    zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), name, strlen(name));
    return entry ? entry->mh_arg2 : NULL;
}

static void add_by_setting(void)
{
    for (size_t i = 0; i < sizeof by_setting / sizeof *by_setting; i++) {
        const struct by_setting *row = &by_setting[i];
        char *globals = globals_of_setting(row->setting); /* NULL: this module is not loaded */
        if (globals && is_for_this_php(row->php_min, row->php_max))
            add(globals + row->offset, row->bytes, row->what);
    }
    hidden.cwd = (virtual_cwd_globals *)globals_of_setting("realpath_cache_size");
}

static void add_by_accessor(void)
{
    for (size_t i = 0; i < sizeof by_accessor / sizeof *by_accessor; i++) {
        void *(*accessor)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, by_accessor[i].accessor);
        if (accessor)
            add(accessor(), by_accessor[i].bytes, by_accessor[i].accessor);
    }
}

static const void *function_of_scripts(const char *name)
{
    zend_internal_function *function = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));
    return function ? (const void *)function->handler : NULL;
}

static bool add_by_code(char *problem, size_t problem_bytes)
{
    unsigned found = 0;
    for (size_t i = 0; i < sizeof by_code / sizeof *by_code; i++) {
        const struct by_code *row = &by_code[i];
        if (!is_for_this_php(row->php_min, row->php_max))
            continue;
        const void *function =
            row->of_scripts ? function_of_scripts(row->function) : dlsym(RTLD_DEFAULT, row->function);
        char *at = code_static(function, row->opcode, row->opcode_bytes, row->operand_bytes);
        if (!code_is_data(at))
            return fails(problem, problem_bytes,
                         "%s was not found in the code of %s(): this libphp was built "
                         "differently from the one that is known",
                         row->what, row->function);
        at -= row->before;
        add(at, row->bytes, row->what);
        if (row->noted)
            *(void **)row->noted = at;
        found++;
    }
    if (!found)
        return fails(problem, problem_bytes, "PHP %s has no rows in engine/ranges.c", PHP_VERSION);
    return true;
}

bool ranges_find(char *problem, size_t problem_bytes)
{
    add_exported();
    add_modules();
    add_by_setting();
    add_by_accessor();
    if (!add_by_code(problem, problem_bytes))
        return false;
    if (!hidden.cwd)
        return fails(problem, problem_bytes,
                     "the globals of virtual_cwd were not found by the setting "
                     "realpath_cache_size");
    if (ranges_count == RANGES_MAX)
        return fails(problem, problem_bytes, "more than %d ranges: too many extensions", RANGES_MAX);
    return true;
}

bool ranges_contain(const void *at, size_t bytes)
{
    const char *first = at;
    for (unsigned i = 0; i < ranges_count; i++)
        if (first + bytes > ranges[i].at && first < ranges[i].at + ranges[i].bytes)
            return true;
    return false;
}

uint32_t ranges_gc_buffer_count(void)
{
    return *(const uint32_t *)(const void *)((const char *)hidden.gc_buffer + GC_BUFFER_COUNT_AT);
}

const struct hidden *ranges_hidden(void)
{
    return &hidden;
}

size_t image_bytes(void)
{
    return ranges_bytes;
}

void image_copy_out(char *image)
{
    for (unsigned i = 0; i < ranges_count; image += ranges[i].bytes, i++)
        memcpy(image, ranges[i].at, ranges[i].bytes);
}

void image_copy_in(const char *image)
{
    for (unsigned i = 0; i < ranges_count; image += ranges[i].bytes, i++)
        memcpy(ranges[i].at, image, ranges[i].bytes);
}
