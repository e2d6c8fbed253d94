#include "runtime/fiber/fcgi/names.h"
#include "runtime/fiber/fcgi/pair.h"
#include "runtime/fiber/fcgi/record.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Where the fields of BEGIN_REQUEST's content are. */
enum { BEGIN_ROLE = 0, BEGIN_FLAGS = 2 };

static size_t take_ignored(struct fcgi_reader *reader, const unsigned char *bytes, size_t count,
                           const struct fcgi_handler *handler)
{
    (void)reader, (void)bytes, (void)handler;
    return count;
}

static void finish_ignored(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    (void)reader, (void)handler;
}

static size_t take_begin(struct fcgi_reader *reader, const unsigned char *bytes, size_t count,
                         const struct fcgi_handler *handler)
{
    (void)handler;
    assert(reader->begin_have + count <= FCGI_BEGIN_BYTES);
    memcpy(reader->begin + reader->begin_have, bytes, count);
    reader->begin_have = (uint8_t)(reader->begin_have + count);
    return count;
}

static void finish_begin(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    uint16_t id = record_id(reader);
    bool keep = (reader->begin[BEGIN_FLAGS] & FCGI_KEEP_CONN) != 0;
    if (reader->request.open) {
        handler->reject(reader->context, id, FCGI_CANT_MPX_CONN, keep);
    } else if (fcgi_number_at(reader->begin + BEGIN_ROLE) != FCGI_RESPONDER) {
        handler->reject(reader->context, id, FCGI_UNKNOWN_ROLE, keep);
    } else {
        fcgi_pair_next(&reader->param); /* the request before may have ended inside one */
        memset(&reader->request, 0, sizeof reader->request);
        reader->request.id = id;
        reader->request.open = true;
        handler->begin(reader->context, id, FCGI_RESPONDER, keep);
    }
}

/* The lengths of a pair have just come whole. */
static bool lengths_are_right(struct fcgi_reader *reader, const struct fcgi_pair *pair,
                              const struct fcgi_handler *handler)
{
    const struct fcgi_limits *limits = &reader->limits;
    uint64_t bytes = (uint64_t)pair->name_bytes + pair->value_bytes;
    if (pair->name_bytes > limits->name_bytes)
        fcgi_fail(reader, handler, pair->offset, "a name of %" PRIu32 " bytes, expected at most %" PRIu32,
                  pair->name_bytes, limits->name_bytes);
    else if (bytes > limits->params_bytes)
        fcgi_fail(reader, handler, pair->offset,
                  "a name and value of %" PRIu64 " bytes, expected at most %" PRIu32, bytes,
                  limits->params_bytes);
    return !reader->failed;
}

/* Goes on with a pair. True: it is whole, and in `text`. */
static bool take_pair(struct fcgi_reader *reader, struct fcgi_pair *pair, const unsigned char *bytes,
                      size_t count, const struct fcgi_handler *handler, struct fcgi_pair_text *text)
{
    size_t taken = 0;
    text->taken = 0;
    if (!pair->lengths_known) {
        if (fcgi_pair_is_none(pair))
            pair->offset = reader->offset;
        text->taken = taken = fcgi_pair_take_lengths(pair, bytes, count);
        if (!pair->lengths_known || !lengths_are_right(reader, pair, handler))
            return false;
    }
    enum fcgi_pair_result result = fcgi_pair_take_text(pair, bytes + taken, count - taken, text);
    text->taken += taken;
    if (result == PAIR_NO_MEMORY)
        fcgi_fail(reader, handler, pair->offset,
                  "no memory for a name and value of %" PRIu32 " + %" PRIu32 " bytes", pair->name_bytes,
                  pair->value_bytes);
    return result == PAIR_WHOLE;
}

static size_t take_params(struct fcgi_reader *reader, const unsigned char *bytes, size_t count,
                          const struct fcgi_handler *handler)
{
    struct fcgi_pair_text text;
    struct fcgi_pair *pair = &reader->param;
    if (fcgi_pair_is_none(pair) && ++reader->request.params_count > reader->limits.params_count) {
        fcgi_fail(reader, handler, reader->offset, "one more parameter, expected at most %" PRIu32,
                  reader->limits.params_count);
        return 0;
    }
    if (!take_pair(reader, pair, bytes, count, handler, &text))
        return text.taken;
    handler->param(reader->context, reader->request.id, text.name, pair->name_bytes, text.value,
                   pair->value_bytes);
    fcgi_pair_next(pair);
    return text.taken;
}

static void finish_params(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    if (record_length(reader) > 0)
        return;
    if (!fcgi_pair_is_none(&reader->param)) {
        fcgi_fail(reader, handler, reader->record_at,
                  "the parameters end inside the one that began at byte %" PRIu64, reader->param.offset);
        return;
    }
    reader->request.params_ended = true;
    handler->params_end(reader->context, reader->request.id);
}

static size_t take_input(struct fcgi_reader *reader, const unsigned char *bytes, size_t count,
                         const struct fcgi_handler *handler)
{
    handler->input(reader->context, reader->request.id, bytes, count);
    return count;
}

static void finish_input(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    if (record_length(reader) > 0)
        return;
    reader->request.input_ended = true;
    handler->input_end(reader->context, reader->request.id);
}

static size_t take_values(struct fcgi_reader *reader, const unsigned char *bytes, size_t count,
                          const struct fcgi_handler *handler)
{
    struct fcgi_pair_text text;
    struct fcgi_pair *pair = &reader->value;
    if (!take_pair(reader, pair, bytes, count, handler, &text))
        return text.taken;
    if (pair->value_bytes > 0)
        fcgi_fail(reader, handler, pair->offset, "a value of %" PRIu32 " bytes, expected an empty one",
                  pair->value_bytes);
    reader->asked |= fcgi_value_named(text.name, pair->name_bytes);
    fcgi_pair_next(pair);
    return text.taken;
}

static void finish_values(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    if (fcgi_pair_is_none(&reader->value))
        handler->get_values(reader->context, reader->asked);
    else
        fcgi_fail(reader, handler, reader->value.offset, "a name runs over the end of its record");
}

const struct fcgi_content_rule fcgi_content_rules[] = {
    [FCGI_CONTENT_IGNORED] = {take_ignored, finish_ignored},
    [FCGI_CONTENT_BEGIN] = {take_begin, finish_begin},
    [FCGI_CONTENT_PARAMS] = {take_params, finish_params},
    [FCGI_CONTENT_INPUT] = {take_input, finish_input},
    [FCGI_CONTENT_VALUES] = {take_values, finish_values},
};
