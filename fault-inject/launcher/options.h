/* Options of a subcommand as a table, from which they are read and from which --help is made.
 *
 *     static uint64_t seed;
 *     static const struct option_spec specs[] = {
 *         {.name = "seed", .kind = OPTION_NUMBER, .target = &seed, .value = "N", .help = "draw from this
 * seed"},
 *         {.name = NULL}};
 *     int rest = options_parse("run", specs, argc, argv);     // index of what follows, or -1: said why
 */
#ifndef ORDEAL_LAUNCHER_OPTIONS_H
#define ORDEAL_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { OPTION_LIST_MAX = 512 };

enum option_kind {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* const char * */
    OPTION_NUMBER,   /* struct option_number */
    OPTION_CHANCE,   /* struct option_chance: 0.5, 50% */
    OPTION_DURATION, /* int64_t, nanoseconds: 10s */
    OPTION_LIST      /* struct option_list: may be given often */
};

struct option_number {
    bool given;
    uint64_t value;
};
struct option_chance {
    bool given;
    double value;
};

/* Options that may be repeated; several may share one list, so that their order among each other is kept. */
struct option_list {
    size_t count;
    struct {
        char letter; /* which option it was */
        const char *value;
    } items[OPTION_LIST_MAX];
};

struct option_spec {
    const char *name; /* NULL ends the table */
    char letter;      /* 0: has none */
    enum option_kind kind;
    void *target;
    const char *value; /* "FILE", for the help */
    const char *help;
};

/* Reads options up to `--` or the first word that is none. */
int options_parse(const char *command, const struct option_spec *specs, int argc, char **argv);

/* For commands whose words and options may be mixed (`ctl FILE status --json`): moves the words to argv[1…]
 * and returns how many there are, or -1. */
int options_parse_mixed(const char *command, const struct option_spec *specs, int argc, char **argv);

void options_print(const struct option_spec *specs, FILE *out);

#endif
