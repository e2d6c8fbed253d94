/* Which request runs next. One thread, one event loop (libevent); a request runs until it waits, ends, or has
 * used up its time slice.
 *
 * A request waits like this, on its own stack:
 *
 *     sched_wait_begin();
 *     sched_watch(fd, POLLIN);                    // any number of descriptors
 *     enum sched_result result = sched_wait_for(timeout_ns);
 *
 * and goes on when a watched descriptor is ready, when the time has come, or when somebody calls sched_wake()
 * with this wait's number. A wake belongs to one wait: one that comes late finds another number, and does
 * nothing. Requests that can go on are run in the order in which they could. */
#ifndef ORDEAL_FIBER_SCHED_H
#define ORDEAL_FIBER_SCHED_H

#include <event2/event.h>

#include <stdbool.h>
#include <stdint.h>

struct slot;

enum { SCHED_FOREVER = -1 };

enum sched_result {
    SCHED_READY, /* a descriptor, or sched_wake() */
    SCHED_TIMEOUT,
    SCHED_CANCELLED /* the request is being ended: what it waits for will not come any more */
};

struct sched_wait {
    struct slot *slot;
    uint64_t number;
};

/* ---- in the loop ---- */

bool sched_init(struct event_base *base, int64_t time_slice_ns); /* slice 0: nobody is preempted */

/* How a request is told that its time is over: `act` is called on its stack, at a point where its script can
 * be interrupted, and is expected not to return to the script. */
void sched_on_terminate(void (*act)(const char *message));

/* Runs body(argument) in the slot, at once. ended(argument, crashed) is called in the loop, after the end. */
void sched_start(struct slot *slot, void (*body)(void *argument), void *argument,
                 void (*ended)(void *argument, bool crashed));

/* The loop, until event_base_loopbreak(). */
void sched_loop(void);

/* From any request, or the loop: the wait is over, if it still is this one. */
void sched_wake(const struct sched_wait *wait);

/* Ends a request, which may wait or compute: every wait of it fails from now on, and at the next point where
 * its script can be interrupted it is told `message`. Its shutdown functions may wait again. Called once more
 * for the same request, it throws the request away where it stands: ended(argument, true) comes next. */
void sched_terminate(struct slot *slot, const char *message);

/* The loop calls `act` at `when_ns` (CLOCK_MONOTONIC) unless the timer is cancelled before. */
struct sched_timer {
    int64_t when_ns;
    void (*act)(struct sched_timer *timer);
    unsigned heap_place; /* 0: not set */
};
bool sched_timer_set(struct sched_timer *timer, int64_t when_ns);
void sched_timer_cancel(struct sched_timer *timer);

/* ---- on a request's stack ---- */

struct sched_wait sched_wait_begin(void);

/* Events as poll(2) has them. False: this descriptor cannot be watched (a plain file: it is always ready). */
bool sched_watch(int fd, short events);

/* The present wait of this request. */
enum sched_result sched_wait_for(int64_t timeout_ns);

/* What has to be undone if the request is thrown away before it pops this, where it is never run again: `act`
 * is called in the loop. The structure may be on the request's stack. */
struct sched_cleanup {
    void (*act)(void *argument);
    void *argument;
    struct sched_cleanup *next;
};
void sched_cleanup_push(struct sched_cleanup *cleanup);
void sched_cleanup_pop(struct sched_cleanup *cleanup);

/* Lets all others run that can. */
void sched_yield_now(void);

/* Runs `work` in a helper thread and waits for its end: for calls that have no descriptor to wait on. */
void sched_offload(void (*work)(void *argument), void *argument);

int64_t sched_now_ns(void);                 /* CLOCK_MONOTONIC */
int64_t sched_after_ns(int64_t timeout_ns); /* so long from now; INT64_MAX when that is beyond it */

/* The request that runs has come to its end, whatever it was told: from here on it may wait again. */
void sched_acknowledge(void);

/* True in a request that is being ended: what would have to wait fails instead. */
bool sched_is_cancelled(void);

/* CPU time after which the request is told that its time is over, as setitimer(ITIMER_PROF) would have it; 0:
 * none. Counted in whole time slices. */
void sched_limit_cpu(int64_t limit_ns);

/* Requests that run or wait now. */
unsigned sched_alive(void);

#endif
