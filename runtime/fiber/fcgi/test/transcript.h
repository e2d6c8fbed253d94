/* What a reader told its handler, as text: how the tests look at it.
 *
 *     begin 1 keep|param 1 A=b|params_end 1|input 1 hello|input_end 1|ended 1|
 *
 * Consecutive pieces of input are written as one: how the body was cut is not part of it. `ends` says when
 * the handler, like a server, ends the request; `pauses` lets it stop the reader at every call. */
#ifndef ORDEAL_FIBER_FCGI_TEST_TRANSCRIPT_H
#define ORDEAL_FIBER_FCGI_TEST_TRANSCRIPT_H

#include "runtime/fiber/fcgi/fcgi.h"
#include "runtime/fiber/fcgi/test/text.h"

#include <stdio.h>

enum ends { ENDS_NEVER, ENDS_AT_BEGIN, ENDS_AT_PARAM, ENDS_AT_PARAMS_END, ENDS_AT_INPUT_END, ENDS_COUNT };

struct transcript {
    struct fcgi_reader reader;
    struct text text;
    enum ends ends;
    bool pauses;
    bool slow_abort; /* an aborted request is not ended at once */
    bool in_input;
    bool wrote_error;
    uint64_t calls;
};

static inline void transcript_line(struct transcript *to, const char *what)
{
    if (to->in_input)
        text_add_string(&to->text, "|");
    to->in_input = false;
    text_add_string(&to->text, what);
    to->calls++;
    if (to->pauses)
        fcgi_reader_pause(&to->reader);
}

static inline void transcript_id(struct transcript *to, const char *what, unsigned id, const char *rest)
{
    char line[64];
    snprintf(line, sizeof line, "%s %u%s", what, id, rest);
    transcript_line(to, line);
}

static inline void transcript_end(struct transcript *to, enum ends when, unsigned id)
{
    if (to->ends != when || !to->reader.request.open)
        return;
    transcript_id(to, "ended", id, "|");
    fcgi_reader_request_ended(&to->reader);
}

static inline void transcript_begin(void *context, uint16_t id, enum fcgi_role role, bool keep)
{
    (void)role; /* only a responder gets here */
    transcript_id(context, "begin", id, keep ? " keep|" : "|");
    transcript_end(context, ENDS_AT_BEGIN, id);
}

static inline void transcript_param(void *context, uint16_t id, const char *name, size_t name_bytes,
                                    const char *value, size_t value_bytes)
{
    struct transcript *to = context;
    transcript_end(to, ENDS_AT_PARAM, id);
    transcript_id(to, "param", id, " ");
    text_add(&to->text, name, name_bytes);
    text_add_string(&to->text, "=");
    text_add(&to->text, value, value_bytes);
    text_add_string(&to->text, "|");
}

static inline void transcript_params_end(void *context, uint16_t id)
{
    transcript_id(context, "params_end", id, "|");
    transcript_end(context, ENDS_AT_PARAMS_END, id);
}

static inline void transcript_input(void *context, uint16_t id, const unsigned char *bytes, size_t count)
{
    struct transcript *to = context;
    if (!to->in_input)
        transcript_id(to, "input", id, " ");
    else if (to->pauses)
        fcgi_reader_pause(&to->reader);
    to->in_input = true;
    text_add(&to->text, bytes, count);
}

static inline void transcript_input_end(void *context, uint16_t id)
{
    transcript_id(context, "input_end", id, "|");
    transcript_end(context, ENDS_AT_INPUT_END, id);
}

static inline void transcript_abort(void *context, uint16_t id)
{
    struct transcript *to = context;
    transcript_id(to, "abort", id, "|");
    if (!to->slow_abort)
        transcript_end(to, to->ends, id);
}

static inline void transcript_reject(void *context, uint16_t id, enum fcgi_protocol_status status, bool keep)
{
    char rest[32];
    snprintf(rest, sizeof rest, " status %u%s|", (unsigned)status, keep ? " keep" : "");
    transcript_id(context, "reject", id, rest);
}

static inline void transcript_get_values(void *context, unsigned asked)
{
    transcript_id(context, "get_values", asked, "|");
}

static inline void transcript_unknown_type(void *context, uint8_t type)
{
    transcript_id(context, "unknown_type", type, "|");
}

static inline void transcript_error(void *context, const char *reason)
{
    struct transcript *to = context;
    transcript_line(to, to->wrote_error ? "A SECOND ERROR " : "error ");
    text_add_string(&to->text, reason);
    text_add_string(&to->text, "|");
    to->wrote_error = true;
}

static const struct fcgi_handler transcript_handler = {
    .begin = transcript_begin,
    .param = transcript_param,
    .params_end = transcript_params_end,
    .input = transcript_input,
    .input_end = transcript_input_end,
    .abort = transcript_abort,
    .reject = transcript_reject,
    .get_values = transcript_get_values,
    .unknown_type = transcript_unknown_type,
    .error = transcript_error,
};

static inline void transcript_start(struct transcript *to, const struct fcgi_limits *limits, enum ends ends)
{
    *to = (struct transcript){.ends = ends};
    fcgi_reader_init(&to->reader, limits, to);
}

static inline void transcript_free(struct transcript *to)
{
    fcgi_reader_free(&to->reader);
    text_free(&to->text);
}

/* Feeds a copy of exactly these bytes, so that a sanitizer sees a read beyond them; again what a pause left.
 */
static inline void transcript_feed(struct transcript *to, const void *bytes, size_t count)
{
    unsigned char *copy = text_allocate(NULL, count);
    memcpy(copy, bytes, count);
    for (size_t done = 0; done < count && !to->reader.failed;)
        done += fcgi_reader_feed(&to->reader, copy + done, count - done, &transcript_handler);
    free(copy);
}

#endif
