/* Times to act, in nanoseconds: a binary heap, and one timerfd for the earliest of them. */
#include "runtime/fiber/sched/task.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

static struct sched_timer **heap; /* from 1 on */
static unsigned count, capacity;
static int timer_fd = -1;
static int64_t armed_ns; /* 0: not */
static struct event *expired;

static void place(unsigned at, struct sched_timer *timer)
{
    heap[at] = timer;
    timer->heap_place = at;
}

static void sift_up(unsigned at, struct sched_timer *timer)
{
    for (; at > 1 && heap[at / 2]->when_ns > timer->when_ns; at /= 2)
        place(at, heap[at / 2]);
    place(at, timer);
}

static void sift_down(unsigned at, struct sched_timer *timer)
{
    for (unsigned child; (child = at * 2) <= count; at = child) {
        if (child < count && heap[child + 1]->when_ns < heap[child]->when_ns)
            child++;
        if (heap[child]->when_ns >= timer->when_ns)
            break;
        place(at, heap[child]);
    }
    place(at, timer);
}

static bool grow(void)
{
    unsigned wanted = capacity ? capacity * 2 : 256;
    struct sched_timer **larger = realloc(heap, (wanted + 1) * sizeof(struct sched_timer *));
    if (!larger)
        return false;
    heap = larger;
    capacity = wanted;
    return true;
}

bool sched_timer_set(struct sched_timer *timer, int64_t when_ns)
{
    sched_timer_cancel(timer);
    if (count == capacity && !grow())
        return false;
    timer->when_ns = when_ns;
    sift_up(++count, timer);
    return true;
}

void sched_timer_cancel(struct sched_timer *timer)
{
    unsigned at = timer->heap_place;
    if (!at)
        return;
    timer->heap_place = 0;
    struct sched_timer *last = heap[count--];
    if (last == timer)
        return;
    if (at > 1 && heap[at / 2]->when_ns > last->when_ns)
        sift_up(at, last);
    else
        sift_down(at, last);
}

static void on_expired(evutil_socket_t fd, short what, void *argument)
{
    (void)what, (void)argument;
    uint64_t times;
    if (read(fd, &times, sizeof times) < 0)
        return; /* it was set anew meanwhile */
    armed_ns = 0;
    int64_t now = sched_now_ns();
    while (count && heap[1]->when_ns <= now) {
        struct sched_timer *timer = heap[1];
        sched_timer_cancel(timer);
        timer->act(timer);
    }
}

void timers_arm(void)
{
    if (!count || heap[1]->when_ns == armed_ns || (armed_ns && armed_ns < heap[1]->when_ns))
        return; /* a timer that comes too early does no harm */
    armed_ns = heap[1]->when_ns;
    int64_t when_ns = armed_ns > 0 ? armed_ns : 1;
    struct itimerspec at = {.it_value = {when_ns / 1000000000, when_ns % 1000000000}};
    timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

bool timers_init(struct event_base *base)
{
    timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    expired = timer_fd < 0 ? NULL : event_new(base, timer_fd, EV_READ | EV_PERSIST, on_expired, NULL);
    return expired && !event_add(expired, NULL);
}
