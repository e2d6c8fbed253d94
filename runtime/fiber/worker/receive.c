/* What the FastCGI reader finds becomes an exchange. Nothing runs in here: the caller of the reader looks at
 * what there is when all bytes that had come are taken. */
#include "runtime/fiber/worker/receive.h"

#include "runtime/fiber/worker/exchange.h"
#include "runtime/fiber/worker/limits.h"
#include "runtime/fiber/worker/worker_state.h"

#include <stdio.h>

static void refuse(struct connection *conn, uint16_t id, enum fcgi_protocol_status status, bool keep)
{
    fcgi_put_end(&conn->out, id, 0, status);
    if (!keep && !conn->exchange)
        conn->close_when_sent = true;
}

static void on_begin(void *context, uint16_t id, enum fcgi_role role, bool keep)
{
    (void)role;
    struct connection *conn = context;
    conn->served = true;
    conn->exchange = exchange_new(conn, id, keep);
    if (conn->exchange)
        return;
    refuse(conn, id, FCGI_OVERLOADED, false);
    fcgi_reader_request_ended(&conn->reader);
}

static void on_param(void *context, uint16_t id, const char *name, size_t name_bytes, const char *value,
                     size_t value_bytes)
{
    (void)id;
    struct exchange *exchange = ((struct connection *)context)->exchange;
    if (exchange && !params_add(&exchange->request.params, name, name_bytes, value, value_bytes))
        exchange->client_gone = true;
}

static void on_params_end(void *context, uint16_t id)
{
    (void)id;
    struct exchange *exchange = ((struct connection *)context)->exchange;
    if (exchange)
        exchange->params_ended = true;
}

static void on_input(void *context, uint16_t id, const unsigned char *bytes, size_t count)
{
    (void)id;
    struct connection *conn = context;
    struct exchange *exchange = conn->exchange;
    if (!exchange)
        return;
    if (!fcgi_buffer_append(&exchange->body, bytes, count))
        exchange->client_gone = true; /* no memory: what came cannot be kept */
    if (exchange->body.count >= BODY_BYTES_MAX)
        fcgi_reader_pause(&conn->reader);
}

static void on_input_end(void *context, uint16_t id)
{
    (void)id;
    struct exchange *exchange = ((struct connection *)context)->exchange;
    if (exchange)
        exchange->body_ended = true;
}

static void on_abort(void *context, uint16_t id)
{
    (void)id;
    struct exchange *exchange = ((struct connection *)context)->exchange;
    if (exchange)
        exchange->client_gone = true;
}

static void on_reject(void *context, uint16_t id, enum fcgi_protocol_status status, bool keep)
{
    refuse(context, id, status, keep);
}

static void on_get_values(void *context, unsigned asked)
{
    struct connection *conn = context;
    const struct fcgi_values values = {conn->worker->connections_max, conn->worker->in_flight_max};
    fcgi_put_values_result(&conn->out, asked, &values);
}

static void on_unknown_type(void *context, uint8_t type)
{
    struct connection *conn = context;
    fcgi_put_unknown_type(&conn->out, type);
}

static void on_error(void *context, const char *reason)
{
    struct connection *conn = context;
    char text[FCGI_REASON_BYTES + 60];
    snprintf(text, sizeof text, "connection closed: it is not FastCGI: %s", reason);
    worker_log(conn->worker, "WARNING", text);
}

const struct fcgi_handler receive_handler = {
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
