#include "fault-inject/launcher/options.h"

#include "fault-inject/launcher/say.h"
#include "fault-inject/rule/nearest.h"
#include "fault-inject/rule/number.h"

#include <math.h>

static bool take_chance(struct option_chance *chance, struct span text)
{
    uint64_t threshold;
    if (!number_chance(text, &threshold) || threshold == 0)
        return false;
    chance->given = true;
    chance->value = threshold == UINT64_MAX ? 1.0 : ldexp((double)threshold, -64);
    return true;
}

static bool take_value(const struct option_spec *spec, const char *text)
{
    struct option_list *list = spec->target;
    struct option_number *number = spec->target;
    switch (spec->kind) {
    case OPTION_FLAG:
        *(bool *)spec->target = true;
        return true;
    case OPTION_TEXT:
        *(const char **)spec->target = text;
        return *text != '\0';
    case OPTION_NUMBER:
        number->given = true;
        return number_count(span_of(text), &number->value) && number->value <= INT64_MAX;
    case OPTION_CHANCE:
        return take_chance(spec->target, span_of(text));
    case OPTION_DURATION:
        return number_duration_ns(span_of(text), spec->target) && *(int64_t *)spec->target > 0;
    case OPTION_LIST:
        if (list->count == OPTION_LIST_MAX)
            return false;
        list->items[list->count].letter = spec->letter != '\0' ? spec->letter : spec->name[0];
        list->items[list->count++].value = text;
        return true;
    }
    return false;
}

static const char *wanted(enum option_kind kind)
{
    static const char *const texts[] = {
        [OPTION_FLAG] = "nothing",
        [OPTION_TEXT] = "a text that is not empty",
        [OPTION_NUMBER] = "a number from 0 to 9223372036854775807",
        [OPTION_CHANCE] = "a chance above 0, up to 1, such as 0.5 or 50%",
        [OPTION_DURATION] = "a time with its unit, such as 10s or 500ms",
        [OPTION_LIST] = "no more than 512 of these",
    };
    return texts[kind];
}

static const struct option_spec *find_option(const struct option_spec *specs, struct span name)
{
    for (; specs->name != NULL; specs++) {
        bool by_letter = name.length == 2 && name.at[0] == '-' && name.at[1] == specs->letter;
        bool by_name = name.length > 2 && name.at[1] == '-' && span_is(span_from(name, 2), specs->name);
        if (by_letter || by_name)
            return specs;
    }
    return NULL;
}

static int unknown_option(const char *command, const struct option_spec *specs, struct span name)
{
    struct nearest near = nearest_to(name.length > 2 ? span_from(name, 2) : name);
    for (; specs->name != NULL; specs++)
        nearest_offer(&near, specs->name);
    if (near.best != NULL)
        say("%s: unknown option %.*s; did you mean --%s?", command, SPAN(name), near.best);
    else
        say("%s: unknown option %.*s; `ordeal %s --help` lists them", command, SPAN(name), command);
    return -1;
}

/* Reads argv[at]; returns where the next option would stand, or -1. */
static int read_option(const char *command, const struct option_spec *specs, int argc, char **argv, int at)
{
    struct span word = span_of(argv[at]);
    struct span name = {word.at, word.at[1] == '-' ? span_find(word, '=') : 2};
    const struct option_spec *spec = find_option(specs, name);
    if (spec == NULL)
        return unknown_option(command, specs, name);
    const char *value =
        name.length == word.length ? NULL : word.at + name.length + (word.at[1] == '-' ? 1 : 0);
    if (spec->kind == OPTION_FLAG && value != NULL) {
        say("%s: %.*s takes no value", command, SPAN(name));
        return -1;
    }
    if (spec->kind != OPTION_FLAG && value == NULL) {
        if (at + 1 >= argc) {
            say("%s: %.*s wants a value: %s", command, SPAN(name), spec->value);
            return -1;
        }
        value = argv[++at];
    }
    if (!take_value(spec, value)) {
        say("%s: %.*s wants %s, not '%s'", command, SPAN(name), wanted(spec->kind), value);
        return -1;
    }
    return at + 1;
}

int options_parse(const char *command, const struct option_spec *specs, int argc, char **argv)
{
    int at = 1;
    while (at >= 0 && at < argc && argv[at][0] == '-' && argv[at][1] != '\0') {
        if (strcmp(argv[at], "--") == 0)
            return at + 1;
        at = read_option(command, specs, argc, argv, at);
    }
    return at;
}

int options_parse_mixed(const char *command, const struct option_spec *specs, int argc, char **argv)
{
    int words = 0;
    for (int at = 1; at < argc;) {
        int next = options_parse(command, specs, argc - at + 1, argv + at - 1);
        if (next < 0)
            return -1;
        at += next - 1;
        if (at < argc)
            argv[++words] = argv[at++];
    }
    return words;
}

void options_print(const struct option_spec *specs, FILE *out)
{
    for (; specs->name != NULL; specs++) {
        char left[64];
        int length = specs->letter != '\0' ? snprintf(left, sizeof left, "-%c, ", specs->letter)
                                           : snprintf(left, sizeof left, "    ");
        snprintf(left + length, sizeof left - (size_t)length, "--%s%s%s", specs->name,
                 specs->value != NULL ? " " : "", specs->value != NULL ? specs->value : "");
        fprintf(out, "  %-30s %s\n", left, specs->help);
    }
}
