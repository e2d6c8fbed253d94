/* Whether the fields of a rule fit its calls and each other. */
#ifndef ORDEAL_RULE_CHECK_H
#define ORDEAL_RULE_CHECK_H

#include "fault-inject/rule/fields.h"

/* Reports what does not fit and fills draft->rule->hooks. `end` is where the rule's text ends. */
void rule_check(struct draft *draft, const char *end, struct rule_notes *notes);

/* Whether row `hook` suits every field of the rule. */
bool rule_suits(const struct rule *rule, bool any_errno, int hook);

#endif
