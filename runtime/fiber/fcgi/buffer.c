#include "runtime/fiber/fcgi/buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void fcgi_buffer_init(struct fcgi_buffer *buffer, size_t limit)
{
    *buffer = (struct fcgi_buffer){.limit = limit};
}

void fcgi_buffer_free(struct fcgi_buffer *buffer)
{
    free(buffer->bytes);
    fcgi_buffer_init(buffer, buffer->limit);
}

/* The next capacity that holds `needed` bytes, which are within the limit. */
static size_t grown(const struct fcgi_buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : FCGI_BUFFER_FIRST_BYTES;
    while (capacity < needed)
        capacity = capacity <= buffer->limit / 2 ? capacity * 2 : buffer->limit;
    return capacity < buffer->limit ? capacity : buffer->limit;
}

/* The whole content at the front of an allocation that holds `needed` bytes. */
static bool make_room(struct fcgi_buffer *buffer, size_t needed)
{
    if (needed <= buffer->capacity) {
        memmove(buffer->bytes, buffer->bytes + buffer->start, buffer->count);
        buffer->start = 0;
        return true;
    }
    size_t capacity = grown(buffer, needed);
    unsigned char *bytes = malloc(capacity);
    if (bytes == NULL)
        return false;
    if (buffer->count > 0)
        memcpy(bytes, buffer->bytes + buffer->start, buffer->count);
    free(buffer->bytes);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    buffer->start = 0;
    return true;
}

unsigned char *fcgi_buffer_extend(struct fcgi_buffer *buffer, size_t count)
{
    assert(buffer->count <= buffer->limit);
    if (count == 0 || count > fcgi_buffer_room(buffer))
        return NULL;
    if (buffer->capacity - buffer->start - buffer->count < count && !make_room(buffer, buffer->count + count))
        return NULL;
    unsigned char *end = buffer->bytes + buffer->start + buffer->count;
    buffer->count += count;
    return end;
}

bool fcgi_buffer_append(struct fcgi_buffer *buffer, const void *bytes, size_t count)
{
    if (count == 0)
        return true;
    unsigned char *end = fcgi_buffer_extend(buffer, count);
    if (end == NULL)
        return false;
    memcpy(end, bytes, count);
    return true;
}

void fcgi_buffer_drop(struct fcgi_buffer *buffer, size_t count)
{
    assert(count <= buffer->count);
    buffer->start += count;
    buffer->count -= count;
    if (buffer->count > 0)
        return;
    buffer->start = 0;
    if (buffer->capacity > FCGI_BUFFER_KEPT_BYTES_MAX)
        fcgi_buffer_free(buffer);
}
