#include "runtime/fiber/fcgi/fcgi.h"
#include "runtime/fiber/fcgi/head.h"
#include "runtime/fiber/fcgi/names.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { RECORD_BYTES_MAX = FCGI_HEAD_BYTES + FCGI_STREAM_BYTES_MAX };

static size_t record_bytes(size_t content_bytes)
{
    return FCGI_HEAD_BYTES + content_bytes + fcgi_padding(content_bytes);
}

/* Writes one record at `to`; returns where the next one goes. */
static unsigned char *write_record(unsigned char *to, uint8_t type, uint16_t id, const void *content,
                                   size_t count)
{
    fcgi_write_head(to, type, id, count);
    to += FCGI_HEAD_BYTES;
    if (count > 0)
        memcpy(to, content, count);
    to += count;
    memset(to, 0, fcgi_padding(count));
    return to + fcgi_padding(count);
}

static bool put_record(struct fcgi_buffer *out, uint8_t type, uint16_t id, const void *content, size_t count)
{
    assert(count <= FCGI_CONTENT_BYTES_MAX);
    unsigned char *to = fcgi_buffer_extend(out, record_bytes(count));
    if (to == NULL)
        return false;
    write_record(to, type, id, content, count);
    return true;
}

bool fcgi_put_stream(struct fcgi_buffer *out, enum fcgi_type type, uint16_t id, const void *bytes,
                     size_t count)
{
    assert(type == FCGI_STDOUT || type == FCGI_STDERR);
    if (count == 0)
        return true;
    if (count > out->limit)
        return false;
    size_t full = count / FCGI_STREAM_BYTES_MAX, rest = count % FCGI_STREAM_BYTES_MAX;
    unsigned char *to =
        fcgi_buffer_extend(out, full * RECORD_BYTES_MAX + (rest > 0 ? record_bytes(rest) : 0));
    if (to == NULL)
        return false;
    const unsigned char *from = bytes;
    for (size_t left = count; left > 0;) {
        size_t content = left < FCGI_STREAM_BYTES_MAX ? left : FCGI_STREAM_BYTES_MAX;
        to = write_record(to, (uint8_t)type, id, from, content);
        from += content;
        left -= content;
    }
    return true;
}

size_t fcgi_stream_room(const struct fcgi_buffer *out)
{
    size_t room = fcgi_buffer_room(out);
    size_t full = room / RECORD_BYTES_MAX, rest = room % RECORD_BYTES_MAX;
    size_t last = rest > FCGI_HEAD_BYTES ? (rest - FCGI_HEAD_BYTES) / 8 * 8 : 0;
    return full * FCGI_STREAM_BYTES_MAX + last;
}

bool fcgi_put_stream_end(struct fcgi_buffer *out, enum fcgi_type type, uint16_t id)
{
    assert(type == FCGI_STDOUT || type == FCGI_STDERR);
    return put_record(out, (uint8_t)type, id, NULL, 0);
}

bool fcgi_put_end(struct fcgi_buffer *out, uint16_t id, uint32_t app_status,
                  enum fcgi_protocol_status protocol_status)
{
    const unsigned char content[8] = {
        (unsigned char)(app_status >> 24), (unsigned char)(app_status >> 16),
        (unsigned char)(app_status >> 8),  (unsigned char)app_status,
        (unsigned char)protocol_status,
    };
    return put_record(out, FCGI_END_REQUEST, id, content, sizeof content);
}

static uint32_t value_of(enum fcgi_value value, const struct fcgi_values *values)
{
    switch (value) {
    case FCGI_MAX_CONNS:
        return values->max_conns;
    case FCGI_MAX_REQS:
        return values->max_reqs;
    case FCGI_MPXS_CONNS:
        break;
    }
    return 0;
}

bool fcgi_put_values_result(struct fcgi_buffer *out, unsigned asked, const struct fcgi_values *values)
{
    unsigned char content[128]; /* three names of up to 15 bytes, numbers of up to 10, two lengths each */
    size_t count = 0;
    for (const struct fcgi_value_name *row = fcgi_value_names; row->name != NULL; row++) {
        if ((asked & row->value) == 0)
            continue;
        char number[16];
        int digits = snprintf(number, sizeof number, "%u", (unsigned)value_of(row->value, values));
        size_t name_bytes = strlen(row->name), value_bytes = (size_t)digits;
        assert(count + 2 + name_bytes + value_bytes <= sizeof content);
        content[count++] = (unsigned char)name_bytes;
        content[count++] = (unsigned char)value_bytes;
        memcpy(content + count, row->name, name_bytes);
        memcpy(content + count + name_bytes, number, value_bytes);
        count += name_bytes + value_bytes;
    }
    return put_record(out, FCGI_GET_VALUES_RESULT, 0, content, count);
}

bool fcgi_put_unknown_type(struct fcgi_buffer *out, uint8_t type)
{
    const unsigned char content[8] = {type};
    return put_record(out, FCGI_UNKNOWN_TYPE, 0, content, sizeof content);
}
