/* From requests to slots: as many at once as the bound allows, the others in line. */
#include "runtime/defect.h"
#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/sapi/sapi.h"
#include "runtime/fiber/worker/access_log.h"
#include "runtime/fiber/worker/conn.h"
#include "runtime/fiber/worker/exchange.h"
#include "runtime/fiber/worker/time_limits.h"
#include "runtime/fiber/worker/worker_state.h"

#include <stdlib.h>
#include <string.h>

void list_append(struct exchange_list *list, struct exchange *exchange)
{
    exchange->next = NULL;
    exchange->previous = list->last;
    if (list->last)
        list->last->next = exchange;
    else
        list->first = exchange;
    list->last = exchange;
    list->count++;
}

void list_remove(struct exchange_list *list, struct exchange *exchange)
{
    if (exchange->previous)
        exchange->previous->next = exchange->next;
    else
        list->first = exchange->next;
    if (exchange->next)
        exchange->next->previous = exchange->previous;
    else
        list->last = exchange->previous;
    list->count--;
}

/* On the slot's stack. */
static void serve(void *argument)
{
    request_serve(argument);
}

static void start(struct worker *worker, struct exchange *exchange, struct slot *slot)
{
    exchange->slot = slot;
    list_append(&worker->flight, exchange);
    if (worker->flight.count > worker->active_max)
        worker->active_max = worker->flight.count;
    worker_note_state(worker);
    time_limits_start(exchange);
    sched_start(slot, serve, exchange, dispatch_ended);
}

/* A slot for the next request, NULL when it has to wait. */
static struct slot *next_slot(struct worker *worker)
{
    bool is_free = worker->flight.count < worker->in_flight_max || DEFECT(B14);
    return is_free ? slot_acquire() : NULL;
}

static void refuse(struct worker *worker, struct exchange *exchange)
{
    worker_log(worker, "ERROR", "no memory for even one request: it was refused");
    struct connection *conn = exchange->conn;
    fcgi_put_end(&conn->out, exchange->id, 0, FCGI_OVERLOADED);
    conn_answered(conn, false);
    exchange_free(exchange);
}

static void wait_in_line(struct worker *worker, struct exchange *exchange)
{
    worker->full_times++;
    exchange->queued = true;
    list_append(&worker->queue, exchange);
    worker_note_state(worker);
    conn_listen(exchange->conn); /* for its ABORT_REQUEST, or its end */
}

/* Runs those in line as slots become free. One request may end before start() returns, and call this again:
 * the first call goes on then, so that a long line is no deep recursion. */
static void start_waiting(struct worker *worker)
{
    if (worker->starting)
        return;
    worker->starting = true;
    struct slot *slot;
    while (worker->queue.count && (slot = next_slot(worker))) {
        struct exchange *exchange = worker->queue.first;
        worker_forget(worker, exchange);
        start(worker, exchange, slot);
    }
    worker->starting = false;
}

void worker_dispatch(struct worker *worker, struct exchange *exchange)
{
    worker->requests++;
    worker_note_state(worker);
    if (worker->pool->max_requests && worker->requests >= (uint64_t)worker->pool->max_requests)
        worker_drain(worker);
    if (status_answer(worker, exchange))
        return;
    struct slot *slot = worker->queue.count ? NULL : next_slot(worker);
    if (slot)
        start(worker, exchange, slot);
    else if (worker->flight.count)
        wait_in_line(worker, exchange);
    else
        refuse(worker, exchange);
}

void worker_forget(struct worker *worker, struct exchange *exchange)
{
    list_remove(&worker->queue, exchange);
    exchange->queued = false;
    worker_note_state(worker);
}

/* The C stack was overrun: the image is dropped, nothing of PHP's shutdown was made. */
static void answer_crash(struct exchange *exchange)
{
    static const char text[] =
        "Status: 500 Internal Server Error\r\nContent-type: text/html; charset=UTF-8\r\n\r\n";
    struct request *request = &exchange->request;
    worker_log(exchange->worker, "ERROR",
               request->timed_out ? "a request did not end when it was told to; its image was dropped"
                                  : "a request overran its C stack; its image was dropped");
    if (exchange->touched) {
        exchange_fail(exchange); /* what was sent must not look like a whole answer */
        return;
    }
    fcgi_buffer_drop(&exchange->piece, exchange->piece.count);
    request->status = 500;
    exchange_answer(exchange, text, sizeof text - 1, "", 0);
}

/* In the loop, after the slot has come to its end. */
void dispatch_ended(void *argument, bool crashed)
{
    struct exchange *exchange = argument;
    struct worker *worker = exchange->worker;
    struct slot *slot = exchange->slot;
    time_limits_stop(exchange);
    list_remove(&worker->flight, exchange);
    if (crashed)
        answer_crash(exchange);
    exchange->slot = NULL;
    slot_release(slot);
    if (crashed)
        worker_replace(worker);
    if (exchange->access_line)
        access_log_write(worker->access_log, exchange->access_line);
    exchange_free(exchange);
    start_waiting(worker);
    accept_adjust(worker);
    worker_note_state(worker);
    worker_end_if_drained(worker);
}
