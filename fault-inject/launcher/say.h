/* What the launcher says of itself: one line on stderr each, "ordeal: …", and nothing else on stdout or
 * stderr that could be taken for the target's. */
#ifndef ORDEAL_LAUNCHER_SAY_H
#define ORDEAL_LAUNCHER_SAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses of the launcher's own; otherwise it exits as the target did. */
enum {
    EXIT_USAGE = 2,            /* a bad option, rule or plan; nothing was started */
    EXIT_INCOMPLETE = 3,       /* replay, sweep: not all that was asked for could be done */
    EXIT_LAUNCHER = 125,       /* the launcher itself failed: disk full, library missing … */
    EXIT_NOT_EXECUTABLE = 126, /* the program cannot be started */
    EXIT_NOT_FOUND = 127       /* there is no such program */
};

__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* say(), and return EXIT_USAGE or EXIT_LAUNCHER. */
__attribute__((format(printf, 1, 2))) int refuse(const char *format, ...);
__attribute__((format(printf, 1, 2))) int give_up(const char *format, ...);

/* Whether colour may be used: on a terminal, unless NO_COLOR is set. */
bool wants_colour(FILE *out);

/* "12.3 MB" */
enum { SIZE_TEXT_MAX = 32 };
const char *size_text(uint64_t bytes, char out[SIZE_TEXT_MAX]);

/* Prints an argument so that a shell reads it back as it is. */
void print_quoted(FILE *out, const char *argument);
void print_command(FILE *out, char *const *argv);

#endif
