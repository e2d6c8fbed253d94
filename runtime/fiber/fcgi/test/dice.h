/* Random numbers for the tests: from ORDEAL_SEED, or a fixed seed; printed, so that a failure can be run
 * again. */
#ifndef ORDEAL_FIBER_FCGI_TEST_DICE_H
#define ORDEAL_FIBER_FCGI_TEST_DICE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_seed(void)
{
    const char *text = getenv("ORDEAL_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : 42;
    printf("ORDEAL_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* 0 .. below - 1 (splitmix64). */
static inline uint64_t dice_roll(struct dice *dice, uint64_t below)
{
    uint64_t z = dice->state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (z ^ (z >> 31)) % below;
}

static inline bool dice_chance(struct dice *dice, unsigned percent)
{
    return dice_roll(dice, 100) < percent;
}

#endif
