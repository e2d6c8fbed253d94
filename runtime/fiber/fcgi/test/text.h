/* Bytes that grow, for the tests: independent of the buffer that is tested. */
#ifndef ORDEAL_FIBER_FCGI_TEST_TEXT_H
#define ORDEAL_FIBER_FCGI_TEST_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *bytes; /* ended by a NUL that is not counted; NULL while empty */
    size_t count, capacity;
};

/* Tests do not go on without memory. */
static inline void *text_allocate(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return memory;
}

static inline void text_add(struct text *to, const void *bytes, size_t count)
{
    if (to->count + count + 1 > to->capacity) {
        to->capacity = (to->count + count + 1) * 2;
        to->bytes = text_allocate(to->bytes, to->capacity);
    }
    if (count > 0)
        memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
    to->bytes[to->count] = '\0';
}

static inline void text_add_string(struct text *to, const char *string)
{
    text_add(to, string, strlen(string));
}

static inline void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

#endif
