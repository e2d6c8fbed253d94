/* PHP's SAPI for requests in flight at the same time in one process. The engine starts with
 * `fiber_sapi_module`; for each request the worker acquires a slot and runs request_serve() on its stack:
 *
 *     static void body(void *argument)
 *     {
 *         request_serve(argument);
 *     }
 *     slot_start(slot_acquire(), body, request);
 *
 * It does what php-fpm's main does for a request, in the same order, so that an application cannot tell the
 * difference:
 *
 *     1. names      SCRIPT_FILENAME, PATH_INFO, auth, PHP_VALUE             script.c, values.c
 *     2. startup    php_request_startup(): variables, .user.ini             variables.c, user_ini.c
 *     3. script     404 "File not found.", 403 "Access denied.", or its run serve.c
 *     4. shutdown   shutdown functions, destructors, session, output
 *     5. end        END_REQUEST, unless fastcgi_finish_request() did that
 *
 * The module calls itself "fpm-fcgi", because OPcache caches for the names on a list of its own only, and
 * because applications ask for PHP_SAPI. */
#ifndef ORDEAL_FIBER_SAPI_H
#define ORDEAL_FIBER_SAPI_H

#include "runtime/fiber/php.h"
#include "runtime/fiber/sapi/request.h"

extern sapi_module_struct fiber_sapi_module;

/* Serves one request to its end, whatever its script does. On the stack of the slot that it runs in. */
void request_serve(struct request *request);

/* The settings of a pool (php_value[], php_admin_value[]). Applied to what is loaded now, for good: before
 * the images of requests are made from it. False: no such setting, or a value that it refuses. */
bool sapi_set_value(const char *name, const char *value, bool admin);

/* The time of the request that is loaded is over: it gets an error as its answer if nothing was sent yet, and
 * ends as by exit(): shutdown functions and destructors run. At a point where its script can be interrupted.
 */
void sapi_terminate(const char *message);

/* Where the script of the image that is loaded is: one line a function, the innermost first. Returns bytes.
 */
enum { SAPI_TRACE_BYTES = 16 << 10 };
size_t sapi_trace(char *text, size_t room);

/* What the request of the image that is loaded has allocated. */
size_t sapi_memory_bytes(void);

/* A header of the answer that is being made, for the access log; NULL: not there. In `served` of the
 * transport. */
const char *sapi_answer_header(const char *name);

/* True when answers carry X-Powered-By. Outside of requests. */
bool sapi_exposes_php(void);

#endif
