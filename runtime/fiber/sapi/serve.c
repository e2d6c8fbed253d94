/* The life of one request, in the order of php-fpm's main. Each step has its own net (zend_first_try): a
 * fatal error in one of them ends that step, and the next ones are still made, so that everything the request
 * holds is given back. */
#include "runtime/defect.h"
#include "runtime/fiber/planted.h"
#include "runtime/fiber/sapi/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1. What is known before PHP's own request starts. */
static void read_parameters(struct request *request)
{
    struct params *params = &request->params;
    sapi_request_info *info = &SG(request_info);
    memset(info, 0, sizeof *info);
    info->request_method = params_get(params, "REQUEST_METHOD");
    info->proto_num = 1000;
    SG(sapi_headers).http_response_code = 200;

    if (params_get(params, "SCRIPT_FILENAME") || params_get(params, "PATH_TRANSLATED")) {
        const char *length = params_get(params, "CONTENT_LENGTH"), *type = params_get(params, "CONTENT_TYPE");
        sapi_find_script(request);
        info->query_string = params_get(params, "QUERY_STRING");
        info->content_type = type ? type : "";
        info->content_length = length ? atol(length) : 0;
        php_handle_auth_data(params_get(params, "HTTP_AUTHORIZATION"));
    }
    sapi_apply_request_values(request);
}

/* Copies what the status page and the access log tell, as others read it while this image is not loaded. */
static void note_facts(struct request *request)
{
    const sapi_request_info *info = &SG(request_info);
    request->method = info->request_method;
    request->uri = info->request_uri;
    request->query = info->query_string;
    request->content_length = info->content_length;
    request->script = info->path_translated ? params_get(&request->params, "SCRIPT_FILENAME") : NULL;
    if (info->auth_user) {
        snprintf(request->user_copy, sizeof request->user_copy, "%s", info->auth_user);
        request->user = request->user_copy;
    }
}

static void answer(int status, const char *text)
{
    if (DEFECT(N7))
        status = 200;
    SG(sapi_headers).http_response_code = status;
    PUTS(text);
}

static void answer_unopened(struct request *request, const char *script)
{
    int reason = errno;
    char text[600];
    snprintf(text, sizeof text, "Unable to open primary script: %s (%s)", script, strerror(reason));
    sapi_say(request, "ERROR", "", text);
    if (reason == EACCES)
        answer(403, "Access denied.\n");
    else
        answer(404, "No input file specified.\n");
}

static void answer_denied(struct request *request, const char *script)
{
    char text[600];
    snprintf(text, sizeof text, "Access to the script '%s' has been denied (see security.limit_extensions)",
             script);
    sapi_say(request, "NOTICE", "", text);
    answer(403, "Access denied.\n");
}

/* 3. Runs the script, or says why not. `file` is opened when this returns true, or has left by a fatal error
 * with *opened set. */
static void run_script(struct request *request, zend_file_handle *file, volatile bool *opened)
{
    const char *script = SG(request_info).path_translated;
    if (!SG(request_info).request_method)
        return; /* not HTTP: an empty answer */
    if (!script) {
        sapi_say(request, NULL, "", "Primary script unknown");
        answer(404, "File not found.\n");
        return;
    }
    if (sapi_extension_denied(request, script)) {
        answer_denied(request, script);
        return;
    }
    const char *named = request->script ? request->script : ""; /* PHP drops its own when it cannot open it */
    if (php_fopen_primary_script(file) == FAILURE) {
        answer_unopened(request, named);
        return;
    }
    *opened = true;
    request->stage = REQUEST_RUNNING;
    EG(exit_status) = 0;
    PLANTED(planted_run_before(named));
    php_execute_script(file);
}

static void add_error_header(void)
{
    const char *line = FIBER_G(error_header);
    if (EG(exit_status) != 255 || !line || !*line || SG(headers_sent))
        return;
    sapi_header_line header = {.line = line, .line_len = strlen(line)};
    sapi_header_op(SAPI_HEADER_REPLACE, &header);
}

static void end_script(struct request *request)
{
    add_error_header();
    request->stage = REQUEST_ENDING;
    request->status = SG(sapi_headers).http_response_code;
    request->memory_peak_bytes = zend_memory_peak_usage(true);
    request->transport->served(request);
}

static void close_body_file(struct request *request)
{
    if (request->body_file)
        close(request->body_file - 1);
    request->body_file = 0;
}

static void drop_path(void)
{
    char *path = SG(request_info).path_translated;
    SG(request_info).path_translated = NULL;
    if (path)
        efree(path);
}

void request_serve(struct request *request)
{
    zend_file_handle file;
    volatile bool opened = false;
    EG(bailout) = NULL;
    errno = 0;
    SG(server_context) = request;
    request->stage = REQUEST_GETTING_INFO;

    zend_first_try
    {
        read_parameters(request);
        note_facts(request);
        if (php_request_startup() == SUCCESS) {
            note_facts(request);
            PLANTED(planted_request_begins());
            run_script(request, &file, &opened);
        }
    }
    zend_end_try();
    zend_first_try
    {
        if (opened && !file.in_list)
            zend_destroy_file_handle(&file);
    }
    zend_end_try();
    zend_first_try
    {
        close_body_file(request);
        end_script(request);
        drop_path();
    }
    zend_end_try();
    zend_first_try
    {
        PLANTED(planted_request_ends());
        php_request_shutdown(NULL);
    }
    zend_end_try();
    request->stage = REQUEST_FINISHING;
    request->transport->finish(request); /* whatever became of the steps before */
    SG(server_context) = NULL;
}
