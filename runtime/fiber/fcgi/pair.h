/* Takes one name-value pair out of bytes that may be cut anywhere.
 *
 *     03 01 | F O O | 1          lengths, name, value; a length is one byte, or four with the top bit set
 *
 * Two steps, so that the reader can look at the lengths before anything is stored:
 *
 *     taken = fcgi_pair_take_lengths(&pair, bytes, count);       // until pair.lengths_known
 *     ... lengths within the limits? ...
 *     result = fcgi_pair_take_text(&pair, bytes, count, &text);  // until PAIR_WHOLE
 *     ... text.name, text.value ...
 *     fcgi_pair_next(&pair);
 *
 * A pair that lies in one piece is not copied: text then points into the bytes given.
 */
#ifndef ORDEAL_FIBER_FCGI_PAIR_H
#define ORDEAL_FIBER_FCGI_PAIR_H

#include "runtime/fiber/fcgi/fcgi.h"

struct fcgi_pair_text {
    const char *name, *value;
    size_t taken; /* of the bytes given */
};

enum fcgi_pair_result { PAIR_PART, PAIR_WHOLE, PAIR_NO_MEMORY };

void fcgi_pair_init(struct fcgi_pair *pair, size_t bytes_max);
void fcgi_pair_free(struct fcgi_pair *pair);

/* Forgets the present pair, half or whole. */
void fcgi_pair_next(struct fcgi_pair *pair);

/* Between two pairs. */
static inline bool fcgi_pair_is_none(const struct fcgi_pair *pair)
{
    return pair->lengths_have == 0;
}

size_t fcgi_pair_take_lengths(struct fcgi_pair *pair, const unsigned char *bytes, size_t count);

enum fcgi_pair_result fcgi_pair_take_text(struct fcgi_pair *pair, const unsigned char *bytes, size_t count,
                                          struct fcgi_pair_text *text);

#endif
