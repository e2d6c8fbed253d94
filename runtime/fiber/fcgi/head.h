/* Writes the head of a record of ours, and tells the padding it announces. */
#ifndef ORDEAL_FIBER_FCGI_HEAD_H
#define ORDEAL_FIBER_FCGI_HEAD_H

#include "runtime/fiber/fcgi/fcgi.h"

/* Content is padded to a multiple of 8, so that every head stays aligned. */
static inline uint8_t fcgi_padding(size_t content_bytes)
{
    return (uint8_t)((8 - content_bytes % 8) % 8);
}

static inline void fcgi_write_head(unsigned char head[FCGI_HEAD_BYTES], uint8_t type, uint16_t id,
                                   size_t content_bytes)
{
    head[0] = FCGI_VERSION;
    head[1] = type;
    head[2] = (unsigned char)(id >> 8);
    head[3] = (unsigned char)id;
    head[4] = (unsigned char)(content_bytes >> 8);
    head[5] = (unsigned char)content_bytes;
    head[6] = fcgi_padding(content_bytes);
    head[7] = 0;
}

#endif
