/* A small FastCGI server on this codec, for test_against_load.py: one thread, one poll loop.
 *
 *     fcgi_echo /tmp/echo.sock        says "listening", serves until its standard input ends, tells its
 * counts
 *
 * It answers with the request's parameters, a line each, and the length of its body; and with the header
 * X-Ordeal-Marker. The query string may ask for more:
 *
 *     bytes=8388608    that many bytes instead, streamed from where they lie
 *     early            the answer does not wait for the body
 */
#include "runtime/fiber/fcgi/frames.h"
#include "runtime/fiber/fcgi/test/text.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 1000,
    OUT_BYTES_MAX = 4 << 20, /* the parameters are at most 1 MiB */
    PIECE_BYTES = 65536,
    MARKER_BYTES = 128
};

struct connection {
    int fd;
    struct fcgi_reader reader;
    struct fcgi_buffer out;
    struct fcgi_frames frames;
    struct text lines; /* the parameters */
    char marker[MARKER_BYTES], query[MARKER_BYTES];
    uint16_t id;
    uint64_t body_bytes;
    uint64_t large_bytes_left;
    bool keep, answering, closing, shut, broken;
};

static struct connection *connections[CONNECTIONS_MAX];
static size_t connection_count;

static struct {
    unsigned long accepted, begun, answered, aborted, rejected, errors, values;
} counts;

static unsigned char large_bytes[1 << 20];

/* ---- the handler ---- */

static void must(struct connection *connection, bool done)
{
    connection->broken |= !done;
}

static void on_begin(void *context, uint16_t id, enum fcgi_role role, bool keep)
{
    struct connection *connection = context;
    (void)role;
    counts.begun++;
    connection->id = id;
    connection->keep = keep;
    connection->body_bytes = connection->large_bytes_left = 0;
    connection->marker[0] = connection->query[0] = '\0';
    connection->lines.count = 0;
}

static void copy_value(char *to, const char *value, size_t bytes)
{
    if (bytes >= MARKER_BYTES)
        bytes = MARKER_BYTES - 1;
    memcpy(to, value, bytes);
    to[bytes] = '\0';
}

static bool is_named(const char *name, size_t bytes, const char *wanted)
{
    return bytes == strlen(wanted) && memcmp(name, wanted, bytes) == 0;
}

static void on_param(void *context, uint16_t id, const char *name, size_t name_bytes, const char *value,
                     size_t value_bytes)
{
    struct connection *connection = context;
    (void)id;
    text_add(&connection->lines, name, name_bytes);
    text_add_string(&connection->lines, "=");
    text_add(&connection->lines, value, value_bytes);
    text_add_string(&connection->lines, "\n");
    if (is_named(name, name_bytes, "HTTP_X_ORDEAL_MARKER"))
        copy_value(connection->marker, value, value_bytes);
    if (is_named(name, name_bytes, "QUERY_STRING"))
        copy_value(connection->query, value, value_bytes);
}

static void start_answer(struct connection *connection)
{
    char line[256];
    connection->answering = true;
    if (strncmp(connection->query, "bytes=", 6) == 0) {
        connection->large_bytes_left = strtoull(connection->query + 6, NULL, 10);
        connection->lines.count = 0;
    } else {
        snprintf(line, sizeof line, "body_bytes=%llu\n", (unsigned long long)connection->body_bytes);
        text_add_string(&connection->lines, line);
    }
    unsigned long long bytes = connection->large_bytes_left + connection->lines.count;
    int count = snprintf(line, sizeof line,
                         "Status: 200 OK\r\nContent-Type: text/plain\r\nX-Ordeal-Marker: %s\r\n"
                         "Content-Length: %llu\r\n\r\n",
                         connection->marker, bytes);
    must(connection, fcgi_put_stream(&connection->out, FCGI_STDOUT, connection->id, line, (size_t)count));
    must(connection, fcgi_put_stream(&connection->out, FCGI_STDOUT, connection->id, connection->lines.bytes,
                                     connection->lines.count));
}

static void on_params_end(void *context, uint16_t id)
{
    struct connection *connection = context;
    (void)id;
    if (strcmp(connection->query, "early") == 0)
        start_answer(connection);
}

static void on_input(void *context, uint16_t id, const unsigned char *bytes, size_t count)
{
    struct connection *connection = context;
    (void)id, (void)bytes;
    connection->body_bytes += count;
}

static void on_input_end(void *context, uint16_t id)
{
    struct connection *connection = context;
    (void)id;
    if (!connection->answering)
        start_answer(connection);
}

static void on_abort(void *context, uint16_t id)
{
    struct connection *connection = context;
    (void)id;
    counts.aborted++;
    connection->large_bytes_left = 0;
    connection->answering = true; /* its end, at least */
}

static void on_reject(void *context, uint16_t id, enum fcgi_protocol_status status, bool keep)
{
    struct connection *connection = context;
    counts.rejected++;
    must(connection, fcgi_put_end(&connection->out, id, 0, status));
    if (status == FCGI_UNKNOWN_ROLE && !keep)
        connection->closing = true;
}

static void on_get_values(void *context, unsigned asked)
{
    struct connection *connection = context;
    const struct fcgi_values values = {.max_conns = CONNECTIONS_MAX, .max_reqs = CONNECTIONS_MAX};
    counts.values++;
    must(connection, fcgi_put_values_result(&connection->out, asked, &values));
}

static void on_unknown_type(void *context, uint8_t type)
{
    struct connection *connection = context;
    must(connection, fcgi_put_unknown_type(&connection->out, type));
}

static void on_error(void *context, const char *reason)
{
    struct connection *connection = context;
    counts.errors++;
    fprintf(stderr, "fcgi_echo: %s\n", reason);
    connection->broken = true;
}

static const struct fcgi_handler handler = {
    .begin = on_begin,
    .param = on_param,
    .params_end = on_params_end,
    .input = on_input,
    .input_end = on_input_end,
    .abort = on_abort,
    .reject = on_reject,
    .get_values = on_get_values,
    .unknown_type = on_unknown_type,
    .error = on_error,
};

/* ---- one connection ---- */

/* True: the kernel took some. Otherwise it is full, or the connection is broken. */
static bool took_some(struct connection *connection, ssize_t sent)
{
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        connection->broken = true;
    return sent > 0;
}

static bool send_frames(struct connection *connection)
{
    struct msghdr message = {.msg_iov = (struct iovec *)fcgi_frames_parts(&connection->frames),
                             .msg_iovlen = (size_t)fcgi_frames_count(&connection->frames)};
    ssize_t sent = sendmsg(connection->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!took_some(connection, sent))
        return false;
    fcgi_frames_drop(&connection->frames, (size_t)sent);
    return true;
}

static bool send_buffer(struct connection *connection)
{
    struct fcgi_buffer *out = &connection->out;
    ssize_t sent = send(connection->fd, fcgi_buffer_front(out), out->count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!took_some(connection, sent))
        return false;
    fcgi_buffer_drop(out, (size_t)sent);
    return true;
}

/* What comes next is described, or it is the end of the answer. */
static void go_on_answering(struct connection *connection)
{
    if (connection->large_bytes_left > 0) {
        uint64_t left = connection->large_bytes_left;
        size_t count = left < sizeof large_bytes ? (size_t)left : sizeof large_bytes;
        connection->large_bytes_left -=
            fcgi_frames_set(&connection->frames, FCGI_STDOUT, connection->id, large_bytes, count);
        return;
    }
    must(connection, fcgi_put_stream_end(&connection->out, FCGI_STDOUT, connection->id));
    must(connection, fcgi_put_end(&connection->out, connection->id, 0, FCGI_REQUEST_COMPLETE));
    fcgi_reader_request_ended(&connection->reader);
    connection->answering = false;
    connection->closing |= !connection->keep;
    counts.answered++;
}

/* Sends as much as the peer takes. The records described by frames are not to be cut: they go first. */
static void send_answers(struct connection *connection)
{
    while (!connection->broken) {
        bool sent = true;
        if (!fcgi_frames_are_sent(&connection->frames))
            sent = send_frames(connection);
        else if (connection->out.count > 0)
            sent = send_buffer(connection);
        else if (connection->answering)
            go_on_answering(connection);
        else
            break;
        if (!sent)
            return;
    }
    /* A peer that still sends is listened to until it has read the answer, so that it can. */
    if (connection->closing && !connection->shut)
        connection->shut = shutdown(connection->fd, SHUT_WR) == 0;
}

static bool wants_to_send(const struct connection *connection)
{
    return !fcgi_frames_are_sent(&connection->frames) || connection->out.count > 0 || connection->answering;
}

static void receive(struct connection *connection)
{
    static unsigned char piece[PIECE_BYTES];
    ssize_t count = recv(connection->fd, piece, sizeof piece, MSG_DONTWAIT);
    if (count > 0)
        fcgi_reader_feed(&connection->reader, piece, (size_t)count, &handler);
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        connection->broken = true;
}

/* ---- all of them ---- */

static void accept_connection(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    struct connection *connection = text_allocate(NULL, sizeof *connection);
    memset(connection, 0, sizeof *connection);
    connection->fd = fd;
    fcgi_reader_init(&connection->reader, &fcgi_limits_default, connection);
    fcgi_buffer_init(&connection->out, OUT_BYTES_MAX);
    connections[connection_count++] = connection;
    counts.accepted++;
}

static void free_connection(struct connection *connection)
{
    close(connection->fd);
    fcgi_reader_free(&connection->reader);
    fcgi_buffer_free(&connection->out);
    text_free(&connection->lines);
    free(connection);
}

static void sweep(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < connection_count; i++) {
        if (connections[i]->broken)
            free_connection(connections[i]);
        else
            connections[kept++] = connections[i];
    }
    connection_count = kept;
}

static void serve(int listener)
{
    static struct pollfd polls[CONNECTIONS_MAX + 2];
    for (;;) {
        size_t served = connection_count;
        polls[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        polls[1] = (struct pollfd){.fd = served < CONNECTIONS_MAX ? listener : -1, .events = POLLIN};
        for (size_t i = 0; i < served; i++)
            polls[2 + i] = (struct pollfd){
                .fd = connections[i]->fd,
                .events = (short)(POLLIN | (wants_to_send(connections[i]) ? POLLOUT : 0)),
            };
        if (poll(polls, (nfds_t)(2 + served), -1) < 0 && errno != EINTR)
            return;
        if (polls[0].revents != 0)
            return;
        for (size_t i = 0; i < served; i++) {
            if (polls[2 + i].revents & (POLLIN | POLLHUP | POLLERR))
                receive(connections[i]);
            send_answers(connections[i]);
        }
        if (polls[1].revents != 0)
            accept_connection(listener);
        sweep();
    }
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || strlen(path) >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, strlen(path));
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1024) < 0)
        return -1;
    return fd;
}

int main(int argc, char **argv)
{
    int listener = argc == 2 ? listen_at(argv[1]) : -1;
    if (listener < 0) {
        fprintf(stderr, "fcgi_echo: expected one argument, the path of a socket that can be made\n");
        return 2;
    }
    memset(large_bytes, 'x', sizeof large_bytes);
    puts("listening");
    fflush(stdout);
    serve(listener);
    printf("{\"accepted\": %lu, \"begun\": %lu, \"answered\": %lu, \"aborted\": %lu, \"rejected\": %lu, "
           "\"errors\": %lu, \"values\": %lu, \"open\": %zu}\n",
           counts.accepted, counts.begun, counts.answered, counts.aborted, counts.rejected, counts.errors,
           counts.values, connection_count);
    while (connection_count > 0)
        free_connection(connections[--connection_count]);
    close(listener);
    return 0;
}
