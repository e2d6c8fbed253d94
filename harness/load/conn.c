#include "harness/load/conn.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECES_MAX 64
#define FULL_READS_MAX 64 /* then the others have their turn */
#define HANGUP (EPOLLRDHUP | EPOLLHUP | EPOLLERR)
#define NO_READ_BUFFER_BYTES 4096

void conn_close(struct conn *conn)
{
    if (conn->state != CONN_CLOSED)
        close(conn->fd);
    conn->state = CONN_CLOSED;
    conn->fd = -1;
    conn->requests = 0;
}

static uint32_t interest(const struct conn *conn)
{
    return EPOLLIN | EPOLLRDHUP | EPOLLET | (conn->wants_out ? (uint32_t)EPOLLOUT : 0u);
}

static bool watch(struct conn_env *env, struct conn *conn, int operation)
{
    struct epoll_event event = {.events = interest(conn), .data.ptr = conn};
    return epoll_ctl(env->epoll_fd, operation, conn->fd, &event) == 0;
}

static void want_out(struct conn_env *env, struct conn *conn, bool wanted)
{
    if (conn->wants_out == wanted)
        return;
    conn->wants_out = wanted;
    watch(env, conn, EPOLL_CTL_MOD);
}

static bool lost(struct conn_env *env, struct conn *conn, const char *cause)
{
    judge_lost(&conn->verdict, &conn->request, env->target->protocol, &conn->decoder, cause, conn->reused);
    conn_close(conn);
    return true;
}

static bool unsent(const struct conn *conn)
{
    return conn->head_sent < conn->head_bytes || conn->body_wire_sent < conn->body_wire_bytes;
}

static bool answered(struct conn_env *env, struct conn *conn, bool hangup)
{
    const struct answer *answer = &conn->decoder.answer;
    judge_answer(&conn->verdict, &conn->request, &conn->decoder);
    env->counts.with_stderr += answer->stderr_bytes > 0;
    env->counts.early += unsent(conn);
    bool keep = env->settings->keep_alive && !hangup && !answer->will_close && !unsent(conn) &&
                !conn->write_failed && answer->refusal == REFUSAL_NONE && env->slow == SLOW_OFF;
    if (!keep) {
        conn_close(conn);
        return true;
    }
    conn->state = CONN_IDLE;
    want_out(env, conn, false);
    return true;
}

/* The peer closed or reset the connection, or it never came to be. */
static bool ended_early(struct conn_env *env, struct conn *conn, int failure)
{
    const struct protocol *protocol = env->target->protocol;
    if (failure == 0 && protocol->closed(&conn->decoder) == PROGRESS_DONE)
        return answered(env, conn, true);
    if (conn->write_failed || unsent(conn))
        return lost(env, conn,
                    failure == 0 ? "connection closed (request not read in full)"
                                 : "connection reset (request not read in full)");
    return lost(env, conn, failure == 0 ? "connection closed" : "connection reset");
}

/* Reads what there is. True: the request has ended. */
static bool conn_read(struct conn_env *env, struct conn *conn, bool hangup)
{
    for (int full_reads = 0; full_reads < FULL_READS_MAX;) {
        ssize_t count = recv(conn->fd, env->read_buffer, env->read_buffer_bytes, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return conn->write_failed ? ended_early(env, conn, EPIPE) : false;
        if (count <= 0)
            return ended_early(env, conn, count == 0 ? 0 : errno);
        env->counts.bytes_received += (uint64_t)count;
        enum progress progress = env->target->protocol->feed(&conn->decoder, env->read_buffer, (size_t)count);
        if (progress == PROGRESS_DONE)
            return answered(env, conn, hangup);
        if (progress == PROGRESS_BAD) {
            judge_malformed(&conn->verdict, &conn->request, &conn->decoder);
            conn_close(conn);
            return true;
        }
        bool drained = (size_t)count < env->read_buffer_bytes;
        if (drained && !hangup && !conn->write_failed)
            return false;
        full_reads++;
    }
    watch(env, conn, EPOLL_CTL_MOD); /* asks for another event: more is there */
    return false;
}

/* The rest of the head and as much of the body as fits; 0 pieces: nothing (more) may be sent now. */
static int pieces_to_send(const struct conn_env *env, const struct conn *conn, struct iovec *iov)
{
    int count = 0;
    if (conn->head_sent < conn->head_allowed)
        iov[count++] = (struct iovec){conn->head + conn->head_sent, conn->head_allowed - conn->head_sent};
    uint64_t allowed = conn->body_wire_allowed - conn->body_wire_sent;
    if (conn->head_allowed < conn->head_bytes || allowed == 0)
        return count;
    int first = count;
    count += env->target->protocol->body_pieces(&conn->request, conn->body_wire_sent, iov + count,
                                                PIECES_MAX - count);
    for (int i = first; i < count; i++) {
        if (iov[i].iov_len > allowed)
            iov[i].iov_len = (size_t)allowed;
        allowed -= iov[i].iov_len;
    }
    return count;
}

static ssize_t send_pieces(int fd, struct iovec *iov, int count)
{
    if (count == 1)
        return send(fd, iov[0].iov_base, iov[0].iov_len, MSG_NOSIGNAL);
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = (size_t)count};
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

static void sent(struct conn_env *env, struct conn *conn, size_t bytes)
{
    env->counts.bytes_sent += bytes;
    size_t of_head = conn->head_bytes - conn->head_sent;
    if (of_head > bytes)
        of_head = bytes;
    conn->head_sent += of_head;
    conn->body_wire_sent += bytes - of_head;
}

/* Sends what may be sent. True: the request has ended (the peer is gone, and left no answer). */
static bool conn_write(struct conn_env *env, struct conn *conn)
{
    struct iovec iov[PIECES_MAX];
    int count;
    while ((count = pieces_to_send(env, conn, iov)) > 0) {
        ssize_t written = send_pieces(conn->fd, iov, count);
        if (written >= 0) {
            sent(env, conn, (size_t)written);
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN) {
            want_out(env, conn, true);
            return false;
        }
        conn->write_failed = true;
        return conn_read(env, conn, true); /* an answer may have come all the same */
    }
    return false;
}

static void begin_request(struct conn_env *env, struct conn *conn)
{
    const struct protocol *protocol = env->target->protocol;
    const struct mix_line *line = conn->request.plan->line;
    bool is_head = line->method[0] == 'H';
    decoder_begin(&conn->decoder, is_head, line->marker == MARKER_BODY);
    conn->head_bytes = protocol->write_head(&conn->request, env->settings, conn->head);
    conn->head_allowed = env->slow == SLOW_HEADER_BYTES ? 1 : conn->head_bytes;
    conn->body_wire_bytes = protocol->body_wire_bytes(conn->request.body_bytes);
    conn->body_wire_allowed =
        env->slow == SLOW_STALLED_BODY ? conn->body_wire_bytes / 2 : conn->body_wire_bytes;
    conn->head_sent = 0;
    conn->body_wire_sent = 0;
    conn->write_failed = false;
}

static bool unconnected(struct conn *conn, int failure)
{
    judge_unconnected(&conn->verdict, failure);
    conn_close(conn);
    return true;
}

/* Opens the socket; 0, EINPROGRESS, or why not. */
static int conn_open(struct conn_env *env, struct conn *conn)
{
    int failure = target_connect(env->target, &conn->fd);
    if (conn->fd < 0)
        return failure;
    conn->state = failure == 0 ? CONN_ACTIVE : CONN_CONNECTING;
    conn->wants_out = failure == EINPROGRESS;
    if (failure != 0 && failure != EINPROGRESS)
        return failure;
    if (env->slow == SLOW_NO_READ) {
        int bytes = NO_READ_BUFFER_BYTES;
        setsockopt(conn->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    }
    env->counts.opened++;
    return watch(env, conn, EPOLL_CTL_ADD) ? failure : errno;
}

bool conn_start(struct conn_env *env, struct conn *conn)
{
    assert(conn->state == CONN_CLOSED || conn->state == CONN_IDLE);
    begin_request(env, conn);
    conn->reused = conn->requests++ > 0;
    env->counts.reused += conn->reused;
    if (conn->state == CONN_IDLE) {
        conn->state = CONN_ACTIVE;
        return !conn_write(env, conn);
    }
    int failure = conn_open(env, conn);
    if (failure == EINPROGRESS)
        return true;
    if (failure != 0)
        return !unconnected(conn, failure);
    return !conn_write(env, conn);
}

bool conn_adopt(struct conn_env *env, struct conn *conn, int fd)
{
    conn->fd = fd;
    conn->state = CONN_IDLE;
    env->counts.opened++;
    return watch(env, conn, EPOLL_CTL_ADD);
}

static bool connecting_event(struct conn_env *env, struct conn *conn)
{
    int failure = 0;
    socklen_t bytes = sizeof failure;
    if (getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &failure, &bytes) != 0)
        failure = errno;
    if (failure != 0)
        return unconnected(conn, failure);
    conn->state = CONN_ACTIVE;
    return conn_write(env, conn);
}

/* Something happened on a connection without a request: the target closed it, or talks out of turn. */
static void idle_event(struct conn_env *env, struct conn *conn)
{
    ssize_t count = recv(conn->fd, env->read_buffer, env->read_buffer_bytes, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count > 0)
        env->counts.unasked++;
    else
        env->counts.closed_idle++;
    conn_close(conn);
}

bool conn_event(struct conn_env *env, struct conn *conn, uint32_t events)
{
    bool hangup = (events & HANGUP) != 0;
    if (conn->state == CONN_CLOSED)
        return false;
    if (conn->state == CONN_IDLE) {
        idle_event(env, conn);
        return false;
    }
    if (conn->state == CONN_CONNECTING) {
        if (connecting_event(env, conn))
            return true;
        if (conn->state != CONN_ACTIVE)
            return false;
    } else if ((events & EPOLLOUT) != 0 && conn_write(env, conn)) {
        return true;
    }
    bool readable = (events & EPOLLIN) != 0 && env->slow != SLOW_NO_READ;
    return (readable || hangup) && conn_read(env, conn, hangup);
}

bool conn_pace(struct conn_env *env, struct conn *conn)
{
    if (conn->state != CONN_ACTIVE || conn->head_sent < conn->head_allowed ||
        conn->head_allowed == conn->head_bytes)
        return false;
    conn->head_allowed++;
    return conn_write(env, conn);
}

static const char *const timeout_causes[] = {
    [SLOW_OFF] = "timeout",
    [SLOW_HEADER_BYTES] = "timeout (the target waited for the rest of the head)",
    [SLOW_STALLED_BODY] = "timeout (the target waited for the rest of the body)",
    [SLOW_NO_READ] = "timeout (the target held its unread answer)",
};

void conn_timeout(struct conn_env *env, struct conn *conn)
{
    if (conn->state == CONN_CONNECTING) {
        unconnected(conn, ETIMEDOUT);
        return;
    }
    if (env->slow == SLOW_NO_READ && conn_read(env, conn, false))
        return;
    lost(env, conn, timeout_causes[env->slow]);
}
