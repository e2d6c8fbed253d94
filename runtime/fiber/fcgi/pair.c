#include "runtime/fiber/fcgi/pair.h"

#include <assert.h>

void fcgi_pair_init(struct fcgi_pair *pair, size_t bytes_max)
{
    *pair = (struct fcgi_pair){0};
    fcgi_buffer_init(&pair->text, bytes_max);
}

void fcgi_pair_free(struct fcgi_pair *pair)
{
    fcgi_buffer_free(&pair->text);
}

void fcgi_pair_next(struct fcgi_pair *pair)
{
    fcgi_buffer_drop(&pair->text, pair->text.count);
    pair->lengths_have = 0;
    pair->lengths_known = false;
}

static unsigned length_size(unsigned char first)
{
    return first & 0x80 ? 4 : 1;
}

static uint32_t length_at(const unsigned char *bytes)
{
    if (length_size(bytes[0]) == 1)
        return bytes[0];
    return (uint32_t)(bytes[0] & 0x7f) << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Whether both lengths are there; if so, reads them. */
static bool read_lengths(struct fcgi_pair *pair)
{
    unsigned name_size = length_size(pair->lengths[0]);
    /* lengths[name_size] is an old byte while lengths_have <= name_size: false either way. */
    if (pair->lengths_have < name_size + length_size(pair->lengths[name_size]))
        return false;
    pair->name_bytes = length_at(pair->lengths);
    pair->value_bytes = length_at(pair->lengths + name_size);
    return true;
}

size_t fcgi_pair_take_lengths(struct fcgi_pair *pair, const unsigned char *bytes, size_t count)
{
    size_t taken = 0;
    while (!pair->lengths_known && taken < count) {
        assert(pair->lengths_have < sizeof pair->lengths);
        pair->lengths[pair->lengths_have++] = bytes[taken++];
        pair->lengths_known = read_lengths(pair);
    }
    return taken;
}

enum fcgi_pair_result fcgi_pair_take_text(struct fcgi_pair *pair, const unsigned char *bytes, size_t count,
                                          struct fcgi_pair_text *text)
{
    assert(pair->lengths_known);
    size_t whole = (size_t)pair->name_bytes + pair->value_bytes;
    size_t missing = whole - pair->text.count;
    text->taken = count < missing ? count : missing;
    const unsigned char *name = bytes;
    if (missing < whole || count < whole) {
        if (!fcgi_buffer_append(&pair->text, bytes, text->taken))
            return PAIR_NO_MEMORY;
        if (pair->text.count < whole)
            return PAIR_PART;
        name = fcgi_buffer_front(&pair->text);
    }
    text->name = (const char *)name;
    text->value = text->name + pair->name_bytes;
    return PAIR_WHOLE;
}
