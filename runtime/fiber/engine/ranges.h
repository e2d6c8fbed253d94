/* Which bytes of the process belong to a request: a list of ranges, found once when the engine starts.
 *
 * An **image** is the bytes of all ranges one behind the other. Swapping two requests is copying one image
 * out and another one in, some 8 KB.
 *
 * The ranges come from tables in ranges.c: globals that libphp exports, the globals of all modules in PHP's
 * registry, globals of modules that hide theirs but whose settings point to them, state of libxml2 that has
 * accessors, and a few statics without any name, which are found by decoding the machine code of a function
 * that uses them. A row may be for some versions of PHP only. */
#ifndef ORDEAL_FIBER_ENGINE_RANGES_H
#define ORDEAL_FIBER_ENGINE_RANGES_H

#include "runtime/fiber/php.h"

struct range {
    char *at;
    size_t bytes;
    const char *what;
};

/* All ranges of this process; false: `problem` says what could not be found. */
bool ranges_find(char *problem, size_t problem_bytes);

bool ranges_contain(const void *at, size_t bytes);
size_t image_bytes(void);

void image_copy_out(char *image);
void image_copy_in(const char *image);

/* Statics that a new slot has to fill with something of its own. */
struct hidden {
    void **gc_buffer; /* the collector's root buffer */
    pcre2_match_data **pcre_match_data;
    pcre2_match_context **pcre_match_context;
    virtual_cwd_globals *cwd;
};
const struct hidden *ranges_hidden(void);
uint32_t ranges_gc_buffer_count(void); /* in roots */

#endif
