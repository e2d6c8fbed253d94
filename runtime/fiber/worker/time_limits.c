#include "runtime/fiber/worker/time_limits.h"

#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/sapi/sapi.h"
#include "runtime/fiber/worker/worker_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { MS_NS = 1000000, LOG_LINE_BYTES = 1024 };

#define EXCHANGE_OF(timer, member)                                                                           \
    ((struct exchange *)(void *)((char *)(timer)-offsetof(struct exchange, member)))

static double seconds_of(const struct exchange *exchange)
{
    return (double)(sched_now_ns() - exchange->request.accepted_ns) / 1e9;
}

static void log_limit(struct exchange *exchange, const char *what, const char *then)
{
    const struct request *request = &exchange->request;
    char text[LOG_LINE_BYTES];
    snprintf(text, sizeof text, "child %d, script '%s' (request: \"%s %s%s%s\") %s (%.6f sec), %s",
             (int)getpid(), request->script ? request->script : "", request->method ? request->method : "",
             request->uri ? request->uri : "", request->query && *request->query ? "?" : "",
             request->query ? request->query : "", what, seconds_of(exchange), then);
    worker_log(exchange->worker, "WARNING", text);
}

static void start_timer(struct sched_timer *timer, int64_t limit_ms, void (*act)(struct sched_timer *))
{
    timer->act = act;
    if (limit_ms > 0)
        sched_timer_set(timer, sched_now_ns() + limit_ms * MS_NS);
}

static void on_terminate(struct sched_timer *timer)
{
    struct exchange *exchange = EXCHANGE_OF(timer, terminate);
    bool again = exchange->request.timed_out;
    log_limit(exchange, "execution timed out", again ? "and it did not end: it is dropped" : "terminating");
    exchange->request.timed_out = true;
    start_timer(timer, exchange->worker->pool->request_terminate_timeout_ms, on_terminate);
    sched_terminate(exchange->slot, "the time of this request is over (request_terminate_timeout)");
}

/* ---- the slow log ---- */

bool slow_log_open(struct worker *worker)
{
    const char *path = worker->pool->slowlog;
    if (!path)
        return true;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    if (worker->slow_log_fd >= 0)
        close(worker->slow_log_fd);
    worker->slow_log_fd = fd;
    return true;
}

static void write_trace(void *argument)
{
    struct exchange *exchange = argument;
    const struct worker *worker = exchange->worker;
    char text[SAPI_TRACE_BYTES], day[40];
    time_t now = time(NULL);
    struct tm parts;
    localtime_r(&now, &parts);
    strftime(day, sizeof day, "%d-%b-%Y %H:%M:%S", &parts);
    size_t length = sapi_trace(text, sizeof text);
    dprintf(worker->slow_log_fd, "\n[%s]  [pool %s] pid %d\nscript_filename = %s\n%.*s", day,
            worker->pool->name, (int)getpid(), exchange->request.script ? exchange->request.script : "",
            (int)length, text);
}

static void on_slow(struct sched_timer *timer)
{
    struct exchange *exchange = EXCHANGE_OF(timer, slow);
    struct worker *worker = exchange->worker;
    worker->slow_requests++;
    worker_note_state(worker);
    log_limit(exchange, "executing too slow", "logging");
    if (worker->slow_log_fd >= 0)
        slot_with_image(exchange->slot, write_trace, exchange);
}

void time_limits_start(struct exchange *exchange)
{
    const struct pool_config *pool = exchange->worker->pool;
    start_timer(&exchange->terminate, pool->request_terminate_timeout_ms, on_terminate);
    start_timer(&exchange->slow, pool->request_slowlog_timeout_ms, on_slow);
}

void time_limits_stop(struct exchange *exchange)
{
    sched_timer_cancel(&exchange->terminate);
    sched_timer_cancel(&exchange->slow);
}
