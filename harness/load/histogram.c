#include "harness/load/histogram.h"

#include <assert.h>
#include <string.h>

static_assert(HISTOGRAM_VALUE_US_MAX < (HISTOGRAM_HALF * 2u) << 15, "the counters cover the largest value");

void histogram_reset(struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->min_us = UINT64_MAX;
}

size_t histogram_index(uint64_t value_us)
{
    if (value_us < 2u * HISTOGRAM_HALF)
        return (size_t)value_us;
    /* The shift that brings the value into [1024, 2048). */
    unsigned shift = 63u - (unsigned)__builtin_clzll(value_us) - 10u;
    return (size_t)(shift * HISTOGRAM_HALF + (value_us >> shift));
}

static unsigned step_shift(size_t index)
{
    return index < 2u * HISTOGRAM_HALF ? 0u : (unsigned)(index / HISTOGRAM_HALF) - 1u;
}

uint64_t histogram_lowest_us(size_t index)
{
    unsigned shift = step_shift(index);
    return (uint64_t)(index - shift * HISTOGRAM_HALF) << shift;
}

uint64_t histogram_highest_us(size_t index)
{
    return histogram_lowest_us(index) + (1ull << step_shift(index)) - 1u;
}

void histogram_record(struct histogram *histogram, uint64_t value_us)
{
    uint64_t kept = value_us;
    if (kept > HISTOGRAM_VALUE_US_MAX) {
        kept = HISTOGRAM_VALUE_US_MAX;
        histogram->over++;
    }
    size_t index = histogram_index(kept);
    assert(index < HISTOGRAM_COUNTERS);
    histogram->counters[index]++;
    histogram->count++;
    histogram->sum_us += value_us;
    if (value_us < histogram->min_us)
        histogram->min_us = value_us;
    if (value_us > histogram->max_us)
        histogram->max_us = value_us;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (size_t i = 0; i < HISTOGRAM_COUNTERS; i++)
        into->counters[i] += from->counters[i];
    into->count += from->count;
    into->over += from->over;
    into->sum_us += from->sum_us;
    if (from->min_us < into->min_us)
        into->min_us = from->min_us;
    if (from->max_us > into->max_us)
        into->max_us = from->max_us;
}

/* How many of the sorted values lie at or below the percentile: rank 1 is the smallest value. */
static uint64_t percentile_rank(uint64_t count, double percent)
{
    double exact = percent / 100.0 * (double)count;
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact - 1e-9 * exact)
        rank++;
    if (rank < 1)
        rank = 1;
    return rank > count ? count : rank;
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent)
{
    if (histogram->count == 0)
        return 0;
    uint64_t rank = percentile_rank(histogram->count, percent);
    uint64_t seen = 0;
    for (size_t i = 0; i < HISTOGRAM_COUNTERS; i++) {
        seen += histogram->counters[i];
        if (seen >= rank) {
            uint64_t value_us = histogram_highest_us(i);
            return value_us < histogram->max_us ? value_us : histogram->max_us;
        }
    }
    return histogram->max_us;
}

double histogram_mean_us(const struct histogram *histogram)
{
    return histogram->count == 0 ? 0.0 : (double)histogram->sum_us / (double)histogram->count;
}
