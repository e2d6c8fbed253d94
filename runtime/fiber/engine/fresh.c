#include "runtime/fiber/engine/fresh.h"

#include "runtime/fiber/engine/ranges.h"

/* pcre's constructor resets its process-wide state too; what a slot needs of it is made in tables.c. */
static bool has_constructor(const zend_module_entry *module)
{
    return module && module->globals_ctor && module->globals_ptr != (void *)&pcre_globals;
}

static void construct_again(void)
{
    zend_module_entry *module;
    ZEND_HASH_FOREACH_PTR(&module_registry, module)
    {
        if (has_constructor(module))
            module->globals_ctor(module->globals_ptr);
    }
    ZEND_HASH_FOREACH_END();
}

enum { MODULES_MAX = 256 };

static bool starts(const zend_string *name, const char *prefix)
{
    return !strncmp(ZSTR_VAL(name), prefix, strlen(prefix));
}

/* Their handlers build what fresh_globals() clears. */
static bool is_of_url_scanner(const zend_string *name)
{
    return starts(name, "url_rewriter.") || starts(name, "session.trans_sid_");
}

/* The settings of modules whose globals are fresh, and those of the scanner of URLs. */
static void apply_settings(void)
{
    static bool fresh[MODULES_MAX], known;
    if (!known) {
        zend_module_entry *module;
        ZEND_HASH_FOREACH_PTR(&module_registry, module)
        {
            if (module->module_number >= 0 && module->module_number < MODULES_MAX)
                fresh[module->module_number] = has_constructor(module);
        }
        ZEND_HASH_FOREACH_END();
        known = true;
    }
    zend_ini_entry *entry;
    ZEND_HASH_FOREACH_PTR(EG(ini_directives), entry)
    {
        int number = entry->module_number;
        bool wanted =
            (number >= 0 && number < MODULES_MAX && fresh[number]) || is_of_url_scanner(entry->name);
        if (entry->on_modify && wanted)
            entry->on_modify(entry, entry->value, entry->mh_arg1, entry->mh_arg2, entry->mh_arg3,
                             ZEND_INI_STAGE_STARTUP);
    }
    ZEND_HASH_FOREACH_END();
}

static void destroy_again(void)
{
    zend_module_entry *module;
    ZEND_HASH_FOREACH_PTR(&module_registry, module)
    {
        if (has_constructor(module) && module->globals_dtor)
            module->globals_dtor(module->globals_ptr);
    }
    ZEND_HASH_FOREACH_END();
}

static void free_tags(HashTable *tags)
{
    if (!tags)
        return;
    zend_hash_destroy(tags);
    free(tags);
}

void fresh_globals_free(void)
{
    zend_hash_graceful_reverse_destroy(&EG(persistent_list));
    free_tags(BG(url_adapt_session_ex).tags);
    free_tags(BG(url_adapt_output_ex).tags);
    zend_hash_destroy(&BG(url_adapt_session_hosts_ht));
    zend_hash_destroy(&BG(url_adapt_output_hosts_ht));
    destroy_again();
}

void fresh_globals(void)
{
    EG(error_reporting_ini_entry) = NULL;
    EG(modified_ini_directives) = NULL;
    BG(url_adapt_session_ex).tags = BG(url_adapt_output_ex).tags = NULL;
    zend_hash_init(&BG(url_adapt_session_hosts_ht), 0, NULL, NULL, true);
    zend_hash_init(&BG(url_adapt_output_hosts_ht), 0, NULL, NULL, true);
    construct_again();
    apply_settings();
}
