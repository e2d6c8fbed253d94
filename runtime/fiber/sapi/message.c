/* Messages: PHP's own (error_log() and what log_errors logs) and the SAPI's. */
#include "runtime/fiber/sapi/internal.h"

#include <string.h>

/* php-fpm's log_limit, of a whole line with its level: what is longer ends in "...". */
enum { LINE_BYTES_MAX = 1023 };

static int cut(char *line, int length, const char *level)
{
    int room = LINE_BYTES_MAX - (int)strlen(level ? level : "NOTICE") - (int)strlen(": ");
    if (length <= room)
        return length;
    memcpy(line + room - 3, "...", 4);
    return room;
}

void sapi_client_is_gone(const struct request *request)
{
    if (!request->timed_out)
        php_handle_aborted_connection();
}

void sapi_say(struct request *request, const char *level, const char *prefix, const char *text)
{
    char *line;
    int length = asprintf(&line, "%s%s", prefix, text);
    if (length < 0)
        return;
    length = cut(line, length, level);
    if (level)
        request->transport->log(request, level, line);
    if (FIBER_G(logging) && length > 0) {
        if (request->logged_stderr)
            request->transport->write(request, REQUEST_STDERR, "; ", 2);
        request->logged_stderr = true;
        bool heard = request->transport->write(request, REQUEST_STDERR, line, (size_t)length);
        free(line);
        if (!heard)
            sapi_client_is_gone(request);
        return;
    }
    free(line);
}
