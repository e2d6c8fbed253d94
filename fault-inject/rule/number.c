#include "fault-inject/rule/number.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct unit {
    const char *name;
    uint64_t factor;
};

/* Largest first, as printing tries them. */
static const struct unit size_units[] = {{"G", 1u << 30}, {"M", 1u << 20}, {"K", 1u << 10}, {"", 1}};
static const struct unit time_units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};

static size_t digits_at(struct span text)
{
    size_t length = 0;
    while (length < text.length && isdigit((unsigned char)text.at[length]))
        length++;
    return length;
}

bool number_count(struct span text, uint64_t *out)
{
    if (text.length == 0 || digits_at(text) != text.length)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < text.length; i++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.at[i] - '0'), &value))
            return false;
    *out = value;
    return true;
}

static const struct unit *unit_named(const struct unit *units, size_t count, struct span name)
{
    for (size_t i = 0; i < count; i++)
        if (span_is(name, units[i].name))
            return &units[i];
    return NULL;
}

bool number_size(struct span text, uint64_t *out)
{
    struct span digits = {text.at, digits_at(text)};
    const struct unit *unit = unit_named(size_units, LENGTH(size_units), span_from(text, digits.length));
    uint64_t value;
    if (unit == NULL || !number_count(digits, &value) ||
        __builtin_mul_overflow(value, unit->factor, &value) || value > INT64_MAX)
        return false;
    *out = value;
    return true;
}

/* ".25" of a unit of `factor` nanoseconds; false when that is no whole number of them. */
static bool fraction_ns(struct span decimals, uint64_t factor, uint64_t *out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < decimals.length; i++) {
        unsigned digit = (unsigned)(decimals.at[i] - '0');
        if (factor < 10 && digit != 0)
            return false;
        factor /= 10;
        sum += digit * factor;
    }
    *out = sum;
    return true;
}

bool number_duration_ns(struct span text, int64_t *out)
{
    struct span whole = {text.at, digits_at(text)};
    struct span rest = span_from(text, whole.length);
    struct span decimals = {rest.at, 0};
    if (rest.length > 0 && rest.at[0] == '.') {
        rest = span_from(rest, 1);
        decimals = (struct span){rest.at, digits_at(rest)};
        if (decimals.length == 0)
            return false;
        rest = span_from(rest, decimals.length);
    }
    const struct unit *unit = unit_named(time_units, LENGTH(time_units), rest);
    uint64_t value, part;
    if (unit == NULL || !number_count(whole, &value) || !fraction_ns(decimals, unit->factor, &part) ||
        __builtin_mul_overflow(value, unit->factor, &value) || __builtin_add_overflow(value, part, &value) ||
        value > (uint64_t)DURATION_NS_MAX)
        return false;
    *out = (int64_t)value;
    return true;
}

uint64_t number_chance_threshold(double chance)
{
    if (chance >= 1.0)
        return UINT64_MAX;
    return (uint64_t)ldexp(chance, 64);
}

/* Digits, a point and an exponent; no sign, no "inf", no hexadecimal, as strtod would take. */
static bool looks_decimal(struct span text)
{
    if (text.length == 0 || text.length >= NUMBER_TEXT_MAX || !isdigit((unsigned char)text.at[0]))
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (!isdigit((unsigned char)text.at[i]) && memchr(".eE+-", text.at[i], 5) == NULL)
            return false;
    return true;
}

bool number_chance(struct span text, uint64_t *threshold)
{
    bool percent = text.length > 0 && text.at[text.length - 1] == '%';
    if (percent)
        text.length--;
    if (!looks_decimal(text))
        return false;
    char copy[NUMBER_TEXT_MAX];
    memcpy(copy, text.at, text.length);
    copy[text.length] = '\0';
    char *end;
    double chance = strtod(copy, &end);
    if (percent)
        chance /= 100.0;
    if (*end != '\0' || !(chance >= 0.0 && chance <= 1.0))
        return false;
    uint64_t value = number_chance_threshold(chance);
    if (value == 0 && chance > 0.0)
        return false; /* so small that it would never fire */
    *threshold = value;
    return true;
}

static void print_in_units(const struct unit *units, size_t count, uint64_t value, char *out)
{
    const struct unit *unit = units;
    while (unit < units + count - 1 && (value % unit->factor != 0 || value == 0))
        unit++;
    snprintf(out, NUMBER_TEXT_MAX, "%" PRIu64 "%s", value / unit->factor, unit->name);
}

void number_print_size(uint64_t size, char out[NUMBER_TEXT_MAX])
{
    print_in_units(size_units, LENGTH(size_units), size, out);
}

void number_print_duration_ns(int64_t duration_ns, char out[NUMBER_TEXT_MAX])
{
    print_in_units(time_units, LENGTH(time_units), (uint64_t)duration_ns, out);
}

void number_print_chance(uint64_t threshold, char out[NUMBER_TEXT_MAX])
{
    if (threshold == UINT64_MAX) {
        snprintf(out, NUMBER_TEXT_MAX, "1");
        return;
    }
    /* Exact: a threshold made from a double has at most 53 significant bits. */
    double chance = ldexp((double)threshold, -64);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, NUMBER_TEXT_MAX, "%.*g", digits, chance);
        if (strtod(out, NULL) == chance)
            return;
    }
}
