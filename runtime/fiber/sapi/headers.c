/* The head of an answer as CGI has it: a Status line unless it is 200, the headers, an empty line. */
#include "runtime/fiber/sapi/internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { STATUS_LINE_BYTES = 1024 };

static bool is_named(const sapi_header_struct *header, const char *name_and_colon)
{
    size_t length = strlen(name_and_colon);
    return header->header_len > length && !strncasecmp(header->header, name_and_colon, length);
}

static sapi_header_struct *first(sapi_headers_struct *headers, zend_llist_position *at)
{
    return zend_llist_get_first_ex(&headers->headers, at);
}

static sapi_header_struct *next(sapi_headers_struct *headers, zend_llist_position *at)
{
    return zend_llist_get_next_ex(&headers->headers, at);
}

static bool script_set_status(sapi_headers_struct *headers)
{
    zend_llist_position at;
    for (sapi_header_struct *header = first(headers, &at); header; header = next(headers, &at))
        if (is_named(header, "Status:"))
            return true;
    return false;
}

static const char *reason_of(int code)
{
    const http_response_status_code_pair *pair = http_status_map;
    while (pair->code && pair->code != code)
        pair++;
    return pair->str;
}

static void put_line(const char *text, size_t length)
{
    struct request *request = sapi_request();
    request->transport->write(request, REQUEST_STDOUT, text, length);
    request->transport->write(request, REQUEST_STDOUT, "\r\n", 2);
}

/* header("HTTP/1.1 404 Nothing here") -> "Status: 404 Nothing here". Returns the code; `line` is "" if there
 * is none. */
static int make_status(sapi_headers_struct *headers, char line[STATUS_LINE_BYTES])
{
    int code = SG(sapi_headers).http_response_code;
    const char *given = SG(sapi_headers).http_status_line, *space = given ? strchr(given, ' ') : NULL;
    line[0] = '\0';
    if (FIBER_G(rfc2616_headers) && given) {
        snprintf(line, STATUS_LINE_BYTES, "%s", given);
        return space ? atoi(space + 1) : code;
    }
    if (space && space - given >= 5 && !strncasecmp(given, "HTTP/", 5)) {
        snprintf(line, STATUS_LINE_BYTES, "Status:%s", space);
        return atoi(space + 1);
    }
    if (!script_set_status(headers)) {
        const char *reason = reason_of(code);
        snprintf(line, STATUS_LINE_BYTES, reason ? "Status: %d %s" : "Status: %d", code, reason);
    }
    return code;
}

int sapi_put_headers(sapi_headers_struct *headers)
{
    if (!sapi_request() || SG(request_info).no_headers)
        return SAPI_HEADER_SENT_SUCCESSFULLY;
    char line[STATUS_LINE_BYTES] = "";
    int code = SG(sapi_headers).http_response_code;
    if (FIBER_G(nph) || code != 200)
        code = make_status(headers, line);
    bool status_put = line[0] != '\0';
    if (status_put)
        put_line(line, strlen(line));

    zend_llist_position at;
    for (sapi_header_struct *header = first(headers, &at); header; header = next(headers, &at)) {
        bool is_status = is_named(header, "Status:");
        if (!header->header_len || (is_status && status_put) ||
            (code == 304 && is_named(header, "Content-Type:")))
            continue;
        status_put |= is_status;
        put_line(header->header, header->header_len);
    }
    struct request *request = sapi_request();
    request->transport->write(request, REQUEST_STDOUT, "\r\n", 2);
    return SAPI_HEADER_SENT_SUCCESSFULLY;
}

const char *sapi_answer_header(const char *name)
{
    size_t length = strlen(name);
    zend_llist_position at;
    for (sapi_header_struct *header = first(&SG(sapi_headers), &at); header;
         header = next(&SG(sapi_headers), &at))
        if (header->header_len > length + 2 && !strncasecmp(header->header, name, length) &&
            header->header[length] == ':' && header->header[length + 1] == ' ')
            return header->header + length + 2;
    return NULL;
}
