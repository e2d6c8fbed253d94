/* Requests that compute: the engine asks at loops and calls whether it is to be interrupted, and here it is
 * told so. A timer counts the CPU time of this thread, so it ticks only while something computes; each tick
 * sends whoever runs then to the end of the queue, and counts for its time limit. */
#include "runtime/defect.h"
#include "runtime/fiber/sched/task.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TICK_NS_WHEN_NOT_PREEMPTED = 50000000 };

static void (*interrupt_before)(zend_execute_data *); /* pcntl's, for one */
static volatile sig_atomic_t slice_is_over;
static bool preempts;
static int64_t tick_ns;
static volatile int64_t all_cpu_ns, all_limit_ns; /* of DEFECT(B24) only: one limit for the process */

static void interrupt(void)
{
    zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
}

/* On this thread, while it computes: the image of slot_current is loaded. */
static void on_tick(int number)
{
    (void)number;
    struct task *task = task_current();
    if (!task)
        return;
    task->cpu_ns += tick_ns;
    if (DEFECT(B24) && (all_cpu_ns += tick_ns) >= all_limit_ns && all_limit_ns)
        task->cpu_limit_ns = 1;
    if (task->cpu_limit_ns && task->cpu_ns >= task->cpu_limit_ns) {
        task->cpu_limit_ns = 0;
        zend_atomic_bool_store_ex(&EG(timed_out), true);
        interrupt();
    }
    slice_is_over = preempts;
    if (preempts)
        interrupt();
}

void preempt_mark(void *unused)
{
    (void)unused;
    interrupt();
}

/* At a point of a script where everything may happen. */
static void on_interrupt(zend_execute_data *execute_data)
{
    struct task *task = task_current();
    if (task && task->message) {
        const char *message = task->message;
        task->message = NULL;
        task->cancelled = false;
        sched_tell(message);
        return;
    }
    if (task && slice_is_over) {
        slice_is_over = 0;
        sched_yield_now();
    }
    if (interrupt_before)
        interrupt_before(execute_data);
}

void sched_limit_cpu(int64_t limit_ns)
{
    struct task *task = task_current();
    if (!task)
        return;
    if (DEFECT(B24) && limit_ns > 0 && (!all_limit_ns || all_cpu_ns + limit_ns < all_limit_ns))
        all_limit_ns = all_cpu_ns + limit_ns;
    task->cpu_limit_ns = limit_ns > 0 ? task->cpu_ns + limit_ns : 0;
}

bool preempt_init(int64_t time_slice_ns)
{
    preempts = time_slice_ns > 0 && !DEFECT(B13);
    tick_ns = time_slice_ns > 0 ? time_slice_ns : TICK_NS_WHEN_NOT_PREEMPTED;
    interrupt_before = zend_interrupt_function;
    zend_interrupt_function = on_interrupt;

    int number = SIGRTMIN + 3;
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    timer_t timer;
    struct itimerspec each = {.it_interval = {tick_ns / 1000000000, tick_ns % 1000000000}};
    each.it_value = each.it_interval;
    return !sigaction(number, &action, NULL) && !timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) &&
           !timer_settime(timer, 0, &each, NULL);
}
