/* Errors in rules and plans, collected so that all of them are reported and not just the first.
 *
 *     -f 2:13: unknown errno 'EINTTR'; did you mean EINTR?
 *         flock:nth=2:errno=EINTTR
 *                           ^
 */
#ifndef ORDEAL_RULE_DIAGNOSTICS_H
#define ORDEAL_RULE_DIAGNOSTICS_H

#include "fault-inject/rule/span.h"

#include <stdio.h>

enum { DIAGNOSTICS_MAX = 64, DIAGNOSTIC_TEXT_MAX = 640 };

/* A line of a plan file (origin "plan.ordeal", number = line) or an option (origin "-f", number = which). */
struct source_line {
    const char *origin;
    unsigned number;
    bool is_option;
    struct span text;
};

struct diagnostic {
    char where[DIAGNOSTIC_TEXT_MAX]; /* "plan.ordeal:3:14" or "-f 2:14" */
    size_t column;                   /* from 1, in bytes */
    char line[DIAGNOSTIC_TEXT_MAX];
    char message[DIAGNOSTIC_TEXT_MAX];
};

struct diagnostics {
    size_t count; /* all that were reported; the first DIAGNOSTICS_MAX are kept */
    struct diagnostic items[DIAGNOSTICS_MAX];
};

/* Reports an error at the byte `at`, which points into line->text (or just behind it). */
__attribute__((format(printf, 4, 5))) void
diagnose(struct diagnostics *errors, const struct source_line *line, const char *at, const char *format, ...);

void diagnostics_print(const struct diagnostics *errors, FILE *out, bool colour);

#endif
