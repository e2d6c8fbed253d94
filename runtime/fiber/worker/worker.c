#include "runtime/fiber/worker/worker.h"

#include "runtime/defect.h"
#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/sapi/sapi.h"
#include "runtime/fiber/sched/sched.h"
#include "runtime/fiber/seam/seam.h"
#include "runtime/fiber/worker/access_log.h"
#include "runtime/fiber/worker/conn.h"
#include "runtime/fiber/worker/exchange.h"
#include "runtime/fiber/worker/limits.h"
#include "runtime/fiber/worker/time_limits.h"
#include "runtime/fiber/worker/worker_state.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void worker_log(struct worker *worker, const char *level, const char *text)
{
    dprintf(worker->settings->log_fd, "%s: %s\n", level, text);
}

void worker_note_state(struct worker *worker)
{
    struct scoreboard_slot *score = worker->settings->score;
    if (!score)
        return;
    unsigned in_flight = worker->flight.count;
    atomic_store_explicit(&score->state, worker->draining ? WORKER_DRAINING : WORKER_RUNNING,
                          memory_order_relaxed);
    atomic_store_explicit(&score->requests, worker->requests, memory_order_relaxed);
    atomic_store_explicit(&score->slow, worker->slow_requests, memory_order_relaxed);
    atomic_store_explicit(&score->in_flight, in_flight, memory_order_relaxed);
    atomic_store_explicit(&score->in_flight_max, worker->active_max, memory_order_relaxed);
    atomic_store_explicit(&score->queued, worker->queue.count, memory_order_relaxed);
    atomic_store_explicit(&score->bound_reached, worker->full_times, memory_order_relaxed);
}

/* ---- the end ---- */

void worker_end_if_drained(struct worker *worker)
{
    if (worker->draining && !worker->connections && !worker->flight.count && !worker->queue.count)
        event_base_loopbreak(worker->base);
}

/* What is in line or in flight ends as it would have. Kept connections on which nothing happens are closed;
 * those from which a request has still to come get a moment for that. */
void worker_drain(struct worker *worker)
{
    if (worker->draining)
        return;
    worker->draining = true;
    accept_stop(worker);
    for (struct connection *conn = worker->connections, *next; conn; conn = next) {
        next = conn->next;
        conn_close_if_idle(conn);
    }
    worker_note_state(worker);
    worker_end_if_drained(worker);
}

void worker_replace(struct worker *worker)
{
    if (!worker->draining)
        worker_log(worker, "NOTICE",
                   "this worker takes no more requests, and is replaced when those it has end");
    worker_drain(worker);
}

static void on_quit(evutil_socket_t number, short what, void *argument)
{
    (void)number, (void)what;
    if (DEFECT(B2))
        _exit(0); /* with all that it had in flight */
    worker_drain(argument);
}

static void on_reopen(evutil_socket_t number, short what, void *argument)
{
    (void)number, (void)what;
    struct worker *worker = argument;
    if (worker->access_log && !access_log_reopen(worker->access_log))
        worker_log(worker, "ERROR", "the access log cannot be opened again: the old file is written on");
    if (!slow_log_open(worker))
        worker_log(worker, "ERROR", "the slow log cannot be opened again: the old file is written on");
}

/* Once a second. */
static void on_sweep(evutil_socket_t fd, short what, void *argument)
{
    (void)fd, (void)what;
    struct worker *worker = argument;
    int64_t now = sched_now_ns();
    for (struct connection *conn = worker->connections, *next; conn; conn = next) {
        next = conn->next;
        conn_close_if_late(conn, now);
    }
    worker_end_if_drained(worker);
}

/* SIGTERM ends at once, whatever runs: also a request that computes without end. */
static void end_at_once(int number)
{
    (void)number;
    _exit(0);
}

/* ---- the start ---- */

static bool watch_signals(struct worker *worker)
{
    struct sigaction at_once = {.sa_handler = end_at_once}, ignored = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &at_once, NULL);
    sigaction(SIGINT, &at_once, NULL);
    sigaction(SIGPIPE, &ignored, NULL);
    worker->on_quit = evsignal_new(worker->base, SIGQUIT, on_quit, worker);
    worker->on_reopen = evsignal_new(worker->base, SIGUSR1, on_reopen, worker);
    worker->sweep = event_new(worker->base, -1, EV_PERSIST, on_sweep, worker);
    static const struct timeval second = {.tv_sec = 1};
    bool watched = worker->on_quit && worker->on_reopen && worker->sweep &&
                   !event_add(worker->on_quit, NULL) && !event_add(worker->on_reopen, NULL) &&
                   !event_add(worker->sweep, &second);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return watched;
}

/* Half of the descriptors are for the scripts. */
static unsigned connections_bound(unsigned in_flight_max)
{
    unsigned wanted = in_flight_max * 2 + CONNECTIONS_EXTRA;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return wanted;
    if (files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    return files.rlim_cur / 2 < wanted ? (unsigned)(files.rlim_cur / 2) : wanted;
}

static bool open_access_log(struct worker *worker)
{
    const struct pool_config *pool = worker->pool;
    if (!pool->access_log || !*pool->access_log)
        return true;
    const char *problem;
    worker->access_log = access_log_open(pool->access_log, pool->access_format, &problem);
    if (!worker->access_log)
        worker_log(worker, "ERROR", problem);
    return worker->access_log != NULL;
}

/* php_value[] and its relatives; a name that PHP does not know is said, and left out, as php-fpm does. */
static void apply_settings(struct worker *worker)
{
    const struct pool_config *pool = worker->pool;
    for (unsigned i = 0; i < pool->settings_count; i++) {
        const struct php_setting *setting = &pool->settings[i];
        if (sapi_set_value(setting->name, setting->value, setting->admin))
            continue;
        char text[300];
        snprintf(text, sizeof text, "unable to set php setting '%s'", setting->name);
        worker_log(worker, "ERROR", text);
    }
}

static bool disable_calls(struct worker *worker)
{
    const struct pool_config *pool = worker->pool;
    for (unsigned i = 0; i < pool->disable_interceptions_count; i++) {
        if (seam_disable(pool->disable_interceptions[i]))
            continue;
        char text[1200];
        snprintf(text, sizeof text, "fiber.disable_interceptions: no call '%s'; there are: %s",
                 pool->disable_interceptions[i], seam_names());
        worker_log(worker, "ERROR", text);
        return false;
    }
    return true;
}

static bool open_engine(struct worker *worker)
{
    const struct pool_config *pool = worker->pool;
    apply_settings(worker);
    if (!disable_calls(worker))
        return false;
    char problem[ENGINE_PROBLEM_BYTES];
    const struct engine_limits limits = {.stack_size_bytes = pool->stack_size_bytes,
                                         .slots_max = DEFECT(B14) ? UINT_MAX : worker->in_flight_max,
                                         .hot_max = HOT_SLOTS_MAX};
    if (engine_open(&limits, problem))
        return true;
    worker_log(worker, "ERROR", problem);
    return false;
}

static bool set_up(struct worker *worker)
{
    const struct pool_config *pool = worker->pool;
    worker->in_flight_max = pool->max_in_flight;
    worker->rules = (struct request_rules){pool->limit_extensions, pool->limit_extensions_count};
    worker->connections_max = connections_bound(worker->in_flight_max);
    worker->base = event_base_new();
    if (!worker->base || !sched_init(worker->base, pool->time_slice_ms * 1000000))
        return false;
    sched_on_terminate(sapi_terminate);
    if (!slow_log_open(worker))
        worker_log(worker, "ERROR", "the slow log cannot be opened: slow requests are counted only");
    return open_access_log(worker) && open_engine(worker) && watch_signals(worker) && accept_start(worker);
}

int worker_run(const struct worker_settings *settings)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return 1;
    worker->settings = settings;
    worker->pool = settings->pool;
    worker->listen_fd = settings->listen_fd;
    worker->started_s = time(NULL);
    worker->slow_log_fd = -1;
    if (!set_up(worker))
        return 1;
    worker_note_state(worker);
    sched_loop();
    return 0;
}
