#include "runtime/fiber/sched/sched.h"

#include "runtime/fiber/planted.h"
#include "runtime/fiber/sched/task.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

void (*sched_tell)(const char *message);

static struct event_base *base;
static struct task *first_ready, *last_ready;
static unsigned alive;

enum { TIMER_SLACK_NS = 1000 };

static void be_silent(int severity, const char *text)
{
    (void)severity, (void)text; /* that a plain file cannot be watched is no news */
}

bool sched_init(struct event_base *given, int64_t time_slice_ns)
{
    base = given;
    event_set_log_callback(be_silent);
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
    chaos_init();
    PLANTED(planted_hook_collector());
    return timers_init(base) && offload_init(base) && preempt_init(time_slice_ns);
}

void sched_on_terminate(void (*act)(const char *message))
{
    sched_tell = act;
}

int64_t sched_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

unsigned sched_alive(void)
{
    return alive;
}

/* ---- the run queue ---- */

static void enqueue(struct task *task)
{
    task->queued = true;
    task->next = NULL;
    if (last_ready)
        last_ready->next = task;
    else
        first_ready = task;
    last_ready = task;
}

static struct task *dequeue(void)
{
    struct task *task = first_ready;
    if (!task)
        return NULL;
    first_ready = task->next;
    if (!first_ready)
        last_ready = NULL;
    task->queued = false;
    return task;
}

static void remove_from_queue(struct task *task)
{
    struct task *before = NULL, *at = first_ready;
    while (at && at != task) {
        before = at;
        at = at->next;
    }
    if (!at)
        return;
    if (before)
        before->next = task->next;
    else
        first_ready = task->next;
    if (last_ready == task)
        last_ready = before;
    task->queued = false;
}

void task_ready(struct task *task, enum sched_result result)
{
    task->result = result;
    if (!task->waiting) {
        task->woken = true; /* it has not parked yet */
        return;
    }
    task->waiting = false;
    enqueue(task);
}

static void end(struct task *task, bool crashed)
{
    void (*ended)(void *, bool) = task->ended;
    void *argument = task->argument;
    task->alive = false;
    task->cancelled = task->told = task->to_be_dropped = false;
    task->message = NULL;
    sched_timer_cancel(&task->timer);
    alive--;
    for (struct sched_cleanup *cleanup = crashed ? task->cleanups : NULL; cleanup; cleanup = cleanup->next)
        cleanup->act(cleanup->argument);
    task->cleanups = NULL;
    ended(argument, crashed);
}

static void after_run(struct task *task)
{
    enum slot_state state = slot_state(task->slot);
    if (state == SLOT_DONE || state == SLOT_CRASHED)
        end(task, state == SLOT_CRASHED);
}

static void run(struct task *task)
{
    if (task->message)
        slot_with_image(task->slot, preempt_mark, NULL);
    slot_resume(task->slot);
    after_run(task);
}

void sched_start(struct slot *slot, void (*body)(void *argument), void *argument,
                 void (*ended)(void *argument, bool crashed))
{
    struct task *task = slot->task;
    if (!task && !(task = slot->task = calloc(1, sizeof *task))) {
        slot->state = SLOT_CRASHED;
        ended(argument, true);
        return;
    }
    task->slot = slot;
    task->argument = argument;
    task->ended = ended;
    task->alive = true;
    task->cpu_ns = task->cpu_limit_ns = 0;
    alive++;
    slot_start(slot, body, argument);
    after_run(task);
}

/* Those that are in the queue now; who comes to it meanwhile runs after the loop has looked for events. */
static void run_ready(void)
{
    struct task *last = last_ready;
    for (struct task *task = NULL; task != last && first_ready && !event_base_got_break(base);) {
        task = dequeue();
        run(task);
    }
}

void sched_loop(void)
{
    while (!event_base_got_break(base)) {
        run_ready();
        if (event_base_got_break(base))
            return;
        timers_arm();
        event_base_loop(base, EVLOOP_ONCE | (first_ready ? EVLOOP_NONBLOCK : 0));
    }
}

/* ---- waits ---- */

struct sched_wait sched_wait_begin(void)
{
    struct task *task = task_current();
    task->woken = false;
    return (struct sched_wait){.slot = task->slot, .number = ++task->number};
}

void sched_wake(const struct sched_wait *wait)
{
    struct task *task = wait->slot->task;
    if (!task || !task->alive || task->number != wait->number || task->woken || task->queued) {
        return;
    }
    if (task->waiting || slot_current == task->slot)
        task_ready(task, SCHED_READY);
}

static void on_event(evutil_socket_t fd, short what, void *argument)
{
    (void)fd, (void)what;
    struct task *task = argument;
    if (task->waiting)
        task_ready(task, SCHED_READY);
}

static struct watch *watch_new(struct task *task)
{
    if (DEFECT(B28))
        return malloc(sizeof(struct watch));
    struct watch *watch =
        task->kept_used < WATCHES_KEPT ? &task->kept[task->kept_used] : malloc(sizeof *watch);
    if (watch && task->kept_used < WATCHES_KEPT)
        task->kept_used++;
    return watch;
}

static void watch_free(struct task *task, struct watch *watch)
{
    if (watch < task->kept || watch >= task->kept + WATCHES_KEPT)
        free(watch);
}

bool sched_watch(int fd, short events)
{
    struct task *task = task_current();
    struct watch *watch = watch_new(task);
    if (!watch)
        return false;
    short what = (short)((events & (POLLIN | POLLRDNORM | POLLPRI | POLLRDHUP) ? EV_READ : 0) |
                         (events & (POLLOUT | POLLWRNORM) ? EV_WRITE : 0));
    event_assign(&watch->event, base, fd, what ? what : EV_CLOSED, on_event, task);
    if (event_add(&watch->event, NULL)) {
        watch_free(task, watch);
        return false;
    }
    watch->next = task->watches;
    task->watches = watch;
    return true;
}

static void unwatch(struct task *task)
{
    for (struct watch *watch = task->watches, *next; watch; watch = next) {
        next = watch->next;
        if (DEFECT(B28))
            continue; /* it lives on, and ends a later wait */
        event_del(&watch->event);
        watch_free(task, watch);
    }
    task->watches = NULL;
    task->kept_used = 0;
}

static void on_time(struct sched_timer *timer)
{
    struct task *task = (struct task *)((char *)timer - offsetof(struct task, timer));
    if (task->waiting)
        task_ready(task, SCHED_TIMEOUT);
}

static void park(struct task *task)
{
    int error = errno;
    task->waiting = true;
    PLANTED(planted_before_wait());
    slot_park();
    task->waiting = false;
    PLANTED(planted_after_wait());
    errno = error;
}

static bool set_timeout(struct task *task, int64_t timeout_ns)
{
    if (timeout_ns < 0)
        return true;
    task->timer.act = on_time;
    if (DEFECT(B26))
        timeout_ns -= timeout_ns / 8;
    return sched_timer_set(&task->timer, sched_after_ns(timeout_ns));
}

enum sched_result sched_wait_for(int64_t timeout_ns)
{
    struct task *task = task_current();
    task->result = SCHED_TIMEOUT;
    if (task->woken)
        task->result = SCHED_READY;
    else if (task->cancelled)
        task->result = SCHED_CANCELLED;
    else if (set_timeout(task, timeout_ns))
        park(task);
    sched_timer_cancel(&task->timer);
    unwatch(task);
    task->woken = false;
    task->number++;
    return task->result;
}

void sched_cleanup_push(struct sched_cleanup *cleanup)
{
    struct task *task = task_current();
    cleanup->next = task->cleanups;
    task->cleanups = cleanup;
}

void sched_cleanup_pop(struct sched_cleanup *cleanup)
{
    struct sched_cleanup **at = &task_current()->cleanups;
    while (*at && *at != cleanup)
        at = &(*at)->next;
    if (*at)
        *at = cleanup->next;
}

void sched_yield_now(void)
{
    struct task *task = task_current();
    if (!task)
        return;
    task->number++;
    int error = errno;
    enqueue(task);
    slot_park();
    errno = error;
}

void sched_acknowledge(void)
{
    struct task *task = task_current();
    if (!task)
        return;
    task->message = NULL;
    task->cancelled = false;
}

int64_t sched_after_ns(int64_t timeout_ns)
{
    int64_t now_ns = sched_now_ns();
    return timeout_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + timeout_ns;
}

bool sched_is_cancelled(void)
{
    const struct task *task = task_current();
    return task && task->cancelled;
}

/* ---- the end of a request that does not end by itself ---- */

void task_drop(struct task *task)
{
    if (task->pinned) {
        task->to_be_dropped = true;
        return;
    }
    remove_from_queue(task);
    unwatch(task);
    task->slot->state = SLOT_CRASHED;
    end(task, true);
}

void sched_terminate(struct slot *slot, const char *message)
{
    struct task *task = slot->task;
    if (!task || !task->alive)
        return;
    if (task->told) {
        task_drop(task);
        return;
    }
    task->told = task->cancelled = true;
    task->message = message;
    if (task->waiting && !task->pinned)
        task_ready(task, SCHED_CANCELLED);
}
