/*
 * A high dynamic range histogram: latencies of 1 us to 60 s in 139 KB, each kept to 3 significant digits.
 *
 * The idea (Gil Tene's HdrHistogram): values below 2048 have a counter each. Every further doubling of the
 * value is cut into 1024 equal steps. So a step is never wider than 1/1024 of the values in it, whatever
 * their size, and recording is a shift and an increment.
 *
 *     struct histogram h;
 *     histogram_reset(&h);
 *     histogram_record(&h, 1234567);             a request that took 1.234567 s
 *     histogram_percentile(&h, 99.0);            1235967: the top of its step, capped by the maximum seen
 *
 * Histograms are merged by adding their counters, so one a target (or one a second) costs nothing in the sum.
 */
#ifndef ORDEAL_LOAD_HISTOGRAM_H
#define ORDEAL_LOAD_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_VALUE_US_MAX 60000000u
#define HISTOGRAM_HALF 1024u
#define HISTOGRAM_COUNTERS 17408u

struct histogram {
    uint64_t count;
    uint64_t over; /* values above HISTOGRAM_VALUE_US_MAX: counted as that value */
    uint64_t sum_us;
    uint64_t min_us; /* exact; meaningful when count > 0 */
    uint64_t max_us; /* exact, may be above HISTOGRAM_VALUE_US_MAX */
    uint64_t counters[HISTOGRAM_COUNTERS];
};

void histogram_reset(struct histogram *histogram);
void histogram_record(struct histogram *histogram, uint64_t value_us);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The smallest recorded value (to 3 digits) that at least `percent` of all values do not exceed; 0 if empty.
 */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);
double histogram_mean_us(const struct histogram *histogram);

/* Where a value is counted, and the range of values that are counted there. */
size_t histogram_index(uint64_t value_us);
uint64_t histogram_lowest_us(size_t index);
uint64_t histogram_highest_us(size_t index);

#endif
