/* One request with its answer: between a connection, from which it comes, and a slot, in which it runs.
 *
 * An exchange may outlive its connection: after fastcgi_finish_request(), and when the client has gone. Then
 * `conn` is NULL and its output goes nowhere. */
#ifndef ORDEAL_FIBER_WORKER_EXCHANGE_H
#define ORDEAL_FIBER_WORKER_EXCHANGE_H

#include "runtime/fiber/fcgi/fcgi.h"
#include "runtime/fiber/sapi/request.h"
#include "runtime/fiber/sched/sched.h"

struct connection;
struct slot;
struct worker;

/* What the request waits for, of its client; other waits are the scheduler's. */
enum exchange_wait { WAIT_NONE, WAIT_BODY, WAIT_ROOM };

struct exchange {
    struct request request; /* first: request_transport gets this */
    struct worker *worker;
    struct connection *conn;
    struct slot *slot;                /* NULL: does not run yet */
    struct exchange *next, *previous; /* in the queue, or among those in flight */
    uint16_t id;
    bool keep;
    bool queued;
    bool params_ended, body_ended;
    bool client_gone;   /* or it has sent ABORT_REQUEST */
    bool touched;       /* something of the answer was put out */
    bool cut;           /* not all of it could be: its connection is closed without END_REQUEST */
    bool body_given_up; /* nobody waits any more for the rest of the body */
    bool answering;     /* by exchange_answer(): it is not freed when its client is lost */

    struct fcgi_buffer body;  /* received, not used yet */
    struct fcgi_buffer piece; /* of stdout, not in a record yet */
    size_t discarded_bytes;

    enum exchange_wait waits_for;
    struct sched_wait wait;

    struct sched_timer terminate, slow; /* request_terminate_timeout, request_slowlog_timeout */

    char *access_line; /* written when the request has ended */
};

extern const struct request_transport exchange_transport;

/* NULL: no memory. */
struct exchange *exchange_new(struct connection *conn, uint16_t id, bool keep);
void exchange_free(struct exchange *exchange);

/* Enough has come to let it run. */
bool exchange_is_ready(const struct exchange *exchange);

/* The connection is no more: the exchange goes on without it, until it notices. */
void exchange_lose_client(struct exchange *exchange);

/* The client has sent ABORT_REQUEST: the same, and the connection gets its END_REQUEST in the end. */
void exchange_abort(struct exchange *exchange);

/* More of the body is there, or room for output: lets it go on if it waits for that. */
void exchange_wake(struct exchange *exchange, enum exchange_wait what);

/* Puts a whole answer that needs no PHP (ping, status), and ends it. In the loop. */
void exchange_answer(struct exchange *exchange, const char *head, size_t head_count, const char *body,
                     size_t body_count);

/* No answer at all: the connection is closed without END_REQUEST. In the loop. */
void exchange_fail(struct exchange *exchange);

static inline struct exchange *exchange_of(struct request *request)
{
    return (struct exchange *)request;
}

#endif
