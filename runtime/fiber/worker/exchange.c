#include "runtime/fiber/worker/exchange.h"

#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/worker/access_log.h"
#include "runtime/fiber/worker/conn.h"
#include "runtime/fiber/worker/limits.h"
#include "runtime/fiber/worker/worker_state.h"

#include <stdlib.h>
#include <string.h>

struct exchange *exchange_new(struct connection *conn, uint16_t id, bool keep)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    exchange->request.transport = &exchange_transport;
    exchange->request.rules = &conn->worker->rules;
    memcpy(exchange->request.peer, conn->peer, sizeof conn->peer);
    exchange->worker = conn->worker;
    exchange->conn = conn;
    exchange->id = id;
    exchange->keep = keep;
    exchange->request.accepted_ns = sched_now_ns();
    exchange->request.accepted_s = time(NULL);
    fcgi_buffer_init(&exchange->body, BODY_BYTES_MAX + READ_BYTES);
    fcgi_buffer_init(&exchange->piece, OUT_PIECE_BYTES);
    /* Where php-fpm has it among the variables: before all that the web server sent. */
    if (params_add(&exchange->request.params, "FCGI_ROLE", 9, "RESPONDER", 9))
        return exchange;
    exchange_free(exchange);
    return NULL;
}

void exchange_free(struct exchange *exchange)
{
    params_free(&exchange->request.params);
    fcgi_buffer_free(&exchange->body);
    fcgi_buffer_free(&exchange->piece);
    free(exchange->access_line);
    free(exchange);
}

bool exchange_is_ready(const struct exchange *exchange)
{
    return exchange->params_ended && (exchange->body_ended || exchange->body.count >= BODY_BYTES_MAX);
}

/* ---- the client's side ---- */

void exchange_wake(struct exchange *exchange, enum exchange_wait what)
{
    if (exchange->waits_for != what)
        return;
    exchange->waits_for = WAIT_NONE;
    sched_wake(&exchange->wait);
}

void exchange_abort(struct exchange *exchange)
{
    exchange->client_gone = true;
    if (exchange->waits_for != WAIT_NONE)
        exchange_wake(exchange, exchange->waits_for);
}

void exchange_lose_client(struct exchange *exchange)
{
    exchange->conn = NULL;
    if (exchange->slot || exchange->answering) {
        exchange_abort(exchange);
        return;
    }
    if (exchange->queued)
        worker_forget(exchange->worker, exchange);
    exchange_free(exchange);
}

/* Suspends the request that runs until the client does its part. False: it is not to wait any more, as its
 * time is over, or there is no request: the loop itself answers. */
static bool wait_for(struct exchange *exchange, enum exchange_wait what)
{
    if (!slot_current)
        return false;
    exchange->waits_for = what;
    exchange->wait = sched_wait_begin();
    enum sched_result result = sched_wait_for(SCHED_FOREVER);
    exchange->waits_for = WAIT_NONE;
    return result != SCHED_CANCELLED;
}

/* What is left out makes the answer worthless. */
static bool cut(struct exchange *exchange)
{
    exchange->cut = exchange->client_gone = true;
    return false;
}

/* ---- the request's side: on its own stack ---- */

static bool has_client(const struct exchange *exchange)
{
    return exchange->conn && !exchange->client_gone;
}

static size_t read_body(struct request *request, char *bytes, size_t count_max)
{
    struct exchange *exchange = exchange_of(request);
    struct fcgi_buffer *body = &exchange->body;
    while (!body->count && !exchange->body_ended && !exchange->body_given_up && has_client(exchange))
        exchange->body_given_up = !wait_for(exchange, WAIT_BODY);
    size_t count = body->count < count_max ? body->count : count_max;
    memcpy(bytes, fcgi_buffer_front(body), count);
    fcgi_buffer_drop(body, count);
    if (exchange->conn && !exchange->body_ended && body->count <= BODY_BYTES_MAX / 2)
        conn_take_more(exchange->conn);
    return count;
}

static bool has_room(const struct connection *conn, size_t count)
{
    return conn->out.count + count + FCGI_HEAD_BYTES * 4 <= OUT_BYTES_MAX;
}

/* Waits until the connection can take `count` bytes more. False: the client is gone. */
static bool make_room(struct exchange *exchange, size_t count)
{
    while (has_client(exchange) && !has_room(exchange->conn, count))
        if (conn_send(exchange->conn) && !has_room(exchange->conn, count) && !wait_for(exchange, WAIT_ROOM))
            return cut(exchange);
    return has_client(exchange);
}

static bool put_record(struct exchange *exchange, enum fcgi_type type, const char *bytes, size_t count)
{
    if (!make_room(exchange, count))
        return false;
    exchange->touched |= type == FCGI_STDOUT;
    return fcgi_put_stream(&exchange->conn->out, type, exchange->id, bytes, count) || cut(exchange);
}

/* Moves what was gathered into records of the connection. */
static bool put_piece(struct exchange *exchange)
{
    struct fcgi_buffer *piece = &exchange->piece;
    if (!piece->count)
        return has_client(exchange);
    bool put = put_record(exchange, FCGI_STDOUT, (const char *)fcgi_buffer_front(piece), piece->count);
    fcgi_buffer_drop(piece, piece->count);
    return put;
}

static bool put_large(struct exchange *exchange, const char *bytes, size_t count)
{
    if (!put_piece(exchange))
        return false;
    for (size_t part; count; bytes += part, count -= part) {
        part = count < OUT_PIECE_BYTES ? count : OUT_PIECE_BYTES;
        if (!put_record(exchange, FCGI_STDOUT, bytes, part))
            return false;
    }
    return conn_send(exchange->conn);
}

static bool put_stderr(struct exchange *exchange, const char *bytes, size_t count)
{
    if (!put_piece(exchange))
        return false;
    return put_record(exchange, FCGI_STDERR, bytes, count < STDERR_BYTES_MAX ? count : STDERR_BYTES_MAX);
}

/* The answer has ended: what is put out now goes nowhere, and at some time the script is told so. */
static bool discard(struct exchange *exchange, size_t count)
{
    exchange->discarded_bytes += count;
    if (exchange->discarded_bytes <= DISCARDED_BYTES_MAX)
        return true;
    exchange->discarded_bytes = 0;
    return false;
}

static bool write_stream(struct request *request, enum request_stream stream, const char *bytes, size_t count)
{
    struct exchange *exchange = exchange_of(request);
    if (slot_is_child)
        return true; /* the answer is its parent's */
    if (request->ended)
        return discard(exchange, count);
    if (!has_client(exchange))
        return false;
    if (stream == REQUEST_STDERR)
        return put_stderr(exchange, bytes, count);
    if (count >= OUT_PIECE_BYTES)
        return put_large(exchange, bytes, count);
    if (count > fcgi_buffer_room(&exchange->piece) && !(put_piece(exchange) && conn_send(exchange->conn)))
        return false;
    return fcgi_buffer_append(&exchange->piece, bytes, count);
}

static bool flush(struct request *request)
{
    struct exchange *exchange = exchange_of(request);
    if (slot_is_child)
        return true;
    if (!request->ended)
        return put_piece(exchange) && conn_send(exchange->conn);
    bool heard = !exchange->discarded_bytes;
    exchange->discarded_bytes = 0;
    return heard;
}

/* False: there is no room even for that. */
static bool put_end(struct exchange *exchange)
{
    struct fcgi_buffer *out = &exchange->conn->out;
    return fcgi_put_stream_end(out, FCGI_STDOUT, exchange->id) &&
           fcgi_put_end(out, exchange->id, 0, FCGI_REQUEST_COMPLETE);
}

static bool finish(struct request *request)
{
    struct exchange *exchange = exchange_of(request);
    if (request->ended || slot_is_child)
        return true;
    request->ended = true;
    if (!exchange->cut)
        put_piece(exchange);
    struct connection *conn = exchange->conn;
    if (!conn)
        return false;
    bool whole = !exchange->cut && put_end(exchange);
    if (whole) {
        conn_answered(conn, exchange->keep);
    } else {
        conn->exchange = NULL;
        conn_close(conn);
    }
    exchange->conn = NULL;
    return whole && !exchange->client_gone;
}

static void log_line(struct request *request, const char *level, const char *text)
{
    worker_log(exchange_of(request)->worker, level, text);
}

static void served(struct request *request)
{
    struct exchange *exchange = exchange_of(request);
    sched_acknowledge();
    if (exchange->worker->access_log && !exchange->access_line)
        exchange->access_line =
            access_log_line(exchange->worker->access_log, exchange->worker->pool->name, request);
}

const struct request_transport exchange_transport = {
    .read_body = read_body,
    .write = write_stream,
    .flush = flush,
    .finish = finish,
    .log = log_line,
    .served = served,
};

void exchange_answer(struct exchange *exchange, const char *head, size_t head_count, const char *body,
                     size_t body_count)
{
    exchange->answering = true;
    write_stream(&exchange->request, REQUEST_STDOUT, head, head_count);
    write_stream(&exchange->request, REQUEST_STDOUT, body, body_count);
    finish(&exchange->request);
}

void exchange_fail(struct exchange *exchange)
{
    exchange->answering = exchange->cut = true;
    finish(&exchange->request);
}
