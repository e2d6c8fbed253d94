/* What a script finds of php-fpm: its functions and its settings, under the module's name "cgi-fcgi". */
#include "runtime/fiber/sapi/internal.h"

#include <string.h>

ZEND_DECLARE_MODULE_GLOBALS(fiber)

PHP_INI_BEGIN()
STD_PHP_INI_BOOLEAN("cgi.rfc2616_headers", "0", PHP_INI_ALL, OnUpdateBool, rfc2616_headers,
                    zend_fiber_globals, fiber_globals)
STD_PHP_INI_BOOLEAN("cgi.nph", "0", PHP_INI_ALL, OnUpdateBool, nph, zend_fiber_globals, fiber_globals)
STD_PHP_INI_BOOLEAN("cgi.fix_pathinfo", "1", PHP_INI_SYSTEM, OnUpdateBool, fix_pathinfo, zend_fiber_globals,
                    fiber_globals)
STD_PHP_INI_BOOLEAN("cgi.discard_path", "0", PHP_INI_SYSTEM, OnUpdateBool, discard_path, zend_fiber_globals,
                    fiber_globals)
STD_PHP_INI_BOOLEAN("fastcgi.logging", "1", PHP_INI_SYSTEM, OnUpdateBool, logging, zend_fiber_globals,
                    fiber_globals)
STD_PHP_INI_ENTRY("fastcgi.error_header", NULL, PHP_INI_SYSTEM, OnUpdateString, error_header,
                  zend_fiber_globals, fiber_globals)
PHP_INI_END()

/* Ends the answer; the script goes on. True once. */
static PHP_FUNCTION(fastcgi_finish_request)
{
    ZEND_PARSE_PARAMETERS_NONE();
    struct request *request = sapi_request();
    if (!request || request->ended)
        RETURN_FALSE;
    php_output_end_all();
    php_header();
    request->transport->finish(request);
    RETURN_TRUE;
}

/* The request's headers, as they come out of HTTP_... parameters. */
static PHP_FUNCTION(apache_request_headers)
{
    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    const struct request *request = sapi_request();
    for (unsigned i = request ? request->params.count : 0; i-- > 0;) {
        const struct param *item = &request->params.items[i];
        if (item->value)
            sapi_add_request_header(item->name, item->name_len, item->value, item->value_len, return_value);
    }
}

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_finish, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_headers, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

/* clang-format off */
static const zend_function_entry functions[] = {
    PHP_FE(fastcgi_finish_request, arginfo_finish)
    PHP_FE(apache_request_headers, arginfo_headers)
    PHP_FALIAS(getallheaders, apache_request_headers, arginfo_headers)
    PHP_FE_END
};
/* clang-format on */

static void init_globals(void *memory)
{
    *(zend_fiber_globals *)memory = (zend_fiber_globals){.fix_pathinfo = true, .logging = true};
}

static PHP_MINIT_FUNCTION(fiber)
{
    REGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(fiber)
{
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(fiber)
{
    php_info_print_table_start();
    php_info_print_table_row(2, "fiber-fpm", "active");
    php_info_print_table_end();
    DISPLAY_INI_ENTRIES();
}

zend_module_entry fiber_module = {
    STANDARD_MODULE_HEADER,
    "cgi-fcgi",
    functions,
    PHP_MINIT(fiber),
    PHP_MSHUTDOWN(fiber),
    NULL,
    NULL,
    PHP_MINFO(fiber),
    PHP_VERSION,
    PHP_MODULE_GLOBALS(fiber),
    init_globals,
    NULL,
    NULL,
    STANDARD_MODULE_PROPERTIES_EX,
};
