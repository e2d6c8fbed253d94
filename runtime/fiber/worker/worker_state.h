/* The state of the worker process: one loop, one listening socket, connections, and requests in flight. */
#ifndef ORDEAL_FIBER_WORKER_STATE_H
#define ORDEAL_FIBER_WORKER_STATE_H

#include "runtime/fiber/sapi/request.h"
#include "runtime/fiber/worker/worker.h"

#include <event2/event.h>

#include <stdatomic.h>

struct connection;
struct exchange;
struct access_log;

struct exchange_list {
    struct exchange *first, *last;
    unsigned count;
};

struct worker {
    const struct worker_settings *settings;
    const struct pool_config *pool;
    struct event_base *base;
    struct request_rules rules;
    struct access_log *access_log; /* NULL: none */
    int slow_log_fd;               /* -1: none */

    int listen_fd; /* -1: accepts no more */
    struct event *acceptable, *accept_again, *sweep, *on_quit, *on_reopen;
    bool accepting;
    bool draining;

    struct connection *connections;
    unsigned connections_count, connections_max;

    struct exchange_list queue;  /* whole, and waiting for a slot */
    struct exchange_list flight; /* in a slot */
    unsigned in_flight_max;      /* the bound */
    bool starting;               /* those in line are being started */

    time_t started_s;
    uint64_t requests, slow_requests;
    unsigned active_max, full_times; /* the most in flight; how often the bound was reached */

    unsigned char scratch[64 << 10]; /* one read(2) */
};

void list_append(struct exchange_list *list, struct exchange *exchange);
void list_remove(struct exchange_list *list, struct exchange *exchange);

/* ---- dispatch.c: from requests to slots ---- */

/* The request can run: in a slot now, or when one is free. */
void worker_dispatch(struct worker *worker, struct exchange *exchange);

/* Its client is gone before it ran. */
void worker_forget(struct worker *worker, struct exchange *exchange);

/* In the loop, after the slot of an exchange has come to its end. */
void dispatch_ended(void *exchange, bool crashed);

/* ---- accept.c ---- */

bool accept_start(struct worker *worker);
void accept_stop(struct worker *worker);   /* for good */
void accept_adjust(struct worker *worker); /* accepts while there is room */

/* ---- worker.c ---- */

void worker_drain(struct worker *worker);

/* Drains, to be replaced: something of a dropped image, such as its descriptors, is still in the process. */
void worker_replace(struct worker *worker);

void worker_end_if_drained(struct worker *worker);
void worker_note_state(struct worker *worker); /* to the scoreboard */
void worker_log(struct worker *worker, const char *level, const char *text);

/* ---- status.c ---- */

/* Answers ping.path and pm.status_path; false: it is neither. */
bool status_answer(struct worker *worker, struct exchange *exchange);

#endif
