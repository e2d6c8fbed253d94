#include "harness/load/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES_MAX 63

struct unit {
    const char *suffix;
    double factor;
};

/* A decimal number followed by exactly one of the suffixes. */
static bool number_with_unit(const char *text, const struct unit *units, size_t count, double *value)
{
    if (text[0] < '0' || text[0] > '9')
        return false;
    size_t digits = strspn(text, "0123456789.");
    char *end = NULL;
    double number = strtod(text, &end);
    if (end != text + digits || digits > 30)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(end, units[i].suffix) == 0) {
            *value = number * units[i].factor;
            return true;
        }
    }
    return false;
}

static bool whole_number(const char *text, const struct unit *units, size_t count, double max,
                         uint64_t *value)
{
    double number;
    if (!number_with_unit(text, units, count, &number) || number > max)
        return false;
    *value = (uint64_t)llround(number);
    return true;
}

#define UNITS(array) (array), sizeof(array) / sizeof((array)[0])

bool text_count(const char *text, uint64_t *count)
{
    static const struct unit units[] = {{"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && text[digits] == '\0') {
        errno = 0;
        *count = strtoull(text, NULL, 10); /* exact, as a seed must be */
        return errno == 0;
    }
    return whole_number(text, UNITS(units), 1e15, count);
}

bool text_size(const char *text, uint64_t *size_bytes)
{
    static const struct unit units[] = {
        {"", 1}, {"k", 1024.0}, {"K", 1024.0}, {"M", 1048576.0}, {"G", 1073741824.0}};
    return whole_number(text, UNITS(units), 1e15, size_bytes);
}

bool text_duration(const char *text, uint64_t *duration_ns)
{
    static const struct unit units[] = {{"", 1e9},  {"ns", 1},   {"us", 1e3},  {"ms", 1e6},
                                        {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    return whole_number(text, UNITS(units), 1e17, duration_ns);
}

bool text_rate(const char *text, uint64_t *rate_millihertz)
{
    static const struct unit units[] = {{"", 1e3}, {"/s", 1e3}, {"k", 1e6}, {"k/s", 1e6}};
    return whole_number(text, UNITS(units), 1e10, rate_millihertz);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance, one row at a time. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[WORD_BYTES_MAX + 1];
    size_t a_bytes = strlen(a), b_bytes = strlen(b);
    if (a_bytes > WORD_BYTES_MAX || b_bytes > WORD_BYTES_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            size_t above = row[j];
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[b_bytes];
}

const char *text_nearest(const char *word, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    size_t limit = strlen(word) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(word, words[i]);
        if (distance <= limit) {
            limit = distance == 0 ? 0 : distance - 1;
            nearest = words[i];
            if (distance == 0)
                break;
        }
    }
    return nearest;
}

size_t text_words(char *out, size_t size, const char *bytes, size_t bytes_count)
{
    size_t used = 0;
    bool gap = false, markup = false;
    for (size_t i = 0; i < bytes_count && used + 2 < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == '<')
            markup = true;
        if (markup || byte <= ' ' || byte == 0x7f) {
            markup = markup && byte != '>';
            gap = used > 0;
            continue;
        }
        if (gap)
            out[used++] = ' ';
        gap = false;
        out[used++] = (char)byte;
    }
    if (size > 0)
        out[used] = '\0';
    return used;
}
