#include "runtime/fiber/fcgi/names.h"
#include "runtime/fiber/fcgi/pair.h"
#include "runtime/fiber/fcgi/record.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct fcgi_limits fcgi_limits_default = {
    .params_bytes = 1 << 20,
    .params_count = 4096,
    .name_bytes = 65536,
    .input_bytes = UINT64_MAX,
};

void fcgi_reader_init(struct fcgi_reader *reader, const struct fcgi_limits *limits, void *context)
{
    *reader = (struct fcgi_reader){.limits = *limits, .context = context};
    fcgi_pair_init(&reader->param, limits->params_bytes);
    fcgi_pair_init(&reader->value, limits->params_bytes);
}

void fcgi_reader_free(struct fcgi_reader *reader)
{
    fcgi_pair_free(&reader->param);
    fcgi_pair_free(&reader->value);
    reader->failed = true;
}

void fcgi_reader_pause(struct fcgi_reader *reader)
{
    reader->paused = true;
}

void fcgi_reader_request_ended(struct fcgi_reader *reader)
{
    assert(reader->request.open);
    reader->request.open = false;
    if (reader->content == FCGI_CONTENT_PARAMS || reader->content == FCGI_CONTENT_INPUT)
        reader->content = FCGI_CONTENT_IGNORED;
}

bool fcgi_reader_is_idle(const struct fcgi_reader *reader)
{
    return !reader->request.open && reader->head_have == 0 && !reader->failed;
}

void fcgi_fail(struct fcgi_reader *reader, const struct fcgi_handler *handler, uint64_t offset,
               const char *format, ...)
{
    char *text = reader->reason;
    int start = snprintf(text, FCGI_REASON_BYTES, "byte %" PRIu64 ", type %u (%s), id %u: ", offset,
                         (unsigned)record_type(reader), fcgi_type_name(record_type(reader)),
                         (unsigned)record_id(reader));
    assert(start > 0 && start < FCGI_REASON_BYTES / 2);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + start, FCGI_REASON_BYTES - (size_t)start, format, arguments);
    va_end(arguments);
    reader->failed = true;
    handler->error(reader->context, text);
}

/* A step takes at least one byte and makes one call at most: so the reader can be paused between any two
 * calls, and bytes cut in another way make the same calls. */

static size_t take_head(struct fcgi_reader *reader, const unsigned char *bytes, size_t count,
                        const struct fcgi_handler *handler)
{
    if (reader->head_have == 0)
        reader->record_at = reader->offset;
    size_t missing = (size_t)(FCGI_HEAD_BYTES - reader->head_have);
    size_t taken = count < missing ? count : missing;
    memcpy(reader->head + reader->head_have, bytes, taken);
    reader->head_have = (uint8_t)(reader->head_have + taken);
    if (taken < missing)
        return taken;
    fcgi_open_record(reader, handler);
    if (reader->content_left == 0 && !reader->failed)
        fcgi_content_rules[reader->content].finish(reader, handler);
    return taken;
}

static size_t take_content(struct fcgi_reader *reader, const unsigned char *bytes, size_t count,
                           const struct fcgi_handler *handler)
{
    size_t offered = count < reader->content_left ? count : reader->content_left;
    size_t taken = fcgi_content_rules[reader->content].take(reader, bytes, offered, handler);
    assert(taken <= offered);
    reader->content_left = (uint16_t)(reader->content_left - taken);
    if (reader->content_left == 0 && !reader->failed)
        fcgi_content_rules[reader->content].finish(reader, handler);
    return taken;
}

static size_t take_padding(struct fcgi_reader *reader, size_t count)
{
    size_t taken = count < reader->padding_left ? count : reader->padding_left;
    reader->padding_left = (uint8_t)(reader->padding_left - taken);
    return taken;
}

static size_t step(struct fcgi_reader *reader, const unsigned char *bytes, size_t count,
                   const struct fcgi_handler *handler)
{
    if (reader->head_have < FCGI_HEAD_BYTES)
        return take_head(reader, bytes, count, handler);
    if (reader->content_left > 0)
        return take_content(reader, bytes, count, handler);
    return take_padding(reader, count);
}

size_t fcgi_reader_feed(struct fcgi_reader *reader, const void *bytes, size_t count,
                        const struct fcgi_handler *handler)
{
    const unsigned char *at = bytes;
    size_t done = 0;
    reader->paused = false;
    while (done < count && !reader->failed && !reader->paused) {
        size_t taken = step(reader, at + done, count - done, handler);
        done += taken;
        reader->offset += taken;
        if (reader->head_have == FCGI_HEAD_BYTES && reader->content_left == 0 && reader->padding_left == 0)
            reader->head_have = 0;
    }
    return done;
}
