/* $_SERVER and $_ENV: the process's environment, then the request's parameters, newest first as in php-fpm.
 */
#include "runtime/fiber/sapi/internal.h"

#include <string.h>

static void (*import_process_environment)(zval *array);

static zval *tracked(int which)
{
    zval *array = &PG(http_globals)[which];
    return Z_TYPE_P(array) == IS_ARRAY ? array : NULL;
}

/* $_SERVER and $_ENV hold the same: the second to be made is a copy of the first. */
static bool copied(zval *array, int which)
{
    zval *other = tracked(which);
    if (!other || Z_ARR_P(other) == Z_ARR_P(array) || !zend_hash_num_elements(Z_ARRVAL_P(other)))
        return false;
    zend_array_destroy(Z_ARR_P(array));
    ZVAL_ARR(array, zend_array_dup(Z_ARR_P(other)));
    return true;
}

static void register_filtered(int filter, const char *name, char *value, size_t length, zval *array)
{
    if (sapi_module.input_filter(filter, name, &value, length, &length))
        php_register_variable_safe(name, value, length, array);
}

static void import(zval *array)
{
    if (copied(array, TRACK_VARS_ENV) || copied(array, TRACK_VARS_SERVER))
        return;
    import_process_environment(array);
    const struct request *request = sapi_request();
    zval *env = tracked(TRACK_VARS_ENV);
    int filter = env && Z_ARR_P(array) == Z_ARR_P(env) ? PARSE_ENV : PARSE_SERVER;
    for (unsigned i = request ? request->params.count : 0; i-- > 0;) {
        const struct param *item = &request->params.items[i];
        if (item->value)
            register_filtered(filter, item->name, item->value, strlen(item->value), array);
    }
}

/* What getenv() without a name gives. */
static void load(zval *array)
{
    import_process_environment(array);
    const struct request *request = sapi_request();
    for (unsigned i = request ? request->params.count : 0; i-- > 0;) {
        const struct param *item = &request->params.items[i];
        if (item->value)
            php_register_variable_safe(item->name, item->value, item->value_len, array);
    }
}

void sapi_hook_variables(void)
{
    if (php_import_environment_variables == import)
        return;
    import_process_environment = php_import_environment_variables;
    php_import_environment_variables = import;
    php_load_environment_variables = load;
}

void sapi_register_variables(zval *array)
{
    php_import_environment_variables(array);
    const char *name = SG(request_info).request_uri ? SG(request_info).request_uri : "", *info = NULL;
    if (FIBER_G(fix_pathinfo))
        info = params_get(&sapi_request()->params, "PATH_INFO");
    char *self;
    size_t length = spprintf(&self, 0, "%s%s", name, info ? info : "");
    register_filtered(PARSE_SERVER, "PHP_SELF", self, length, array);
    efree(self);
}
