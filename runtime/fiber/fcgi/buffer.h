/* A growable queue of bytes with a limit: the encoders write at its end, the connection sends from its front.
 *
 *     struct fcgi_buffer out;
 *     fcgi_buffer_init(&out, 1 << 20);                              // never more than 1 MiB
 *     fcgi_put_end(&out, 1, 0, FCGI_REQUEST_COMPLETE);              // 16 bytes at the end
 *     ssize_t sent = send(fd, fcgi_buffer_front(&out), out.count, MSG_DONTWAIT);
 *     if (sent > 0)
 *         fcgi_buffer_drop(&out, (size_t)sent);                     // and away from the front
 *
 * What does not fit is refused and changes nothing: then the one who writes waits until the peer has read
 * (fcgi_buffer_room tells how much would fit). A buffer that was emptied gives back large memory, so a
 * thousand kept connections do not hold a thousand largest answers.
 */
#ifndef ORDEAL_FIBER_FCGI_BUFFER_H
#define ORDEAL_FIBER_FCGI_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

enum {
    FCGI_BUFFER_FIRST_BYTES = 256,     /* the first allocation; then doubled */
    FCGI_BUFFER_KEPT_BYTES_MAX = 65536 /* what an emptied buffer keeps for the next use */
};

struct fcgi_buffer {
    unsigned char *bytes; /* NULL until something is written */
    size_t start;         /* bytes[start .. start + count) is what it holds */
    size_t count;
    size_t capacity;
    size_t limit; /* count never exceeds it, nor does capacity */
};

void fcgi_buffer_init(struct fcgi_buffer *buffer, size_t limit);
void fcgi_buffer_free(struct fcgi_buffer *buffer);

/* Makes it `count` bytes longer; returns where to write these. NULL if they are more than the limit allows or
 * memory is out: then nothing has changed. */
unsigned char *fcgi_buffer_extend(struct fcgi_buffer *buffer, size_t count);

/* The same, with the bytes copied there. */
bool fcgi_buffer_append(struct fcgi_buffer *buffer, const void *bytes, size_t count);

/* Takes `count` bytes, at most all it holds, from the front. */
void fcgi_buffer_drop(struct fcgi_buffer *buffer, size_t count);

static inline const unsigned char *fcgi_buffer_front(const struct fcgi_buffer *buffer)
{
    return buffer->bytes == NULL ? (const unsigned char *)"" : buffer->bytes + buffer->start;
}

/* How many bytes fit yet. */
static inline size_t fcgi_buffer_room(const struct fcgi_buffer *buffer)
{
    return buffer->limit - buffer->count;
}

#endif
