/* The rule language: text to struct rule (control.h) and back.
 *
 *     call[|call…]:field:field…        flock:nth=2:errno=EINTR        @file:fd=socket:p=1%:short=1
 *
 * A call is a row of hooks.def, another name of one (open64), or @family. Each field either restricts when
 * the rule fires or says what happens then; all of them, with what they want and which calls they suit, are
 * in one table (fields.c). A family is narrowed to its rows that suit every field; a call that was named and
 * does not suit is an error.
 *
 *     struct source_line line = {"-f", 1, true, span_of("flock:nth=2:errno=EINTR")};
 *     if (!rule_parse(&line, line.text, page, &rule, NULL, &errors))
 *         diagnostics_print(&errors, stderr, false);
 */
#ifndef ORDEAL_RULE_RULE_H
#define ORDEAL_RULE_RULE_H

#include "fault-inject/control.h"
#include "fault-inject/rule/diagnostics.h"

typedef uint64_t hook_set[HOOK_MAX / 64];

static inline bool hook_set_has(const hook_set set, int hook)
{
    return (set[hook / 64] >> (hook % 64) & 1) != 0;
}

static inline void hook_set_add(hook_set set, int hook)
{
    set[hook / 64] |= UINT64_C(1) << (hook % 64);
}

static inline void hook_set_remove(hook_set set, int hook)
{
    set[hook / 64] &= ~(UINT64_C(1) << (hook % 64));
}

/* Rows of an @family that were left out because a field does not suit them. */
struct rule_notes {
    hook_set narrowed;
};

/* Compiles `text`, a part of line->text. Names of marks and rendezvous are entered into `page`. False when at
 * least one error was reported; then `rule` and `page` are as before. `notes` may be NULL. */
bool rule_parse(const struct source_line *line, struct span text, struct control_page *page,
                struct rule *rule, struct rule_notes *notes, struct diagnostics *errors);

/* Writes the canonical text, with the names from `page`; like snprintf it returns the length needed. */
size_t rule_print(const struct rule *rule, const struct control_page *page, char *out, size_t out_size);

#endif
