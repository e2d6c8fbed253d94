#include "harness/load/engine.h"

#include "harness/load/clock.h"
#include "harness/load/conn_list.h"

#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EVENTS_MAX 256
#define STARTS_MAX 1024 /* at a time: then answers, deadlines and signals have their turn */
#define COOLING_NS (10 * NS_PER_MS)
#define STALLED_BODY_BYTES 65536u

static size_t line_of(const struct engine *engine, const struct conn *conn)
{
    return (size_t)(conn->request.plan - engine->plans);
}

/*
 * Where the connection waits for its next request. In the closed loop a client that got no byte back waits a
 * moment, or a target that is down would be asked 100,000 times a second.
 */
static void shelve(struct engine *engine, struct conn *conn, uint64_t now_ns)
{
    bool silent = conn->verdict.outcome != OUTCOME_ANSWERED && conn->decoder.offset == 0;
    if (silent && engine->options->rate_millihertz == 0) {
        conn->until_ns = now_ns + COOLING_NS;
        conn_list_append(&engine->cooling, conn);
    } else {
        conn_list_append(conn->state == CONN_IDLE ? &engine->idle : &engine->closed, conn);
    }
}

static uint64_t request_ended(struct engine *engine, struct conn *conn)
{
    uint64_t now_ns = clock_now_ns();
    size_t line = line_of(engine, conn);
    conn_list_remove(&engine->flying, conn);
    if (conn->verdict.outcome == OUTCOME_ANSWERED) {
        account_answered(&engine->account, line, (now_ns - conn->intended_ns + NS_PER_US / 2) / NS_PER_US);
        engine->last_answered_ns = now_ns;
    } else {
        account_failed(&engine->account, line, conn->verdict.outcome, conn->verdict.reason);
        engine->observer->failed(engine->observer, engine, conn, now_ns);
    }
    shelve(engine, conn, now_ns);
    return now_ns;
}

static void request_body(struct engine *engine, struct request *request, unsigned char *room)
{
    static const unsigned char stalled[STALLED_BODY_BYTES];
    const struct mix_line *line = request->plan->line;
    request->body = line->body;
    request->body_bytes = line->body_bytes;
    if (line->body_text.count > 0) {
        struct template_values values = {engine->options->seed, request->number, request->marker};
        char *end = template_expand(&line->body_text, &values, (char *)room);
        request->body = room;
        request->body_bytes = (uint64_t)((unsigned char *)end - room);
    }
    if (engine->options->slow == SLOW_STALLED_BODY && request->body_bytes == 0) {
        request->body = stalled;
        request->body_bytes = STALLED_BODY_BYTES;
    }
}

static void request_begin(struct engine *engine, struct conn *conn, uint64_t now_ns)
{
    struct request *request = &conn->request;
    uint64_t seed = engine->options->seed;
    request->number = schedule_take(&engine->schedule, now_ns, &conn->intended_ns);
    const struct mix_line *line = mix_choose(engine->mix, seed, request->number);
    request->plan = &engine->plans[line - engine->mix->lines];
    marker_write(request->marker, seed, request->number);
    request_body(engine, request, conn->head + request->plan->head_bytes_max);
    conn->started_ns = now_ns;
    conn->until_ns = now_ns + engine->options->timeout_ns;
    account_sent(&engine->account, line_of(engine, conn));
    conn_list_append(&engine->flying, conn);
    if (!conn_start(&engine->env, conn))
        request_ended(engine, conn);
}

static struct conn *free_connection(struct engine *engine)
{
    struct conn *conn = conn_list_take_last(&engine->idle);
    return conn != NULL ? conn : conn_list_take_last(&engine->closed);
}

static void start_due(struct engine *engine)
{
    for (int started = 0; started < STARTS_MAX; started++) {
        uint64_t now_ns = clock_now_ns();
        if (engine->draining || !schedule_due(&engine->schedule, now_ns))
            return;
        struct conn *conn = free_connection(engine);
        if (conn == NULL)
            return;
        request_begin(engine, conn, now_ns);
    }
}

static void expire(struct engine *engine, uint64_t now_ns)
{
    struct conn *conn;
    while ((conn = engine->flying.first) != NULL && conn->until_ns <= now_ns) {
        conn_timeout(&engine->env, conn);
        request_ended(engine, conn);
    }
    while ((conn = engine->cooling.first) != NULL && conn->until_ns <= now_ns) {
        conn_list_remove(&engine->cooling, conn);
        conn_list_append(&engine->closed, conn);
    }
}

static void pace(struct engine *engine, uint64_t now_ns)
{
    if (engine->options->slow != SLOW_HEADER_BYTES || now_ns < engine->next_pace_ns)
        return;
    engine->next_pace_ns = now_ns + engine->options->pace_ns;
    for (struct conn *conn = engine->flying.first, *next; conn != NULL; conn = next) {
        next = conn->next;
        if (conn_pace(&engine->env, conn))
            request_ended(engine, conn);
    }
}

static void live(struct engine *engine, uint64_t now_ns)
{
    if (now_ns < engine->next_live_ns)
        return;
    engine->observer->second(engine->observer, engine, now_ns);
    histogram_reset(&engine->account.second);
    while (engine->next_live_ns <= now_ns)
        engine->next_live_ns += NS_PER_S;
}

static void stop_sending(struct engine *engine, uint64_t now_ns)
{
    if (engine->draining)
        return;
    engine->draining = true;
    engine->stopped_ns = now_ns;
    engine->unsent = schedule_backlog(&engine->schedule, now_ns);
    if (engine->unsent > 0)
        engine->behind_end_ns = now_ns - schedule_next_ns(&engine->schedule);
}

static void signalled(struct engine *engine)
{
    struct signalfd_siginfo info;
    while (read(engine->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        engine->end = engine->end == END_FINISHED ? END_INTERRUPTED : END_ABORTED;
        stop_sending(engine, clock_now_ns());
    }
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_wake_ns(const struct engine *engine)
{
    uint64_t wake_ns = engine->next_live_ns;
    bool can_send = engine->idle.last != NULL || engine->closed.last != NULL;
    if (!engine->draining) {
        wake_ns = earlier(wake_ns, engine->schedule.end_ns);
        if (can_send)
            wake_ns = earlier(wake_ns, schedule_next_ns(&engine->schedule));
    }
    if (engine->flying.first != NULL)
        wake_ns = earlier(wake_ns, engine->flying.first->until_ns);
    if (engine->cooling.first != NULL)
        wake_ns = earlier(wake_ns, engine->cooling.first->until_ns);
    if (engine->options->slow == SLOW_HEADER_BYTES)
        wake_ns = earlier(wake_ns, engine->next_pace_ns);
    return wake_ns;
}

/* Waits with the resolution of a nanosecond where the kernel offers it (Linux 5.11), else of a millisecond.
 */
static int wait_events(const struct engine *engine, struct epoll_event *events)
{
    static bool no_pwait2;
    uint64_t now_ns = clock_now_ns();
    uint64_t wake_ns = next_wake_ns(engine);
    uint64_t wait_ns = wake_ns > now_ns ? wake_ns - now_ns : 0;
    int epoll_fd = engine->env.epoll_fd;
    if (!no_pwait2) {
        struct timespec timeout = {(time_t)(wait_ns / NS_PER_S), (long)(wait_ns % NS_PER_S)};
        int count = epoll_pwait2(epoll_fd, events, EVENTS_MAX, &timeout, NULL);
        if (count >= 0 || errno != ENOSYS)
            return count;
        no_pwait2 = true;
    }
    return epoll_wait(epoll_fd, events, EVENTS_MAX, (int)(wait_ns / NS_PER_MS));
}

/* An idle connection that turned out to be closed changes its list. */
static void reshelve_idle(struct engine *engine, struct conn *conn)
{
    if (conn->state != CONN_CLOSED)
        return;
    conn_list_remove(&engine->idle, conn);
    conn_list_append(&engine->closed, conn);
}

/*
 * The next request follows on the same connection at once: the target works on it while the other events of
 * this round are handled. (On other connections it must wait for the end of the round, in case one of these
 * events says that they have been closed.)
 */
static void go_on(struct engine *engine, struct conn *conn, uint64_t now_ns)
{
    if (conn->state != CONN_IDLE || engine->draining || !schedule_due(&engine->schedule, now_ns))
        return;
    conn_list_remove(&engine->idle, conn);
    request_begin(engine, conn, now_ns);
}

static void handle(struct engine *engine, const struct epoll_event *event)
{
    struct conn *conn = event->data.ptr;
    if (conn == NULL) {
        signalled(engine);
        return;
    }
    bool was_idle = conn->state == CONN_IDLE;
    if (conn_event(&engine->env, conn, event->events))
        go_on(engine, conn, request_ended(engine, conn));
    else if (was_idle)
        reshelve_idle(engine, conn);
}

static bool over(const struct engine *engine, uint64_t now_ns)
{
    return now_ns >= engine->schedule.end_ns || engine->schedule.next >= engine->schedule.total;
}

void engine_run(struct engine *engine)
{
    const struct options *options = engine->options;
    struct epoll_event events[EVENTS_MAX];
    uint64_t now_ns = clock_now_ns();
    schedule_begin(&engine->schedule, now_ns, options->rate_millihertz, options->duration_ns,
                   options->requests);
    engine->next_live_ns = now_ns + NS_PER_S;
    engine->next_pace_ns = now_ns;
    engine->last_answered_ns = now_ns;
    for (;;) {
        start_due(engine);
        now_ns = clock_now_ns();
        expire(engine, now_ns);
        pace(engine, now_ns);
        live(engine, now_ns);
        if (over(engine, now_ns))
            stop_sending(engine, now_ns);
        if (engine->end == END_ABORTED || (engine->draining && engine->flying.first == NULL))
            break;
        int count = wait_events(engine, events);
        for (int i = 0; i < count; i++)
            handle(engine, &events[i]);
    }
    engine->observer->second(engine->observer, engine, clock_now_ns());
    assert(engine->end == END_ABORTED || engine->account.in_flight == 0);
}
