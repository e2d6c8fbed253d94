/* What a rule does when it fires, in this order: mark, wake, pause, delay, signal, exit, die, then the
 * outcome of the call itself. Each is logged before it is done, since some of them do not return. */
#include "fault-inject/shim/raw.h"
#include "fault-inject/shim/shim.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

/* A handler that runs now, or during a wait, runs the target's code: its calls are looked at like any other.
 */
static void let_hooks_in(void)
{
    self.in_hook--;
}

static void shut_hooks_out(void)
{
    self.in_hook++;
}

static int64_t monotonic_ns(void)
{
    struct timespec now;
    raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void do_delay(int64_t delay_ns)
{
    struct timespec left = {.tv_sec = delay_ns / 1000000000, .tv_nsec = delay_ns % 1000000000};
    let_hooks_in();
    while (raw_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &left, &left) == -EINTR)
        ;
    shut_hooks_out();
}

static bool take_token(struct control_rendezvous *point)
{
    uint32_t tokens = atomic_load(&point->tokens);
    while (tokens > 0)
        if (atomic_compare_exchange_weak(&point->tokens, &tokens, tokens - 1))
            return true;
    return false;
}

static void futex_wake_all(_Atomic uint32_t *word)
{
    raw_syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
}

/* Waits for a token until the timeout; false when there came none. */
static bool wait_for_token(struct control_rendezvous *point, uint64_t timeout_ns)
{
    int64_t deadline_ns = monotonic_ns() + (int64_t)timeout_ns;
    while (!take_token(point)) {
        int64_t left_ns = deadline_ns - monotonic_ns();
        if (left_ns <= 0)
            return false;
        struct timespec timeout = {.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
        raw_syscall(SYS_futex, &point->tokens, FUTEX_WAIT, 0, &timeout, 0, 0);
    }
    return true;
}

static void do_pause(const struct shim_effect *effect)
{
    if (effect->pause_point < 0 || effect->pause_point >= CONTROL_RENDEZVOUS_MAX)
        return;
    struct control_rendezvous *point = &CONTROL->rendezvous[effect->pause_point];
    atomic_fetch_add(&point->waiting, 1);
    atomic_fetch_add(&point->arrivals, 1);
    futex_wake_all(&point->waiting); /* `ordeal ctl wait-paused` */
    let_hooks_in();
    bool woken = wait_for_token(point, effect->pause_timeout_ns);
    shut_hooks_out();
    atomic_fetch_sub(&point->waiting, 1);
    if (!woken && effect->pause_timeouts != NULL)
        atomic_fetch_add(effect->pause_timeouts, 1);
}

static void do_wake(int index)
{
    if (index < 0 || index >= CONTROL_RENDEZVOUS_MAX)
        return;
    atomic_fetch_add(&CONTROL->rendezvous[index].tokens, 1);
    futex_wake_all(&CONTROL->rendezvous[index].tokens);
}

HIDDEN void shim_reach_mark(int index)
{
    if (index >= 0 && index < CONTROL_MARKS_MAX)
        atomic_fetch_add(&CONTROL->marks[index].hits, 1);
}

static void do_signal(int signal_number)
{
    let_hooks_in();
    raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal_number);
    shut_hooks_out();
}

/* SIGKILL does not wait for the thread to leave the kernel, so this does. */
static void do_die(void)
{
    raw_syscall(SYS_kill, raw_syscall(SYS_getpid), SIGKILL);
    for (;;)
        raw_syscall(SYS_sched_yield);
}

static uint64_t argument_of(uint32_t action, const struct shim_effect *effect)
{
    switch (action) {
    case THEN_SHORT:
        return effect->short_bytes;
    case THEN_DELAY:
        return (uint64_t)effect->delay_ns;
    case THEN_SKEW:
        return (uint64_t)effect->skew_ns;
    case THEN_EXIT:
        return (uint64_t)effect->exit_status;
    case THEN_SIGNAL:
        return (uint64_t)effect->signal_number;
    case THEN_PAUSE:
        return (uint64_t)effect->pause_point;
    case THEN_WAKE:
        return (uint64_t)effect->wake_point;
    case THEN_MARK:
        return (uint64_t)effect->mark;
    default:
        return 0;
    }
}

static void do_action(uint32_t action, struct shim_call *call, const struct shim_effect *effect)
{
    switch (action) {
    case THEN_MARK:
        shim_reach_mark(effect->mark);
        break;
    case THEN_WAKE:
        do_wake(effect->wake_point);
        break;
    case THEN_PAUSE:
        do_pause(effect);
        break;
    case THEN_DELAY:
        do_delay(effect->delay_ns);
        break;
    case THEN_SIGNAL:
        do_signal(effect->signal_number);
        break;
    case THEN_EXIT:
        raw_syscall(SYS_exit_group, effect->exit_status);
        break;
    case THEN_DIE:
        do_die();
        break;
    case THEN_ERRNO:
        call->fail = true;
        call->err = effect->err;
        break;
    case THEN_DROP:
        call->drop = true;
        break;
    case THEN_SHORT:
        call->short_bytes = effect->short_bytes;
        break;
    case THEN_SKEW:
        call->skew_ns += effect->skew_ns;
        break;
    default:
        break;
    }
}

/* The outcome is decided once: by the first rule that decides it. */
#define OUTCOMES ((uint32_t)(THEN_ERRNO | THEN_DROP | THEN_SHORT))

static const uint32_t order[] = {THEN_MARK, THEN_WAKE,  THEN_PAUSE, THEN_DELAY, THEN_SIGNAL, THEN_EXIT,
                                 THEN_DIE,  THEN_ERRNO, THEN_DROP,  THEN_SHORT, THEN_SKEW};

HIDDEN void shim_carry_out(struct shim_call *call, const struct shim_effect *effect)
{
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        uint32_t action = order[i];
        if (!(effect->actions & action))
            continue;
        if ((action & OUTCOMES) && (call->actions & OUTCOMES))
            continue;
        call->actions |= action;
        call->rule = effect->rule;
        call->argument = argument_of(action, effect);
        atomic_fetch_add_explicit(&CONTROL->injected, 1, memory_order_relaxed);
        shim_record_fault(call, action, action == THEN_ERRNO ? effect->err : 0);
        do_action(action, call, effect);
    }
}
