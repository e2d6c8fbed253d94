/* A piece of text that is not ended by a NUL: how the parser looks at a rule without copying it. */
#ifndef ORDEAL_RULE_SPAN_H
#define ORDEAL_RULE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct span {
    const char *at;
    size_t length;
};

/* For printf: printf("%.*s", SPAN(value)) */
#define SPAN(s) (int)(s).length, (s).at

static inline struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static inline bool span_is(struct span s, const char *word)
{
    return strlen(word) == s.length && memcmp(s.at, word, s.length) == 0;
}

static inline struct span span_from(struct span s, size_t offset)
{
    return (struct span){s.at + offset, s.length - offset};
}

static inline struct span span_trim(struct span s)
{
    while (s.length > 0 && (s.at[0] == ' ' || s.at[0] == '\t'))
        s = span_from(s, 1);
    while (s.length > 0 && (s.at[s.length - 1] == ' ' || s.at[s.length - 1] == '\t'))
        s.length--;
    return s;
}

/* Where `byte` first stands in s, or s.length. */
static inline size_t span_find(struct span s, char byte)
{
    const char *found = s.length > 0 ? memchr(s.at, byte, s.length) : NULL;
    return found != NULL ? (size_t)(found - s.at) : s.length;
}

#endif
