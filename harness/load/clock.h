/* The two clocks: CLOCK_MONOTONIC to measure with, CLOCK_REALTIME for what other logs are compared with. */
#ifndef ORDEAL_LOAD_CLOCK_H
#define ORDEAL_LOAD_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull

static inline uint64_t clock_read_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

#endif
