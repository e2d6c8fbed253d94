#include "runtime/fiber/worker/input.h"

#include "runtime/defect.h"
#include "runtime/fiber/seam/seam.h"
#include "runtime/fiber/worker/exchange.h"
#include "runtime/fiber/worker/limits.h"
#include "runtime/fiber/worker/receive.h"
#include "runtime/fiber/worker/worker_state.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

enum received { NOTHING, SOMETHING, CLOSED };

bool input_is_served(const struct connection *conn)
{
    return conn->exchange && (conn->exchange->slot || conn->exchange->queued);
}

/* Nothing that comes now matters but the end. */
static bool is_over(const struct connection *conn)
{
    return conn->lingering || conn->close_when_sent;
}

/* What is not wanted stays in the kernel, and in the end with the client. A body is taken as fast as its
 * request uses it; and who does not read the answers to earlier requests may ask no more. */
static bool is_wanted(const struct connection *conn)
{
    if (conn->exchange && !is_over(conn))
        return conn->exchange->body.count < BODY_BYTES_MAX;
    return is_over(conn) || conn->out.count <= OUT_BYTES_LOW;
}

/* ---- taking bytes ---- */

/* Feeds the reader; what it does not want now is kept for later. */
static enum received feed(struct connection *conn, const unsigned char *bytes, size_t count)
{
    size_t taken = fcgi_reader_feed(&conn->reader, bytes, count, &receive_handler);
    if (!conn->reader.failed &&
        (taken == count || fcgi_buffer_append(&conn->unread, bytes + taken, count - taken)))
        return SOMETHING;
    conn_close(conn);
    return CLOSED;
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

/* One that has gone altogether shows that at once on a unix socket, on TCP when it is written to. */
static bool is_gone(const struct connection *conn)
{
    struct pollfd state = {.fd = conn->fd};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR));
}

/* The client has shut its side. If its request was whole it may still read the answer. */
static enum received on_end_of_stream(struct connection *conn)
{
    conn_stop_listening(conn);
    conn->half_closed = true;
    bool is_answered = input_is_served(conn) && conn->exchange->body_ended;
    bool is_being_sent = !conn->exchange && conn->out.count;
    if ((!is_answered && !is_being_sent) || is_gone(conn)) {
        conn_close(conn);
        return CLOSED;
    }
    conn->close_when_sent |= is_being_sent;
    return NOTHING;
}

/* Defect B15: the worker waits for this one client, as a process that serves one request may. */
static void wait_for_client(const struct connection *conn)
{
    struct pollfd state = {.fd = conn->fd, .events = POLLIN};
    REAL(poll)(&state, 1, -1);
}

static enum received receive(struct connection *conn)
{
    unsigned char *scratch = conn->worker->scratch;
    ssize_t count;
    if (DEFECT(B15) && !input_is_served(conn))
        wait_for_client(conn);
    do {
        count = recv(conn->fd, scratch, READ_BYTES, MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count > 0 && is_over(conn))
        return NOTHING;
    if (count > 0) {
        conn->since_ns = sched_now_ns();
        return feed(conn, scratch, (size_t)count);
    }
    if (count == 0)
        return on_end_of_stream(conn);
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        conn_listen(conn);
        return NOTHING;
    }
    conn_close(conn);
    return CLOSED;
}

/* ---- what follows ---- */

/* The request was given up before it ran. */
static void drop_request(struct connection *conn)
{
    struct exchange *exchange = conn->exchange;
    fcgi_put_end(&conn->out, exchange->id, 0, FCGI_REQUEST_COMPLETE);
    conn_answered(conn, exchange->keep);
    exchange_free(exchange);
}

/* Does whatever has become possible: `conn` may be gone afterwards. */
static void look(struct connection *conn)
{
    if (conn->out.count && !conn_send(conn))
        return;
    if (is_wanted(conn))
        conn_listen(conn);
    else
        conn_stop_listening(conn);
    struct exchange *exchange = conn->exchange;
    if (!exchange)
        return;
    if (input_is_served(conn)) {
        if (exchange->client_gone)
            exchange_abort(exchange);
        else
            exchange_wake(exchange, WAIT_BODY);
    } else if (exchange->client_gone) {
        drop_request(conn);
    } else if (exchange_is_ready(exchange)) {
        worker_dispatch(conn->worker, exchange);
    }
}

static bool is_in_the_middle(const struct connection *conn)
{
    const struct exchange *exchange = conn->exchange;
    return exchange ? !exchange_is_ready(exchange) && !exchange->client_gone
                    : !fcgi_reader_is_idle(&conn->reader) && !is_over(conn);
}

void input_ready(evutil_socket_t fd, short what, void *argument)
{
    (void)fd, (void)what;
    struct connection *conn = argument;
    if (!is_wanted(conn)) {
        conn_stop_listening(conn);
        return;
    }
    enum received received;
    do {
        received = conn->unread.count ? feed_unread(conn) : receive(conn);
    } while (DEFECT(B15) && received == SOMETHING && is_in_the_middle(conn));
    if (received == SOMETHING)
        look(conn);
}
