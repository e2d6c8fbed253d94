/* Random values for the tests: from ORDEAL_SEED, or a fixed seed; printed, so that a failure can be run
 * again. */
#ifndef ORDEAL_LOAD_TEST_SEED_H
#define ORDEAL_LOAD_TEST_SEED_H

#include "harness/load/marker.h"

#include <stdio.h>
#include <stdlib.h>

struct dice {
    uint64_t seed, rolls;
};

static inline struct dice dice_new(void)
{
    const char *text = getenv("ORDEAL_SEED");
    struct dice dice = {.seed = text != NULL ? strtoull(text, NULL, 10) : 42};
    printf("ORDEAL_SEED=%llu\n", (unsigned long long)dice.seed);
    return dice;
}

static inline uint64_t dice_roll(struct dice *dice, uint64_t range)
{
    return request_random(dice->seed, dice->rolls++, 1) % range;
}

#endif
