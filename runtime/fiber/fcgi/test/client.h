/* Writes what a web server sends, right or wrong: every field of a record can be chosen. */
#ifndef ORDEAL_FIBER_FCGI_TEST_CLIENT_H
#define ORDEAL_FIBER_FCGI_TEST_CLIENT_H

#include "runtime/fiber/fcgi/test/text.h"

#include <stdint.h>

struct client_record {
    unsigned version, type, id, padding;
    const void *content;
    size_t count;
};

static inline void client_send(struct text *to, struct client_record record)
{
    const unsigned char head[8] = {
        (unsigned char)record.version,      (unsigned char)record.type,
        (unsigned char)(record.id >> 8),    (unsigned char)record.id,
        (unsigned char)(record.count >> 8), (unsigned char)record.count,
        (unsigned char)record.padding,      0,
    };
    static const char padding[255] = "padding is never looked at";
    text_add(to, head, sizeof head);
    text_add(to, record.content, record.count);
    text_add(to, padding, record.padding);
}

static inline void client_record(struct text *to, unsigned type, unsigned id, const void *content,
                                 size_t count)
{
    client_send(to, (struct client_record){1, type, id, 0, content, count});
}

static inline void client_begin(struct text *to, unsigned id, unsigned role, unsigned flags)
{
    const unsigned char content[8] = {(unsigned char)(role >> 8), (unsigned char)role, (unsigned char)flags};
    client_record(to, 1, id, content, sizeof content);
}

/* A length in one byte if it can be, or in four. */
static inline void client_length(struct text *to, size_t length, int in_four)
{
    const unsigned char four[4] = {(unsigned char)(length >> 24 | 0x80), (unsigned char)(length >> 16),
                                   (unsigned char)(length >> 8), (unsigned char)length};
    if (in_four || length > 127)
        text_add(to, four, 4);
    else
        text_add(to, four + 3, 1);
}

static inline void client_pair(struct text *to, const char *name, const char *value)
{
    client_length(to, strlen(name), 0);
    client_length(to, strlen(value), 0);
    text_add_string(to, name);
    text_add_string(to, value);
}

static inline void client_end_stream(struct text *to, unsigned type, unsigned id)
{
    client_record(to, type, id, NULL, 0);
}

#endif
