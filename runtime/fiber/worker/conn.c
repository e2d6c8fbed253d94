#include "runtime/fiber/worker/conn.h"

#include "runtime/defect.h"
#include "runtime/fiber/seam/seam.h"
#include "runtime/fiber/worker/exchange.h"
#include "runtime/fiber/worker/input.h"
#include "runtime/fiber/worker/limits.h"
#include "runtime/fiber/worker/worker_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_writable(evutil_socket_t fd, short what, void *argument);

/* ---- life ---- */

static void link_up(struct connection *conn)
{
    struct worker *worker = conn->worker;
    conn->next = worker->connections;
    if (conn->next)
        conn->next->previous = conn;
    worker->connections = conn;
    worker->connections_count++;
}

static void unlink_from(struct connection *conn)
{
    struct worker *worker = conn->worker;
    if (conn->previous)
        conn->previous->next = conn->next;
    else
        worker->connections = conn->next;
    if (conn->next)
        conn->next->previous = conn->previous;
    worker->connections_count--;
}

static void name_peer(struct connection *conn, const struct sockaddr *peer)
{
    const void *address = NULL;
    if (peer->sa_family == AF_INET)
        address = &((const struct sockaddr_in *)peer)->sin_addr;
    else if (peer->sa_family == AF_INET6)
        address = &((const struct sockaddr_in6 *)peer)->sin6_addr;
    if (address)
        inet_ntop(peer->sa_family, address, conn->peer, sizeof conn->peer);
}

void conn_open(struct worker *worker, int fd, const struct sockaddr *peer)
{
    struct connection *conn = calloc(1, sizeof *conn);
    if (!conn) {
        close(fd);
        return;
    }
    conn->worker = worker;
    conn->fd = fd;
    conn->since_ns = sched_now_ns();
    name_peer(conn, peer);
    event_assign(&conn->readable, worker->base, fd, EV_READ | EV_PERSIST, input_ready, conn);
    event_assign(&conn->writable, worker->base, fd, EV_WRITE | EV_PERSIST, on_writable, conn);
    fcgi_reader_init(&conn->reader, &fcgi_limits_default, conn);
    fcgi_buffer_init(&conn->unread, READ_BYTES);
    fcgi_buffer_init(&conn->out, OUT_BYTES_MAX + OUT_BYTES_RESERVED);
    link_up(conn);
    input_ready(fd, EV_READ, conn);
}

void conn_close(struct connection *conn)
{
    struct worker *worker = conn->worker;
    struct exchange *exchange = conn->exchange;
    conn->exchange = NULL;
    event_del(&conn->readable);
    event_del(&conn->writable);
    close(conn->fd);
    fcgi_reader_free(&conn->reader);
    fcgi_buffer_free(&conn->unread);
    fcgi_buffer_free(&conn->out);
    unlink_from(conn);
    free(conn);
    if (exchange)
        exchange_lose_client(exchange);
    accept_adjust(worker);
    worker_end_if_drained(worker);
}

/* All is sent and nothing more is wanted. Closing while bytes of the client are unread would reset the
 * connection, and might take the answer with it: so our side is shut first, and what comes is read away. */
static void part(struct connection *conn)
{
    if (conn->half_closed ||
        (!conn->more_to_come && fcgi_reader_is_idle(&conn->reader) && !conn->unread.count)) {
        conn_close(conn);
        return;
    }
    conn->lingering = true;
    fcgi_buffer_drop(&conn->unread, conn->unread.count);
    conn->since_ns = sched_now_ns();
    shutdown(conn->fd, SHUT_WR);
    conn_listen(conn);
}

void conn_listen(struct connection *conn)
{
    if (conn->listening || conn->half_closed)
        return;
    conn->listening = true;
    event_add(&conn->readable, NULL);
}

void conn_stop_listening(struct connection *conn)
{
    if (!conn->listening)
        return;
    conn->listening = false;
    event_del(&conn->readable);
}

/* ---- out ---- */

/* Whether bytes were taken; 0: not now, -1: the client is gone. */
static int send_some(struct connection *conn)
{
    struct pollfd room = {.fd = conn->fd, .events = POLLOUT};
    if (DEFECT(B15))
        REAL(poll)(&room, 1, -1); /* the worker waits until this client reads */
    ssize_t sent =
        send(conn->fd, fcgi_buffer_front(&conn->out), conn->out.count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
        fcgi_buffer_drop(&conn->out, (size_t)sent);
        return 1;
    }
    if (sent < 0 && errno == EINTR)
        return 1;
    return sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK ? -1 : 0;
}

bool conn_send(struct connection *conn)
{
    while (conn->out.count) {
        int result = send_some(conn);
        if (result < 0) {
            conn_close(conn);
            return false;
        }
        if (result == 0) {
            event_add(&conn->writable, NULL);
            return true;
        }
    }
    event_del(&conn->writable);
    if (!conn->close_when_sent)
        return true;
    part(conn);
    return false;
}

static void on_writable(evutil_socket_t fd, short what, void *argument)
{
    (void)fd, (void)what;
    struct connection *conn = argument;
    conn->since_ns = sched_now_ns();
    if (!conn_send(conn) || conn->out.count > OUT_BYTES_LOW)
        return;
    if (conn->exchange)
        exchange_wake(conn->exchange, WAIT_ROOM);
    else if (!conn->close_when_sent)
        conn_take_more(conn);
}

void conn_answered(struct connection *conn, bool keep)
{
    fcgi_reader_request_ended(&conn->reader);
    conn->more_to_come = !conn->exchange->body_ended;
    conn->exchange = NULL;
    conn->since_ns = sched_now_ns();
    if (!keep || conn->worker->draining || conn->half_closed)
        conn->close_when_sent = true;
    if (conn_send(conn) && !conn->close_when_sent)
        conn_take_more(conn);
}

void conn_take_more(struct connection *conn)
{
    conn_listen(conn);
    if (conn->unread.count)
        event_active(&conn->readable, EV_READ, 1);
}

/* ---- when nothing comes ---- */

void conn_close_if_idle(struct connection *conn)
{
    if (conn->exchange || conn->out.count || conn->unread.count || conn->lingering || !conn->served)
        return;
    char byte;
    if (recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
        conn_close(conn);
    /* Otherwise a request has come in this very moment: it is read by the loop. */
}

/* How long it may make no progress; 0: as long as it likes. */
static int64_t patience_s(const struct connection *conn)
{
    bool is_idle = !conn->exchange && fcgi_reader_is_idle(&conn->reader);
    if (conn->lingering)
        return LINGER_S;
    if (input_is_served(conn))
        return 0;
    if (conn->out.count)
        return SEND_TIMEOUT_S;
    if (conn->worker->draining)
        return is_idle ? DRAIN_IDLE_S : DRAIN_RECEIVE_S;
    return is_idle && conn->served ? 0 : RECEIVE_TIMEOUT_S;
}

void conn_close_if_late(struct connection *conn, int64_t now)
{
    int64_t limit_s = patience_s(conn);
    if (limit_s && now - conn->since_ns >= limit_s * 1000000000)
        conn_close(conn);
}
