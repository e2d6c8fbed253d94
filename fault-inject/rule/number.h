/* Numbers as rules write them: counts, sizes (2M), times (5ms), chances (0.01 or 1%).
 *
 * Every function takes the whole span or nothing: false means that the text is not such a number or is out of
 * its range, and *out is untouched. The printing functions give the shortest text that is read back the same.
 */
#ifndef ORDEAL_RULE_NUMBER_H
#define ORDEAL_RULE_NUMBER_H

#include "fault-inject/rule/span.h"

#include <stdint.h>

#define DURATION_NS_MAX (INT64_C(100) * 366 * 86400 * 1000000000) /* 100 years */

enum { NUMBER_TEXT_MAX = 40 };

bool number_count(struct span text, uint64_t *out);        /* "17" */
bool number_size(struct span text, uint64_t *out);         /* "4096", "2M": K, M, G are powers of 1024 */
bool number_duration_ns(struct span text, int64_t *out);   /* "5ms", "1.5s": a unit is needed */
bool number_chance(struct span text, uint64_t *threshold); /* 0…1 or 0%…100%, as p * 2^64, saturating */

void number_print_size(uint64_t size, char out[NUMBER_TEXT_MAX]);
void number_print_duration_ns(int64_t duration_ns, char out[NUMBER_TEXT_MAX]);
void number_print_chance(uint64_t threshold, char out[NUMBER_TEXT_MAX]);

/* The chance as a 64-bit threshold: a uniform draw fires when it is below. */
uint64_t number_chance_threshold(double chance);

#endif
