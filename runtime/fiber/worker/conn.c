#include "runtime/fiber/worker/conn.h"

#include "runtime/fiber/worker/exchange.h"
#include "runtime/fiber/worker/limits.h"
#include "runtime/fiber/worker/receive.h"
#include "runtime/fiber/worker/worker_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_readable(evutil_socket_t fd, short what, void *argument);
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
    conn->since_ns = now_ns();
    name_peer(conn, peer);
    event_assign(&conn->readable, worker->base, fd, EV_READ | EV_PERSIST, on_readable, conn);
    event_assign(&conn->writable, worker->base, fd, EV_WRITE | EV_PERSIST, on_writable, conn);
    fcgi_reader_init(&conn->reader, &fcgi_limits_default, conn);
    fcgi_buffer_init(&conn->unread, READ_BYTES);
    fcgi_buffer_init(&conn->out, OUT_BYTES_MAX + OUT_BYTES_RESERVED);
    link_up(conn);
    on_readable(fd, EV_READ, conn);
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
    conn->since_ns = now_ns();
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

static void stop_listening(struct connection *conn)
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
    conn->since_ns = now_ns();
    if (conn_send(conn) && conn->exchange && conn->out.count <= OUT_BYTES_LOW)
        exchange_wake(conn->exchange, WAIT_ROOM);
}

bool conn_answered(struct connection *conn, bool keep)
{
    fcgi_reader_request_ended(&conn->reader);
    conn->more_to_come = !conn->exchange->body_ended;
    conn->exchange = NULL;
    conn->since_ns = now_ns();
    if (!keep || conn->worker->draining || conn->half_closed)
        conn->close_when_sent = true;
    if (!conn_send(conn))
        return true; /* it was sent to the end and closed, or lost: both are no matter of the request any more
                      */
    if (!conn->close_when_sent)
        conn_take_more(conn);
    return true;
}

/* ---- in ---- */

void conn_take_more(struct connection *conn)
{
    conn_listen(conn);
    if (conn->unread.count)
        event_active(&conn->readable, EV_READ, 1);
}

enum received { NOTHING, SOMETHING, CLOSED };

/* Feeds the reader; what it does not want now is kept for later. */
static enum received feed(struct connection *conn, const unsigned char *bytes, size_t count)
{
    size_t taken = fcgi_reader_feed(&conn->reader, bytes, count, &receive_handler);
    if (conn->reader.failed ||
        (taken < count && !fcgi_buffer_append(&conn->unread, bytes + taken, count - taken))) {
        conn_close(conn);
        return CLOSED;
    }
    return SOMETHING;
}

static enum received feed_unread(struct connection *conn)
{
    size_t taken = fcgi_reader_feed(&conn->reader, fcgi_buffer_front(&conn->unread), conn->unread.count,
                                    &receive_handler);
    fcgi_buffer_drop(&conn->unread, taken);
    if (!conn->reader.failed)
        return SOMETHING;
    conn_close(conn);
    return CLOSED;
}

/* A request that runs, or waits for a slot, takes what it takes. */
static bool is_served_now(const struct connection *conn)
{
    return conn->exchange && (conn->exchange->slot || conn->exchange->queued);
}

/* The client has shut its side. One that has gone altogether shows that at once on a unix socket, on TCP when
 * it is written to. */
static enum received on_end_of_stream(struct connection *conn)
{
    stop_listening(conn);
    conn->half_closed = true;
    struct pollfd state = {.fd = conn->fd};
    bool gone = poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR));
    if (gone || !is_served_now(conn) || !conn->exchange->body_ended)
        conn_close(conn);
    else
        return NOTHING;
    return CLOSED;
}

static enum received receive(struct connection *conn)
{
    unsigned char *scratch = conn->worker->scratch;
    ssize_t count;
    do {
        count = recv(conn->fd, scratch, READ_BYTES, MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count > 0) {
        conn->since_ns = now_ns();
        return conn->lingering ? NOTHING : feed(conn, scratch, (size_t)count);
    }
    if (count == 0)
        return on_end_of_stream(conn);
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
        conn_close(conn);
        return CLOSED;
    }
    conn_listen(conn);
    return NOTHING;
}

/* The request was given up before it ran. */
static void drop_request(struct connection *conn)
{
    struct exchange *exchange = conn->exchange;
    fcgi_put_end(&conn->out, exchange->id, 0, FCGI_REQUEST_COMPLETE);
    conn_answered(conn, exchange->keep);
    exchange_free(exchange);
}

/* After bytes were taken: does whatever has become possible by them. */
static void look(struct connection *conn)
{
    struct exchange *exchange = conn->exchange;
    if (conn->out.count && !conn_send(conn))
        return;
    if (!exchange) {
        conn_listen(conn);
    } else if (is_served_now(conn)) {
        if (exchange->client_gone)
            exchange_abort(exchange);
        else
            exchange_wake(exchange, WAIT_BODY);
        /* `conn` may be gone here: the request may have run to its end */
    } else if (exchange->client_gone) {
        drop_request(conn);
    } else if (exchange_is_ready(exchange)) {
        worker_dispatch(conn->worker, exchange);
    } else {
        conn_listen(conn);
    }
}

static void on_readable(evutil_socket_t fd, short what, void *argument)
{
    (void)fd, (void)what;
    struct connection *conn = argument;
    if ((conn->unread.count ? feed_unread(conn) : receive(conn)) != SOMETHING)
        return;
    if (conn->unread.count) /* the body is full: the request goes on with reading as it uses it */
        stop_listening(conn);
    look(conn);
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

void conn_close_if_late(struct connection *conn, int64_t now, bool draining)
{
    bool may_rest = conn->served && !conn->exchange && !conn->out.count && !conn->lingering && !draining;
    if (may_rest || is_served_now(conn))
        return;
    int64_t limit_s = conn->lingering ? LINGER_S : draining ? DRAIN_RECEIVE_S : RECEIVE_TIMEOUT_S;
    if (now - conn->since_ns >= limit_s * 1000000000)
        conn_close(conn);
}
