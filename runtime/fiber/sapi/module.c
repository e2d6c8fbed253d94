/* The table through which PHP calls us. All of it runs for the request whose image is loaded:
 * SG(server_context). */
#include "runtime/fiber/sapi/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int start_module(sapi_module_struct *module)
{
    int result = php_module_startup(module, &fiber_module);
    if (result == SUCCESS)
        sapi_hook_variables();
    return result;
}

static size_t write_output(const char *bytes, size_t count)
{
    struct request *request = sapi_request();
    if (!request || request->transport->write(request, REQUEST_STDOUT, bytes, count))
        return count;
    sapi_client_is_gone(request);
    return 0;
}

static void flush_output(void *server_context)
{
    struct request *request = server_context;
    if (!request)
        return;
    if (!request->transport->flush(request))
        sapi_client_is_gone(request);
}

static int end_answer(void)
{
    struct request *request = sapi_request();
    if (request && SG(sapi_started) && !request->transport->finish(request))
        sapi_client_is_gone(request);
    return SUCCESS;
}

/* The web server may have put the body into a file and say so (nginx: fastcgi_pass_request_body off). */
static bool open_body_file(struct request *request)
{
    const char *name = params_get(&request->params, "REQUEST_BODY_FILE");
    if (!name || !*name || request->body_file)
        return true;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        php_error(E_WARNING, "REQUEST_BODY_FILE: open('%s') failed: %s (%d)", name, strerror(errno), errno);
        return false;
    }
    request->body_file = fd + 1;
    return true;
}

static size_t read_body(char *bytes, size_t count)
{
    struct request *request = sapi_request();
    if (!request || !open_body_file(request))
        return 0;
    int64_t left = SG(request_info).content_length - SG(read_post_bytes);
    if (left < (int64_t)count)
        count = left > 0 ? (size_t)left : 0;
    size_t have = 0;
    while (have < count) {
        ssize_t got = request->body_file
                          ? read(request->body_file - 1, bytes + have, count - have)
                          : (ssize_t)request->transport->read_body(request, bytes + have, count - have);
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    return have;
}

static char *read_cookies(void)
{
    struct request *request = sapi_request();
    return request ? params_get(&request->params, "HTTP_COOKIE") : NULL;
}

static char *find_variable(const char *name, size_t length)
{
    struct request *request = sapi_request();
    return request ? params_find(&request->params, name, length) : getenv(name);
}

static void log_message(const char *message, int syslog_type)
{
    (void)syslog_type;
    struct request *request = sapi_request();
    if (request)
        sapi_say(request, "NOTICE", "PHP message: ", message);
    else
        fprintf(stderr, "NOTICE: PHP message: %s\n", message);
}

bool sapi_exposes_php(void)
{
    return PG(expose_php);
}

sapi_module_struct fiber_sapi_module = {
    .name = "fpm-fcgi",
    .pretty_name = "FPM/FastCGI",
    .startup = start_module,
    .shutdown = php_module_shutdown_wrapper,
    .activate = sapi_activate_user_ini,
    .deactivate = end_answer,
    .ub_write = write_output,
    .flush = flush_output,
    .getenv = find_variable,
    .sapi_error = php_error,
    .send_headers = sapi_put_headers,
    .read_post = read_body,
    .read_cookies = read_cookies,
    .register_server_variables = sapi_register_variables,
    .log_message = log_message,
    .php_ini_ignore_cwd = 1,
};
