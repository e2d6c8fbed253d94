/* The word that was probably meant: the candidate with the fewest typing errors.
 *
 *     struct nearest near = nearest_to(span_of("flokc"));
 *     for (int i = 0; i < HOOK_COUNT; i++)
 *         nearest_offer(&near, hook_table[i].name);
 *     near.best                      // "flock"; NULL when nothing is close
 */
#ifndef ORDEAL_RULE_NEAREST_H
#define ORDEAL_RULE_NEAREST_H

#include "fault-inject/rule/span.h"

enum { NEAREST_WORD_MAX = 40 };

struct nearest {
    struct span wanted;
    const char *best;
    size_t distance; /* of best; to begin with, one more than is still close */
};

struct nearest nearest_to(struct span wanted);
void nearest_offer(struct nearest *near, const char *candidate);

#endif
