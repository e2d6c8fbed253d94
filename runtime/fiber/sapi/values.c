/* Settings from outside of php.ini: php_value[] and php_admin_value[] of the pool, and the parameters
 * PHP_VALUE and PHP_ADMIN_VALUE of a request, whose text is that of an ini file:
 *
 *     fastcgi_param PHP_VALUE "memory_limit=64M
 *     precision=5";
 *
 * An admin value can then not be changed by ini_set(). In php-fpm what a request brings stays in its worker
 * for the requests of other sites; here it ends with its request. */
#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/sapi/internal.h"

#include <string.h>

/* Two settings are lists that name what to take away; each name is taken once. In a request only its own
 * table is changed: the functions themselves are everybody's, so the table must not destroy what it loses. */
static void disable_functions(char *names, bool for_request)
{
    dtor_func_t destroy = CG(function_table)->pDestructor;
    if (for_request)
        CG(function_table)->pDestructor = NULL;
    zend_disable_functions(names);
    CG(function_table)->pDestructor = destroy;
}

static void disable_classes(char *names)
{
    char *rest = names;
    for (char *name; (name = strsep(&rest, ", "));)
        if (*name)
            zend_disable_class(name, strlen(name));
}

static bool disable(const char *setting, const char *names, bool for_request)
{
    char *copy = strdup(names);
    if (!copy)
        return false;
    if (!strcmp(setting, "disable_functions"))
        disable_functions(copy, for_request);
    else if (for_request)
        php_error_docref(NULL, E_WARNING,
                         "disable_classes cannot be set for one request: it is left as it is");
    else
        disable_classes(copy);
    free(copy);
    return true;
}

static bool is_list(const char *name)
{
    return !strcmp(name, "disable_functions") || !strcmp(name, "disable_classes");
}

bool sapi_set_value(const char *name, const char *value, bool admin)
{
    if (is_list(name) && *value)
        return disable(name, value, false);
    zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), name, strlen(name));
    if (!entry)
        return false;
    zend_string *text = zend_string_init(value, strlen(value), true); /* for good: never released */
    GC_MAKE_PERSISTENT_LOCAL(text);
    bool taken = !entry->on_modify || entry->on_modify(entry, text, entry->mh_arg1, entry->mh_arg2,
                                                       entry->mh_arg3, ZEND_INI_STAGE_ACTIVATE) == SUCCESS;
    if (taken) {
        entry->value = text;
        if (admin)
            entry->modifiable = ZEND_INI_SYSTEM;
    }
    return true; /* a value that the setting itself refuses is left out, as php-fpm does */
}

/* ---- of a request ---- */

struct source {
    struct request *request;
    int mode;
};

static void complain(struct request *request, const char *problem, const char *name)
{
    char text[300];
    snprintf(text, sizeof text, "Passing INI directive through FastCGI: %s%s%s%s", problem, name ? " '" : "",
             name ? name : "", name ? "'" : "");
    sapi_say(request, "ERROR", "", text);
}

/* As php-fpm does: the value is the one that ini_restore() comes back to. php-fpm keeps it for the requests
 * after this one; here the tables that were changed are thrown away. */
static bool set_for_request(const char *name, const char *value, int mode)
{
    slot_spoil();
    if (is_list(name) && *value) {
        /* Code that OPcache has was compiled when the function was there, and takes that for granted. */
        if (strcmp(name, "disable_functions") == 0)
            set_for_request("opcache.enable", "0", mode);
        return disable(name, value, true);
    }
    zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), name, strlen(name));
    if (!entry)
        return false;
    zend_string *text = zend_string_init(value, strlen(value), false);
    if (entry->on_modify && entry->on_modify(entry, text, entry->mh_arg1, entry->mh_arg2, entry->mh_arg3,
                                             ZEND_INI_STAGE_ACTIVATE) != SUCCESS) {
        zend_string_release(text);
        return true; /* refused by the setting itself, which has said why if it wanted to; as php-fpm does */
    }
    entry->value = text;
    if (mode == ZEND_INI_SYSTEM)
        entry->modifiable = ZEND_INI_SYSTEM;
    return true;
}

static void take_entry(zval *name, zval *value, zval *index, int kind, void *argument)
{
    (void)index;
    const struct source *source = argument;
    if (!name)
        return;
    if (kind != ZEND_INI_PARSER_ENTRY)
        complain(source->request, "only classic entries are allowed", NULL);
    else if (!Z_STRLEN_P(name))
        complain(source->request, "empty key", NULL);
    else if (!value)
        complain(source->request, "empty value for key", Z_STRVAL_P(name));
    else if (!set_for_request(Z_STRVAL_P(name), Z_STRVAL_P(value), source->mode))
        complain(source->request, "unable to set", Z_STRVAL_P(name));
}

void sapi_apply_request_values(struct request *request)
{
    static const struct {
        const char *name;
        int mode;
    } params[] = {{"PHP_VALUE", ZEND_INI_USER}, {"PHP_ADMIN_VALUE", ZEND_INI_SYSTEM}};
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        const char *given = params_get(&request->params, params[i].name);
        if (!given)
            continue;
        struct source source = {request, params[i].mode};
        char *text;
        spprintf(&text, 0, "%s\n", given);
        zend_parse_ini_string(text, true, ZEND_INI_SCANNER_NORMAL, take_entry, &source);
        efree(text);
    }
}
