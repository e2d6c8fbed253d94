/* A connection of a web server: bytes in, one request at a time, bytes out. Neither direction ever blocks the
 * worker.
 *
 *     accepted -> receiving -> in line for a slot -> running -> receiving again, if it is kept
 *                                                            -> sending the rest -> closed
 *
 * What is received goes through the FastCGI reader into an exchange (exchange.h). What the exchange answers
 * is appended to `out`, at most OUT_BYTES_MAX, and sent as fast as the client reads. */
#ifndef ORDEAL_FIBER_WORKER_CONN_H
#define ORDEAL_FIBER_WORKER_CONN_H

#include "runtime/fiber/fcgi/fcgi.h"

#include <event2/event.h>
#include <event2/event_struct.h>

#include <stdbool.h>
#include <sys/socket.h>

struct worker;
struct exchange;

struct connection {
    struct worker *worker;
    struct connection *next, *previous; /* in the worker's list */
    int fd;
    char peer[46]; /* the address of the web server; "" on a unix socket */
    struct event readable, writable;
    struct fcgi_reader reader;
    struct fcgi_buffer unread; /* read from the socket while the reader is paused */
    struct fcgi_buffer out;
    struct exchange *exchange; /* the request being received or answered; NULL: none */
    int64_t since_ns;  /* of the last progress: when that is too long ago, and nothing runs, it is closed */
    bool served;       /* has had a request: idle means kept, not late */
    bool more_to_come; /* the request was answered before its body was read: the rest is ignored */
    bool half_closed;  /* the client sends no more; it may still read */
    bool close_when_sent;
    bool lingering; /* all is sent and our side is shut; what still comes is thrown away */
    bool listening; /* `readable` is added */
};

/* Takes over a descriptor, which is non-blocking, and reads at once what is there. */
void conn_open(struct worker *worker, int fd, const struct sockaddr *peer);

/* Sends what is in `out`, as much as the client takes now. False: the connection is no more. */
bool conn_send(struct connection *conn);

/* The exchange has put its END_REQUEST into `out`: sends it, then the next request may come, or it is closed.
 * Called on any stack: what comes next is done by the loop. The connection may be gone afterwards. */
void conn_answered(struct connection *conn, bool keep);

/* The body was used up to where more can be taken. Called on any stack. */
void conn_take_more(struct connection *conn);

/* Watches for the client's bytes, and for its end; or not, so that it has to wait with more. */
void conn_listen(struct connection *conn);
void conn_stop_listening(struct connection *conn);

/* For a drain: closes it if nobody loses anything by that. */
void conn_close_if_idle(struct connection *conn);

/* Closes it if it made no progress for too long. */
void conn_close_if_late(struct connection *conn, int64_t now_ns);

void conn_close(struct connection *conn);

#endif
