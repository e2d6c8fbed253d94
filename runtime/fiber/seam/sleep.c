/* Calls that let time pass. */
#include "runtime/fiber/seam/seam.h"

#include "runtime/fiber/sched/sched.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

int64_t seam_ns_of(const struct timespec *time)
{
    if (time->tv_sec > INT64_MAX / SEAM_S_NS - 1)
        return INT64_MAX;
    return (int64_t)time->tv_sec * SEAM_S_NS + time->tv_nsec;
}

int64_t seam_longer_ns(int64_t ns, int64_t ns_max)
{
    return ns * 2 < ns_max ? ns * 2 : ns_max;
}

bool seam_sleep_ns(int64_t duration_ns)
{
    sched_wait_begin();
    return sched_wait_for(duration_ns > 0 ? duration_ns : 0) == SCHED_TIMEOUT;
}

static bool is_time(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SEAM_S_NS;
}

int usleep(useconds_t us)
{
    if (!SEAM_TAKES(usleep))
        return REAL(usleep)(us);
    if (seam_sleep_ns((int64_t)us * 1000))
        return 0;
    errno = EINTR;
    return -1;
}

unsigned sleep(unsigned seconds)
{
    if (!SEAM_TAKES(sleep))
        return REAL(sleep)(seconds);
    int64_t end_ns = sched_now_ns() + (int64_t)seconds * SEAM_S_NS;
    if (seam_sleep_ns((int64_t)seconds * SEAM_S_NS))
        return 0;
    int64_t left_ns = end_ns - sched_now_ns();
    return left_ns > 0 ? (unsigned)((left_ns + SEAM_S_NS - 1) / SEAM_S_NS) : 0;
}

/* The rest that is left after the request was told to end. */
static int interrupted(int64_t end_ns, struct timespec *left)
{
    int64_t left_ns = end_ns - sched_now_ns();
    if (left)
        *left =
            left_ns > 0 ? (struct timespec){left_ns / SEAM_S_NS, left_ns % SEAM_S_NS} : (struct timespec){0};
    errno = EINTR;
    return -1;
}

int nanosleep(const struct timespec *duration, struct timespec *left)
{
    if (!SEAM_TAKES(nanosleep) || !is_time(duration))
        return REAL(nanosleep)(duration, left);
    int64_t end_ns = sched_after_ns(seam_ns_of(duration));
    return seam_sleep_ns(seam_ns_of(duration)) ? 0 : interrupted(end_ns, left);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    if (!SEAM_TAKES(clock_nanosleep) || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) ||
        !is_time(time))
        return REAL(clock_nanosleep)(clock, flags, time, left);
    int64_t duration_ns = seam_ns_of(time);
    if (flags & TIMER_ABSTIME) {
        struct timespec now;
        clock_gettime(clock, &now);
        duration_ns -= seam_ns_of(&now);
    }
    if (duration_ns <= 0 || seam_sleep_ns(duration_ns))
        return 0;
    interrupted(sched_now_ns(), left);
    return EINTR;
}
