/* Calls that have no descriptor to wait on are made in a helper thread; the loop hears of their end through
 * an eventfd. Threads are started when they are needed, and stay. */
#include "runtime/fiber/sched/task.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { THREADS_MAX = 32, THREAD_STACK_BYTES = 512 << 10 };

struct job {
    struct job *next;
    void (*work)(void *argument);
    void *argument;
    struct task *task;
    bool done;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some_to_do = PTHREAD_COND_INITIALIZER;
static struct job *to_do, **to_do_end = &to_do, *done;
static unsigned threads, idle;
static int done_fd = -1;
static struct event *some_done;

static struct job *next_job(void)
{
    pthread_mutex_lock(&mutex);
    idle++;
    while (!to_do)
        pthread_cond_wait(&some_to_do, &mutex);
    idle--;
    struct job *job = to_do;
    to_do = job->next;
    if (!to_do)
        to_do_end = &to_do;
    pthread_mutex_unlock(&mutex);
    return job;
}

static void *help(void *argument)
{
    (void)argument;
    for (;;) {
        struct job *job = next_job();
        job->work(job->argument);
        pthread_mutex_lock(&mutex);
        job->next = done;
        done = job;
        pthread_mutex_unlock(&mutex);
        uint64_t one = 1;
        if (write(done_fd, &one, sizeof one) < 0)
            continue; /* cannot be full */
    }
    return NULL;
}

/* With all signals blocked: they are the loop's. */
static bool start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    bool started = !pthread_create(&thread, &attributes, help, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static bool hand_over(struct job *job)
{
    pthread_mutex_lock(&mutex);
    bool more = idle == 0 && threads < THREADS_MAX;
    pthread_mutex_unlock(&mutex);
    if (more && start_thread())
        threads++;
    if (!threads)
        return false;
    pthread_mutex_lock(&mutex);
    job->next = NULL;
    *to_do_end = job;
    to_do_end = &job->next;
    pthread_cond_signal(&some_to_do);
    pthread_mutex_unlock(&mutex);
    return true;
}

static void on_done(evutil_socket_t fd, short what, void *argument)
{
    (void)what, (void)argument;
    uint64_t times;
    if (read(fd, &times, sizeof times) < 0)
        return;
    pthread_mutex_lock(&mutex);
    struct job *list = done;
    done = NULL;
    pthread_mutex_unlock(&mutex);
    for (struct job *job = list, *next; job; job = next) {
        next = job->next;
        job->done = true;
        job->task->pinned = false;
        if (job->task->to_be_dropped)
            task_drop(job->task);
        else if (job->task->waiting)
            task_ready(job->task, SCHED_READY);
    }
}

void sched_offload(void (*work)(void *argument), void *argument)
{
    struct task *task = task_current();
    struct job job = {.work = work, .argument = argument, .task = task};
    if (!task || !hand_over(&job)) {
        work(argument);
        return;
    }
    task->pinned = true;
    bool cancelled = task->cancelled;
    task->cancelled = false; /* it cannot be given up half-way */
    while (!job.done) {
        sched_wait_begin();
        sched_wait_for(SCHED_FOREVER);
    }
    task->cancelled |= cancelled;
}

bool offload_init(struct event_base *base)
{
    done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    some_done = done_fd < 0 ? NULL : event_new(base, done_fd, EV_READ | EV_PERSIST, on_done, NULL);
    return some_done && !event_add(some_done, NULL);
}
