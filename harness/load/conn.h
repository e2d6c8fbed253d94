/*
 * One connection to the target, and the request that is on it.
 *
 *     closed --start--> connecting --> active --answered, keep-alive--> idle --start--> active ...
 *                                        \--anything else--> closed
 *
 * Nothing here blocks or waits: the engine calls when the socket has something to say (conn_event), when the
 * time is up (conn_timeout), or when a slow client's next byte is due (conn_pace). Each of these, and
 * conn_start, says whether the request has ended; then conn->verdict tells how.
 *
 * The epoll set is edge triggered and a connection is put into it once; writability is asked for only when a
 * write has stopped half way. A small request on a kept-alive connection so costs one send and one recv.
 */
#ifndef ORDEAL_LOAD_CONN_H
#define ORDEAL_LOAD_CONN_H

#include "harness/load/judge.h"
#include "harness/load/options.h"
#include "harness/load/target.h"

enum conn_state { CONN_CLOSED, CONN_IDLE, CONN_CONNECTING, CONN_ACTIVE };

struct conn_counts {
    uint64_t opened, reused;
    uint64_t closed_idle; /* by the target, between two requests */
    uint64_t unasked;     /* connections on which bytes came that nobody had asked for */
    uint64_t with_stderr; /* answers that came with FCGI_STDERR */
    uint64_t early;       /* complete answers before the request was sent in full */
    uint64_t bytes_sent, bytes_received;
};

/* What all connections of a run share. */
struct conn_env {
    const struct target *target;
    const struct wire_settings *settings;
    enum slow_mode slow;
    int epoll_fd;
    char *read_buffer;
    size_t read_buffer_bytes;
    struct conn_counts counts;
};

struct conn {
    enum conn_state state;
    int fd;
    bool wants_out;    /* EPOLLOUT is in its epoll set */
    bool reused;       /* the request is not the connection's first */
    uint64_t requests; /* sent on this connection */
    bool write_failed;
    struct conn *previous, *next; /* in one of the engine's lists */

    struct request request;
    uint64_t intended_ns, started_ns;
    uint64_t until_ns; /* in flight: the deadline; cooling off: the end of it */
    struct verdict verdict;

    unsigned char *head; /* the request's head, then room for its expanded body=text: */
    size_t head_bytes, head_sent, head_allowed;
    uint64_t body_wire_bytes, body_wire_sent, body_wire_allowed;
    struct decoder decoder;
};

/* True: the request is under way. False: it has ended already. */
bool conn_start(struct conn_env *env, struct conn *conn);

/* True: the request has ended (and the connection is idle or closed). Also called for idle connections. */
bool conn_event(struct conn_env *env, struct conn *conn, uint32_t events);

void conn_timeout(struct conn_env *env, struct conn *conn);

/* header-bytes: one byte more may go. True: the request has ended. */
bool conn_pace(struct conn_env *env, struct conn *conn);

/* Puts a connected socket (from target_probe) into a closed connection. False when epoll does not take it. */
bool conn_adopt(struct conn_env *env, struct conn *conn, int fd);

void conn_close(struct conn *conn);

#endif
