/* The types of values. A type knows how to take a value from the file, to print it, and to free it. */
#ifndef ORDEAL_FIBER_CONFIG_TYPES_H
#define ORDEAL_FIBER_CONFIG_TYPES_H

#include "runtime/fiber/config/directives.h"

#include <stdio.h>

enum { EXPECTED_BYTES = 200 };

/* What the file says. */
struct given {
    const char *key; /* NULL: none */
    const char *value;
    const char *pool; /* "$pool" in texts; NULL: there is no pool here */
};

struct value_type {
    bool keyed; /* name[key] = value */

    /* False: `expected` says what would have been right. `base` is the structure with the field. */
    bool (*set)(const struct directive *row, void *base, const struct given *given,
                char expected[EXPECTED_BYTES]);
    void (*print)(const struct directive *row, const void *base, FILE *out); /* "name = value\n" */
    void (*clear)(const struct directive *row, void *base);                  /* NULL: nothing to free */
};

/* numbers.c */
extern const struct value_type type_number, type_size, type_time, type_seconds, type_mode, type_bool,
    type_choice;

/* texts.c: any text; one that is not empty; one that starts with a slash; and what can be looked up. */
extern const struct value_type type_text, type_path, type_uri, type_file, type_address, type_user, type_group,
    type_words;

/* settings.c */
extern const struct value_type type_setting, type_flag, type_env;

static inline void *row_field(const struct directive *row, void *base)
{
    return (char *)base + row->offset;
}

static inline const void *row_field_of(const struct directive *row, const void *base)
{
    return (const char *)base + row->offset;
}

/* texts.c: a copy with every $pool replaced. NULL: `expected` says why. */
char *text_expanded(const struct given *given, char expected[EXPECTED_BYTES]);

/* texts.c: in quotes if it needs them. */
void text_print(const char *text, FILE *out);

/* settings.c: room for one more item of a list; NULL: there are CONFIG_LIST_MAX, or no memory. */
void *list_grow(const struct directive *row, void *base, size_t item_bytes);
unsigned list_count(const struct directive *row, const void *base);

/* numbers.c: on, off and their like. */
bool bool_parse(const char *text, bool *value);

#endif
