/* A run's rules, from -f options and plan files, collected in a control page.
 *
 * A plan file has one rule or directive a line; `#` at the start of a line or behind a blank begins a
 * comment:
 *
 *     # nothing may be lost when reads are cut short
 *     seed 42
 *     swarm 0.5                          # each rule takes part in half of the runs
 *     only php-fpm8.2                    # inject in processes of this executable
 *     read:fd=socket:p=0.01:short=1
 */
#ifndef ORDEAL_RULE_PLAN_H
#define ORDEAL_RULE_PLAN_H

#include "fault-inject/rule/rule.h"

#define PLAN_ONLY_MAX sizeof(((struct control_page *)0)->only)

struct plan {
    struct control_page *page; /* rules, marks, rendezvous are entered here */
    struct diagnostics *errors;
    struct rule_notes notes[CONTROL_RULES_MAX];
    bool has_seed, has_swarm;
    uint64_t seed;
    double swarm;
    char only[PLAN_ONLY_MAX];
};

/* Adds a rule; on an error it is reported in plan->errors and nothing is added. */
void plan_add_rule(struct plan *plan, const struct source_line *line, struct span text);

/* Adds the text of a plan file called `name`. */
void plan_add_text(struct plan *plan, const char *name, struct span text);

/* Reads a plan file; false and errno when it cannot be read (EFBIG: more than PLAN_BYTES_MAX). */
bool plan_add_file(struct plan *plan, const char *path);

enum { PLAN_BYTES_MAX = 1 << 20 };

#endif
