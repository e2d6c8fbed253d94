/* A small decoder of what a server sends, written from the specification and not from the encoders. */
#ifndef ORDEAL_FIBER_FCGI_TEST_DECODER_H
#define ORDEAL_FIBER_FCGI_TEST_DECODER_H

#include <stdbool.h>
#include <stddef.h>

struct decoded {
    unsigned type, id;
    const unsigned char *content;
    size_t count, padding;
};

/* The first record of the bytes; false if they do not begin with a whole one of version 1. */
static inline bool decode_record(const unsigned char *bytes, size_t count, struct decoded *record)
{
    if (count < 8 || bytes[0] != 1)
        return false;
    record->type = bytes[1];
    record->id = bytes[2] * 256u + bytes[3];
    record->count = bytes[4] * 256u + bytes[5];
    record->padding = bytes[6];
    record->content = bytes + 8;
    return 8 + record->count + record->padding <= count;
}

static inline size_t decoded_bytes(const struct decoded *record)
{
    return 8 + record->count + record->padding;
}

#endif
