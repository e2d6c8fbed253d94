/* Values that are a number: counts, sizes, times, modes, yes or no, and a choice of words. */
#include "runtime/fiber/config/types.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *suffix;
    int64_t factor;
};

/* The largest first; the first one without a suffix is what a bare number means. */
static const struct unit unit_one[] = {{"", 1}, {NULL, 0}};
static const struct unit units_bytes[] = {{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"g", 1 << 30},
                                          {"m", 1 << 20}, {"k", 1 << 10}, {"", 1},        {NULL, 0}};
static const struct unit units_ms[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000},
                                       {"", 1000},      {"ms", 1},      {NULL, 0}};
static const struct unit units_s[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"", 1}, {NULL, 0}};

static bool parse(const char *text, const struct unit *units, int64_t *value)
{
    char *end;
    const char *digits = text + (*text == '-');
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    int64_t number = strtoll(text, &end, 10);
    while (units->suffix && strcmp(units->suffix, end) != 0)
        units++;
    return errno == 0 && units->suffix && !__builtin_mul_overflow(number, units->factor, value);
}

/* In the largest unit that leaves no rest. */
static void print(int64_t value, const struct unit *units, FILE *out)
{
    while (units[1].suffix && (value == 0 || value % units->factor != 0))
        units++;
    fprintf(out, "%" PRId64 "%s", value / units->factor, value == 0 ? "" : units->suffix);
}

static void store(const struct directive *row, void *base, int64_t value)
{
    int32_t narrow = (int32_t)value;
    memcpy(row_field(row, base), row->width == sizeof narrow ? (void *)&narrow : (void *)&value, row->width);
}

static int64_t load(const struct directive *row, const void *base)
{
    int32_t narrow;
    int64_t wide = 0;
    if (row->width == sizeof narrow) {
        memcpy(&narrow, row_field_of(row, base), sizeof narrow);
        return narrow;
    }
    memcpy(&wide, row_field_of(row, base), row->width);
    return wide;
}

static bool set_measure(const struct directive *row, void *base, const char *text, const struct unit *units,
                        char expected[EXPECTED_BYTES], const char *kind, const char *example)
{
    int64_t value;
    if (parse(text, units, &value) && value >= row->min && value <= row->max) {
        store(row, base, value);
        return true;
    }
    FILE *out = fmemopen(expected, EXPECTED_BYTES, "w");
    if (out == NULL)
        return false;
    fprintf(out, "%s from ", kind);
    print(row->min, units, out);
    fputs(" to ", out);
    print(row->max, units, out);
    fputs(example, out);
    fclose(out);
    return false;
}

static void print_measure(const struct directive *row, const void *base, FILE *out, const struct unit *units)
{
    fprintf(out, "%s = ", row->name);
    print(load(row, base), units, out);
    putc('\n', out);
}

/* A type of numbers is its units and its words. */
#define NUMBER_TYPE(type, units, kind, example)                                                              \
    static bool set_##type(const struct directive *row, void *base, const struct given *given,               \
                           char expected[EXPECTED_BYTES])                                                    \
    {                                                                                                        \
        return set_measure(row, base, given->value, units, expected, kind, example);                         \
    }                                                                                                        \
    static void print_##type(const struct directive *row, const void *base, FILE *out)                       \
    {                                                                                                        \
        print_measure(row, base, out, units);                                                                \
    }                                                                                                        \
    const struct value_type type_##type = {.set = set_##type, .print = print_##type}

NUMBER_TYPE(number, unit_one, "a number", "");
NUMBER_TYPE(size, units_bytes, "a size", ", such as 512K or 8M");
NUMBER_TYPE(time, units_ms, "a time", ", such as 500ms, 30s or 5m");
NUMBER_TYPE(seconds, units_s, "a time", ", such as 30s or 5m");

/* ---- modes ---- */

static bool set_mode(const struct directive *row, void *base, const struct given *given,
                     char expected[EXPECTED_BYTES])
{
    size_t digits = strspn(given->value, "01234567");
    if (digits >= 3 && digits <= 4 && given->value[digits] == '\0' && strtol(given->value, NULL, 8) <= 0777) {
        store(row, base, strtol(given->value, NULL, 8));
        return true;
    }
    snprintf(expected, EXPECTED_BYTES, "an octal mode, such as 0660");
    return false;
}

static void print_mode(const struct directive *row, const void *base, FILE *out)
{
    fprintf(out, "%s = %04" PRIo64 "\n", row->name, (uint64_t)load(row, base));
}

const struct value_type type_mode = {.set = set_mode, .print = print_mode};

/* ---- yes or no ---- */

bool bool_parse(const char *text, bool *value)
{
    static const char *const yes[] = {"1", "on", "yes", "true"}, *const no[] = {"", "0", "off", "no",
                                                                                "false"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(text, yes[i]) == 0)
            return *value = true;
    *value = false;
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strcasecmp(text, no[i]) == 0)
            return true;
    return false;
}

static bool set_bool(const struct directive *row, void *base, const struct given *given,
                     char expected[EXPECTED_BYTES])
{
    if (bool_parse(given->value, row_field(row, base)))
        return true;
    snprintf(expected, EXPECTED_BYTES, "yes or no");
    return false;
}

static void print_bool(const struct directive *row, const void *base, FILE *out)
{
    fprintf(out, "%s = %s\n", row->name, *(const bool *)row_field_of(row, base) ? "yes" : "no");
}

const struct value_type type_bool = {.set = set_bool, .print = print_bool};

/* ---- a choice ---- */

static void expect_choice(const struct directive *row, char expected[EXPECTED_BYTES])
{
    FILE *out = fmemopen(expected, EXPECTED_BYTES, "w");
    if (out == NULL)
        return;
    for (const struct choice *choice = row->choices; choice->word; choice++)
        fprintf(out, "%s%s", choice == row->choices ? "" : choice[1].word ? ", " : " or ", choice->word);
    if (row->refusal)
        fprintf(out, ": %s", row->refusal);
    fclose(out);
}

static bool set_choice(const struct directive *row, void *base, const struct given *given,
                       char expected[EXPECTED_BYTES])
{
    for (const struct choice *choice = row->choices; choice->word; choice++)
        if (strcasecmp(choice->word, given->value) == 0) {
            if (row->width)
                store(row, base, choice->value);
            return true;
        }
    expect_choice(row, expected);
    return false;
}

static void print_choice(const struct directive *row, const void *base, FILE *out)
{
    const struct choice *choice = row->choices;
    while (row->width && choice[1].word && choice->value != load(row, base))
        choice++;
    fprintf(out, "%s = %s\n", row->name, choice->word);
}

const struct value_type type_choice = {.set = set_choice, .print = print_choice};
