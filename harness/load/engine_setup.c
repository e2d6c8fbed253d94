/* Before the first request: memory, limits, signals, and the proof that the target is there. */
#include "harness/load/clock.h"
#include "harness/load/conn_list.h"
#include "harness/load/engine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define READ_BUFFER_BYTES (256u * 1024u)
#define SPARE_DESCRIPTORS 32

static bool fail(char *error, size_t error_bytes, const char *what)
{
    snprintf(error, error_bytes, "%s: %s", what, strerror(errno));
    return false;
}

static bool raise_descriptor_limit(uint64_t connections, char *error, size_t error_bytes)
{
    struct rlimit limit;
    uint64_t wanted = connections + SPARE_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return fail(error, error_bytes, "getrlimit");
    if (limit.rlim_cur >= wanted)
        return true;
    if (limit.rlim_max < wanted) {
        snprintf(error, error_bytes,
                 "%llu connections need %llu open files, the limit is %llu: expected fewer --connections or "
                 "--clients, or a higher ulimit -n",
                 (unsigned long long)connections, (unsigned long long)wanted,
                 (unsigned long long)limit.rlim_max);
        return false;
    }
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 || fail(error, error_bytes, "setrlimit");
}

static bool make_plans(struct engine *engine, const struct target *target, size_t *head_bytes, char *error,
                       size_t error_bytes)
{
    engine->plans = calloc(engine->mix->count, sizeof *engine->plans);
    if (engine->plans == NULL)
        return fail(error, error_bytes, "memory for the requests");
    for (size_t i = 0; i < engine->mix->count; i++) {
        struct wire_plan *plan = &engine->plans[i];
        plan->line = &engine->mix->lines[i];
        if (!target->protocol->plan(plan, &engine->settings, error, error_bytes))
            return false;
        size_t bytes = plan->head_bytes_max + plan->line->body_text.bytes_max;
        if (bytes > *head_bytes)
            *head_bytes = bytes;
    }
    return true;
}

static bool make_connections(struct engine *engine, size_t head_bytes, char *error, size_t error_bytes)
{
    size_t count = (size_t)engine->options->connections;
    engine->conns = calloc(count, sizeof *engine->conns);
    engine->heads = malloc(count * head_bytes);
    engine->env.read_buffer = malloc(READ_BUFFER_BYTES);
    engine->env.read_buffer_bytes = READ_BUFFER_BYTES;
    if (engine->conns == NULL || engine->heads == NULL || engine->env.read_buffer == NULL)
        return fail(error, error_bytes, "memory for the connections");
    engine->conn_count = count;
    for (size_t i = count; i-- > 0;) {
        engine->conns[i].fd = -1;
        engine->conns[i].head = engine->heads + i * head_bytes;
        conn_list_append(&engine->closed, &engine->conns[i]);
    }
    return true;
}

/* SIGINT and SIGTERM become events like any other. */
static bool make_event_sources(struct engine *engine, char *error, size_t error_bytes)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0)
        return fail(error, error_bytes, "sigprocmask");
    engine->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    engine->env.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (engine->signal_fd < 0 || engine->env.epoll_fd < 0)
        return fail(error, error_bytes, "epoll_create1 or signalfd");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll_ctl(engine->env.epoll_fd, EPOLL_CTL_ADD, engine->signal_fd, &event) != 0)
        return fail(error, error_bytes, "epoll_ctl");
    prctl(PR_SET_TIMERSLACK,
          1); /* due times to the microsecond, not to the 50 us the kernel would allow itself */
    return true;
}

/* The connection of the probe becomes the first request's: the target sees no connection without a request.
 */
static bool reach_target(struct engine *engine, const struct target *target, char *error, size_t error_bytes)
{
    int timeout_ms = (int)(engine->options->timeout_ns / NS_PER_MS);
    int fd = target_probe(target, timeout_ms, error, error_bytes);
    if (fd == TARGET_BUSY)
        return true; /* it is there, and has a lot to do */
    if (fd < 0)
        return false;
    if (engine->options->slow == SLOW_NO_READ) {
        close(fd); /* the real ones get a small receive buffer before they connect */
        return true;
    }
    struct conn *conn = conn_list_take_last(&engine->closed);
    conn_list_append(&engine->idle, conn);
    return conn_adopt(&engine->env, conn, fd) || fail(error, error_bytes, "epoll_ctl");
}

bool engine_open(struct engine *engine, const struct options *options, const struct mix *mix,
                 const struct target *target, struct observer *observer, char *error, size_t error_bytes)
{
    size_t head_bytes = 64;
    *engine = (struct engine){.options = options, .mix = mix, .observer = observer, .signal_fd = -1};
    engine->settings = (struct wire_settings){.root = options->root ? options->root : "",
                                              .host = target->host,
                                              .seed = options->seed,
                                              .keep_alive = options->keep_alive};
    engine->env = (struct conn_env){
        .target = target, .settings = &engine->settings, .slow = options->slow, .epoll_fd = -1};
    engine->realtime_offset_ns = clock_read_ns(CLOCK_REALTIME) - clock_now_ns();
    if (!account_open(&engine->account, mix->count))
        return fail(error, error_bytes, "memory for the account");
    return raise_descriptor_limit(options->connections, error, error_bytes) &&
           make_plans(engine, target, &head_bytes, error, error_bytes) &&
           make_connections(engine, head_bytes, error, error_bytes) &&
           make_event_sources(engine, error, error_bytes) && reach_target(engine, target, error, error_bytes);
}

void wire_plan_free(struct wire_plan *plan)
{
    free(plan->fixed);
    for (size_t i = 0; i < MIX_HEADERS_MAX; i++)
        free(plan->header_names[i]);
}

void engine_close(struct engine *engine)
{
    for (size_t i = 0; i < engine->conn_count; i++)
        conn_close(&engine->conns[i]);
    for (size_t i = 0; engine->plans != NULL && i < engine->mix->count; i++)
        wire_plan_free(&engine->plans[i]);
    if (engine->signal_fd >= 0)
        close(engine->signal_fd);
    if (engine->env.epoll_fd >= 0)
        close(engine->env.epoll_fd);
    free(engine->plans);
    free(engine->conns);
    free(engine->heads);
    free(engine->env.read_buffer);
    account_close(&engine->account);
}
