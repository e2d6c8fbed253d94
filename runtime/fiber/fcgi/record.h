/* The reader's parts: reader.c takes heads, content and padding in turn; opening.c decides what a head is
 * for; content.c takes the content. */
#ifndef ORDEAL_FIBER_FCGI_RECORD_H
#define ORDEAL_FIBER_FCGI_RECORD_H

#include "runtime/fiber/fcgi/fcgi.h"

/* Where the fields of a head are. */
enum { HEAD_VERSION = 0, HEAD_TYPE = 1, HEAD_ID = 2, HEAD_LENGTH = 4, HEAD_PADDING = 6 };

static inline uint16_t fcgi_number_at(const unsigned char *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* ---- the present record ---- */

static inline uint8_t record_type(const struct fcgi_reader *reader)
{
    return reader->head[HEAD_TYPE];
}

static inline uint16_t record_id(const struct fcgi_reader *reader)
{
    return fcgi_number_at(reader->head + HEAD_ID);
}

static inline uint16_t record_length(const struct fcgi_reader *reader)
{
    return fcgi_number_at(reader->head + HEAD_LENGTH);
}

/* Its head is whole: sets what its content is for (IGNORED, unless something else is said), or fails. */
void fcgi_open_record(struct fcgi_reader *reader, const struct fcgi_handler *handler);

/* How content is taken (at least one byte of it, one call at most), and what happens when its last byte was
 * taken, or at once if there is none. */
struct fcgi_content_rule {
    size_t (*take)(struct fcgi_reader *reader, const unsigned char *bytes, size_t count,
                   const struct fcgi_handler *handler);
    void (*finish)(struct fcgi_reader *reader, const struct fcgi_handler *handler);
};
extern const struct fcgi_content_rule fcgi_content_rules[];

/* The connection is in error: "byte OFFSET, type 4 (PARAMS), id 1: ..." goes to the handler. */
__attribute__((format(printf, 4, 5))) void fcgi_fail(struct fcgi_reader *reader,
                                                     const struct fcgi_handler *handler, uint64_t offset,
                                                     const char *format, ...);

#endif
