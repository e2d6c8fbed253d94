/* What cannot be together, although each value is right. Each rule is a row of a table: the directive to
 * blame, and what is wrong. */
#ifndef ORDEAL_FIBER_CONFIG_CHECK_H
#define ORDEAL_FIBER_CONFIG_CHECK_H

#include "runtime/fiber/config/config.h"

struct conflict {
    unsigned pool;         /* in config->pools */
    const char *directive; /* to blame */
    char text[300];
};

/* False: `conflict` is the first one. */
bool config_check(const struct fiber_config *config, struct conflict *conflict);

#endif
