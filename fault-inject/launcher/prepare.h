/* From options to a control page that is ready to be put in its file. `run`, `replay` and `sweep` share it.
 */
#ifndef ORDEAL_LAUNCHER_PREPARE_H
#define ORDEAL_LAUNCHER_PREPARE_H

#include "fault-inject/launcher/options.h"
#include "fault-inject/rule/plan.h"

struct rule_options {
    struct option_list rules; /* letter 'f': a rule; 'p': a plan file */
    struct option_number seed;
    struct option_chance swarm;
    const char *only;
    bool disarmed;
};

/* Reads all rules and plans; 0, or the exit status, every error having been reported. `notes` (may be NULL)
 * gets CONTROL_RULES_MAX entries. */
int prepare_rules(const struct rule_options *options, struct control_page *page, struct rule_notes *notes);

/* A seed nobody has to think of. */
uint64_t random_seed(void);

/* Chooses which rules take part: each with chance `p`, drawn from the seed and its number; at least one. */
void swarm_choose(struct control_page *page, double p);

#endif
