/* What the files of sapi/ say to each other. */
#ifndef ORDEAL_FIBER_SAPI_INTERNAL_H
#define ORDEAL_FIBER_SAPI_INTERNAL_H

#include "runtime/fiber/sapi/sapi.h"

/* The settings that php-fpm has for its own part: part of each request's image, as every module's globals
 * are. */
ZEND_BEGIN_MODULE_GLOBALS(fiber)
bool rfc2616_headers;
bool nph;
bool fix_pathinfo;
bool discard_path;
bool logging;
char *error_header;
ZEND_END_MODULE_GLOBALS(fiber)

extern zend_fiber_globals fiber_globals;
extern zend_module_entry fiber_module; /* fastcgi_finish_request() and such: functions.c */

#define FIBER_G(name) (fiber_globals.name)

/* The request whose image is loaded; NULL outside of requests. */
static inline struct request *sapi_request(void)
{
    return SG(server_context);
}

/* Finds the script, and corrects SCRIPT_NAME, PATH_INFO and the rest; fills SG(request_info). */
void sapi_find_script(struct request *request);
bool sapi_extension_denied(const struct request *request, const char *path);

/* PHP_VALUE and PHP_ADMIN_VALUE, for this request only. */
void sapi_apply_request_values(struct request *request);

/* .user.ini files and the [HOST=...] and [PATH=...] sections of php.ini. */
int sapi_activate_user_ini(void);

void sapi_hook_variables(void); /* makes $_SERVER and $_ENV ours */
void sapi_register_variables(zval *array);
int sapi_put_headers(sapi_headers_struct *headers);

/* Output could not be delivered: the script ends, unless it wants to go on, or is being ended anyway. */
void sapi_client_is_gone(const struct request *request);

/* A message to the client's stderr stream, and to the pool's log when `level` is given. */
void sapi_say(struct request *request, const char *level, const char *prefix, const char *text);

#endif
