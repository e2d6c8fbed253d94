/* The scheduler's part of a request. For sched/ only. */
#ifndef ORDEAL_FIBER_SCHED_TASK_H
#define ORDEAL_FIBER_SCHED_TASK_H

#include "runtime/fiber/engine/slot.h"
#include "runtime/fiber/sched/sched.h"

#include <event2/event_struct.h>

struct watch {
    struct event event;
    struct task *task;
    struct watch *next;
};

enum { WATCHES_KEPT = 4 };

struct task {
    struct slot *slot;
    void *argument;
    void (*ended)(void *argument, bool crashed);

    struct task *next; /* in the run queue */
    bool alive, queued;
    bool waiting;    /* parked, and neither woken nor queued yet */
    bool woken;      /* before it parked */
    bool pinned;     /* a helper thread uses its memory */
    uint64_t number; /* of the present wait */
    enum sched_result result;
    struct sched_timer timer;
    struct watch *watches, kept[WATCHES_KEPT];
    unsigned kept_used;

    bool cancelled;     /* waits fail */
    bool told;          /* that it has to end */
    bool to_be_dropped; /* when it is pinned no more */
    const char *message;
    struct sched_cleanup *cleanups;

    volatile int64_t cpu_ns, cpu_limit_ns; /* written by the tick */
};

static inline struct task *task_current(void)
{
    return slot_current ? slot_current->task : NULL;
}

/* The wait is over: it runs when its turn comes. */
void task_ready(struct task *task, enum sched_result result);

/* It is thrown away where it stands; when it is pinned, as soon as it is not. */
void task_drop(struct task *task);

/* ---- timers.c ---- */
bool timers_init(struct event_base *base);
void timers_arm(void); /* before the loop waits */

/* ---- preempt.c ---- */
bool preempt_init(int64_t time_slice_ns);
void preempt_mark(void *unused); /* whose image is loaded is to be interrupted soon */

/* ---- offload.c ---- */
bool offload_init(struct event_base *base);

/* ---- chaos.c ---- */
void chaos_init(void);

extern void (*sched_tell)(const char *message);

#endif
