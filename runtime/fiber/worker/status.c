/* ping.path and pm.status_path. Answered by the worker itself, without an image: so they answer also when all
 * slots are taken, which is when one wants to look. (A worker that is full accepts no new connections: then
 * the one that asks has to be kept from before, or another worker answers.)
 *
 * The fields and their order are php-fpm's. Where php-fpm counts processes, of which each serves one request,
 * these are requests: "active" in flight, "idle" what the bound leaves room for. Then follow fields of ours.
 * ?full adds a row for each request in flight of the worker that answers. */
#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/sapi/sapi.h"
#include "runtime/fiber/worker/access_log.h"
#include "runtime/fiber/worker/exchange.h"
#include "runtime/fiber/worker/limits.h"
#include "runtime/fiber/worker/page.h"
#include "runtime/fiber/worker/worker_state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the pool ---- */

struct totals {
    time_t started_s;
    uint64_t requests, slow, bound_reached;
    unsigned active, active_max, workers, queued;
};

static void add(struct totals *totals, const struct scoreboard_slot *score)
{
    if (!score->pid)
        return;
    if (!totals->workers++ || score->started_s < totals->started_s)
        totals->started_s = score->started_s;
    totals->requests += score->requests;
    totals->slow += score->slow;
    totals->bound_reached += score->bound_reached;
    totals->active += score->in_flight;
    totals->active_max += score->in_flight_max;
    totals->queued += score->queued;
}

static struct totals add_up(const struct worker *worker)
{
    const struct worker_settings *settings = worker->settings;
    struct totals totals = {.started_s = worker->started_s};
    for (unsigned i = 0; settings->scores && i < settings->scores_count; i++)
        add(&totals, &settings->scores[i]);
    return totals;
}

static void put_pool(struct page *page, const struct worker *worker)
{
    struct totals totals = add_up(worker);
    unsigned total = totals.workers * worker->in_flight_max;
    page_text(page, "pool", worker->pool->name);
    page_text(page, "process manager", "static");
    page_time(page, "start time", totals.started_s);
    page_number(page, "start since", (uint64_t)(time(NULL) - totals.started_s));
    page_number(page, "accepted conn", totals.requests);
    page_number(page, "listen queue", totals.queued);
    page_number(page, "max listen queue", 0);
    page_number(page, "listen queue len", 0);
    page_number(page, "idle processes", total > totals.active ? total - totals.active : 0);
    page_number(page, "active processes", totals.active);
    page_number(page, "total processes", total);
    page_number(page, "max active processes", totals.active_max);
    page_number(page, "max children reached", totals.bound_reached);
    page_number(page, "slow requests", totals.slow);
    page_number(page, "workers", totals.workers);
    page_number(page, "generation", worker->settings->generation);
    page_number(page, "worker pid", (uint64_t)getpid());
    page_number(page, "worker in flight", worker->flight.count);
    page_number(page, "worker in line", worker->queue.count);
    page_number(page, "worker connections", worker->connections_count);
}

/* ---- its requests ---- */

static const char *or_dash(const char *text)
{
    return text && *text ? text : "-";
}

static void ask_memory(void *bytes)
{
    *(size_t *)bytes = sapi_memory_bytes();
}

static const char *waits_for(const struct exchange *exchange)
{
    static const char *const names[] = {
        [WAIT_NONE] = "something", [WAIT_BODY] = "its body", [WAIT_ROOM] = "its client to read"};
    return slot_state(exchange->slot) == SLOT_PARKED ? names[exchange->waits_for] : "-";
}

static void put_request(struct page *page, const struct worker *worker, const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    bool query = request->query && *request->query;
    char uri[4096];
    size_t memory_bytes = 0;
    snprintf(uri, sizeof uri, "%s%s%s", or_dash(request->uri), query ? "?" : "", query ? request->query : "");
    slot_with_image(exchange->slot, ask_memory, &memory_bytes);
    page_number(page, "pid", (uint64_t)getpid());
    page_text(page, "state", request_stage_name(request->stage));
    page_time(page, "start time", request->accepted_s);
    page_number(page, "start since", (uint64_t)(time(NULL) - request->accepted_s));
    page_number(page, "requests", worker->requests);
    page_number(page, "request duration", (uint64_t)(sched_now_ns() - request->accepted_ns) / 1000);
    page_text(page, "request method", or_dash(request->method));
    page_text(page, "request URI", uri);
    page_number(page, "content length", (uint64_t)request->content_length);
    page_text(page, "user", or_dash(request->user));
    page_text(page, "script", or_dash(request->script));
    page_number(page, "last request cpu", 0);
    page_number(page, "last request memory", memory_bytes);
    page_text(page, "waits for", waits_for(exchange));
}

static void put_requests(struct page *page, const struct worker *worker)
{
    page_rows(page);
    for (const struct exchange *exchange = worker->flight.first; exchange; exchange = exchange->next) {
        page_row(page);
        put_request(page, worker, exchange);
        if (!page_row_end(page))
            break;
    }
}

/* ---- answering ---- */

static bool asks(const char *query, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = query; at && *at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL)
        if (!strncmp(at, name, length) && (!at[length] || at[length] == '&' || at[length] == '='))
            return true;
    return false;
}

static enum page_style style_of(const char *query)
{
    for (int style = PAGE_TEXT + 1; style < PAGE_STYLES; style++)
        if (asks(query, page_kinds[style].name))
            return (enum page_style)style;
    return PAGE_TEXT;
}

static void note_facts(struct worker *worker, struct exchange *exchange, const char *type)
{
    struct request *request = &exchange->request;
    request->method = params_get(&request->params, "REQUEST_METHOD");
    request->uri = params_get(&request->params, "SCRIPT_NAME");
    request->query = params_get(&request->params, "QUERY_STRING");
    request->status = 200;
    request->type = type;
    if (worker->access_log &&
        (exchange->access_line = access_log_line(worker->access_log, worker->pool->name, request)))
        access_log_write(worker->access_log, exchange->access_line);
}

/* As php-fpm has them: the type comes first for a ping, and last for the status page. */
#define NEVER_CACHED                                                                                         \
    "Expires: Thu, 01 Jan 1970 00:00:00 GMT\r\n"                                                             \
    "Cache-Control: no-cache, no-store, must-revalidate, max-age=0\r\n"

static const char ping_head[] = "%s%s: %s\r\n" NEVER_CACHED "\r\n";
static const char status_head[] = "%s" NEVER_CACHED "%s: %s\r\n\r\n";

static void answer(struct exchange *exchange, const char *head_format, const struct page_kind *kind,
                   const char *body, size_t body_count)
{
    char head[512];
    bool is_head = !strcmp(exchange->request.method, "HEAD");
    int count = snprintf(head, sizeof head, head_format,
                         sapi_exposes_php() ? SAPI_PHP_VERSION_HEADER "\r\n" : "", kind->header, kind->type);
    exchange_answer(exchange, head, (size_t)count, body, is_head ? 0 : body_count);
}

static void answer_ping(struct worker *worker, struct exchange *exchange)
{
    const struct page_kind *kind = &page_kinds[PAGE_TEXT];
    const char *text = worker->pool->ping_response;
    note_facts(worker, exchange, kind->type);
    answer(exchange, ping_head, kind, text, strlen(text));
}

static void answer_status(struct worker *worker, struct exchange *exchange)
{
    /* To a HEAD php-fpm says what PHP says of a page whose type nobody has set. */
    static const struct page_kind untyped = {.header = "Content-type", .type = "text/html; charset=UTF-8"};
    const char *query = params_get(&exchange->request.params, "QUERY_STRING");
    enum page_style style = style_of(query);
    note_facts(worker, exchange, page_kinds[style].type);
    struct page *page = page_new(style);
    if (!page) {
        exchange_fail(exchange);
        return;
    }
    put_pool(page, worker);
    if (asks(query, "full"))
        put_requests(page, worker);
    page_end(page);
    size_t count;
    const char *text = page_bytes(page, &count);
    bool is_head = !strcmp(exchange->request.method, "HEAD");
    answer(exchange, status_head, is_head ? &untyped : &page_kinds[style], text, count);
    page_free(page);
}

static bool is_path(const char *path, const char *uri)
{
    return path && *path && !strcmp(path, uri);
}

bool status_answer(struct worker *worker, struct exchange *exchange)
{
    const struct params *params = &exchange->request.params;
    const char *uri = params_get(params, "SCRIPT_NAME"), *method = params_get(params, "REQUEST_METHOD");
    if (!uri || !method)
        return false;
    bool is_ping = is_path(worker->pool->ping_path, uri);
    if (!is_ping && !is_path(worker->pool->status_path, uri))
        return false;
    if (is_ping)
        answer_ping(worker, exchange);
    else
        answer_status(worker, exchange);
    exchange_free(exchange);
    return true;
}
