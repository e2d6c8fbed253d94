#include "runtime/fiber/fcgi/frames.h"
#include "runtime/fiber/fcgi/head.h"

#include <assert.h>

static void add_part(struct fcgi_frames *frames, const void *bytes, size_t count)
{
    assert(frames->count < FCGI_FRAMES_PARTS_MAX);
    frames->parts[frames->count++] = (struct iovec){.iov_base = (void *)bytes, .iov_len = count};
}

size_t fcgi_frames_set(struct fcgi_frames *frames, enum fcgi_type type, uint16_t id, const void *bytes,
                       size_t count)
{
    static const unsigned char padding[8];
    const unsigned char *from = bytes;
    size_t covered = 0;
    frames->first = frames->count = 0;
    for (int i = 0; i < FCGI_FRAMES_RECORDS_MAX && covered < count; i++) {
        size_t left = count - covered;
        size_t content = left < FCGI_STREAM_BYTES_MAX ? left : FCGI_STREAM_BYTES_MAX;
        fcgi_write_head(frames->heads[i], (uint8_t)type, id, content);
        add_part(frames, frames->heads[i], FCGI_HEAD_BYTES);
        add_part(frames, from + covered, content);
        covered += content;
        if (fcgi_padding(content) > 0) /* only the last one: a full record needs none */
            add_part(frames, padding, fcgi_padding(content));
    }
    return covered;
}

void fcgi_frames_drop(struct fcgi_frames *frames, size_t sent)
{
    while (sent > 0) {
        assert(frames->first < frames->count);
        struct iovec *part = &frames->parts[frames->first];
        size_t taken = sent < part->iov_len ? sent : part->iov_len;
        part->iov_base = (unsigned char *)part->iov_base + taken;
        part->iov_len -= taken;
        sent -= taken;
        if (part->iov_len == 0)
            frames->first++;
    }
}
