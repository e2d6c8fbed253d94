/* ping.path and pm.status_path. Answered by the worker itself, without an image: so they answer also when all
 * slots are taken, which is when one wants to look.
 *
 * The fields and their order are php-fpm's. Where php-fpm counts processes, of which each serves one request,
 * these are requests: "active" in flight, "idle" what the bound leaves room for. Then follow fields of ours.
 * ?full adds a row for each request in flight of the worker that answers. */
#include "runtime/fiber/sapi/sapi.h"
#include "runtime/fiber/worker/access_log.h"
#include "runtime/fiber/worker/exchange.h"
#include "runtime/fiber/worker/limits.h"
#include "runtime/fiber/worker/worker_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct page {
    char *text;
    size_t length;
    bool json;
    unsigned fields; /* since the last brace: commas */
};

static void put(struct page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(page->text + page->length, STATUS_BYTES_MAX - page->length, format, arguments);
    va_end(arguments);
    if (count > 0 && page->length + (size_t)count < STATUS_BYTES_MAX)
        page->length += (size_t)count;
    else
        page->text[page->length] = '\0';
}

static void put_json_text(struct page *page, const char *text)
{
    put(page, "\"");
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\' || byte == '/')
            put(page, "\\%c", byte);
        else if (byte < 0x20 || byte >= 0x7f)
            put(page, "\\u%04x", byte);
        else
            put(page, "%c", byte);
    }
    put(page, "\"");
}

/* One field, in either format. `name_json` may be NULL when it is the same. */
static void name_field(struct page *page, const char *name, const char *name_json)
{
    if (page->json)
        put(page, "%s\"%s\":", page->fields++ ? "," : "", name_json ? name_json : name);
    else
        put(page, "%s:%*s", name, 21 - (int)strlen(name), "");
}

static void put_text(struct page *page, const char *name, const char *name_json, const char *value)
{
    name_field(page, name, name_json);
    if (page->json)
        put_json_text(page, value);
    else
        put(page, "%s\n", value);
}

static void put_number(struct page *page, const char *name, uint64_t value)
{
    name_field(page, name, NULL);
    put(page, page->json ? "%" PRIu64 : "%" PRIu64 "\n", value);
}

static void put_time(struct page *page, const char *name, time_t value)
{
    if (page->json) {
        put_number(page, name, (uint64_t)value);
        return;
    }
    char text[64];
    struct tm parts;
    localtime_r(&value, &parts);
    strftime(text, sizeof text, "%d/%b/%Y:%H:%M:%S %z", &parts);
    put_text(page, name, NULL, text);
}

/* ---- the pool ---- */

struct totals {
    uint64_t requests;
    unsigned active, active_max, workers, queued;
};

static struct totals add_up(const struct worker *worker)
{
    const struct worker_settings *settings = worker->settings;
    if (!settings->scores)
        return (struct totals){worker->requests, worker->flight.count, worker->active_max, 1,
                               worker->queue.count};
    struct totals totals = {0};
    for (unsigned i = 0; i < settings->scores_count; i++) {
        const struct scoreboard_slot *score = &settings->scores[i];
        if (!score->pid)
            continue;
        totals.workers++;
        totals.requests += score->requests;
        totals.active += score->in_flight;
        totals.active_max += score->in_flight_max;
        totals.queued += score->queued;
    }
    return totals;
}

static void put_pool(struct page *page, const struct worker *worker)
{
    struct totals totals = add_up(worker);
    unsigned total = totals.workers * worker->in_flight_max;
    put_text(page, "pool", NULL, worker->pool->name);
    put_text(page, "process manager", NULL, "static");
    put_time(page, "start time", worker->started_s);
    put_number(page, "start since", (uint64_t)(time(NULL) - worker->started_s));
    put_number(page, "accepted conn", totals.requests);
    put_number(page, "listen queue", totals.queued);
    put_number(page, "max listen queue", 0);
    put_number(page, "listen queue len", 0);
    put_number(page, "idle processes", total > totals.active ? total - totals.active : 0);
    put_number(page, "active processes", totals.active);
    put_number(page, "total processes", total);
    put_number(page, "max active processes", totals.active_max);
    put_number(page, "max children reached", worker->full_times);
    put_number(page, "slow requests", worker->slow_requests);
    put_number(page, "workers", totals.workers);
    put_number(page, "generation", worker->settings->generation);
    put_number(page, "worker pid", (uint64_t)getpid());
    put_number(page, "worker in flight", worker->flight.count);
    put_number(page, "worker in line", worker->queue.count);
    put_number(page, "worker connections", worker->connections_count);
}

/* ---- its requests ---- */

static uint64_t since_us(const struct timespec *begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = (int64_t)(now.tv_sec - begun->tv_sec) * 1000000000 + (now.tv_nsec - begun->tv_nsec);
    return (uint64_t)(ns / 1000);
}

static const char *or_dash(const char *text)
{
    return text && *text ? text : "-";
}

static void put_request(struct page *page, const struct worker *worker, const struct request *request)
{
    bool query = request->query && *request->query;
    char uri[1024];
    snprintf(uri, sizeof uri, "%s%s%s", or_dash(request->uri), query ? "?" : "", query ? request->query : "");
    put_number(page, "pid", (uint64_t)getpid());
    put_text(page, "state", NULL, request_stage_name(request->stage));
    put_time(page, "start time", worker->started_s);
    put_number(page, "start since", (uint64_t)(time(NULL) - worker->started_s));
    put_number(page, "requests", worker->requests);
    put_number(page, "request duration", since_us(&request->accepted));
    put_text(page, "request method", NULL, or_dash(request->method));
    put_text(page, "request URI", "request uri", uri);
    put_number(page, "content length", (uint64_t)request->content_length);
    put_text(page, "user", NULL, or_dash(request->user));
    put_text(page, "script", NULL, or_dash(request->script));
    name_field(page, "last request cpu", NULL);
    put(page, page->json ? "0.00" : "0.00\n");
    put_number(page, "last request memory", 0);
}

static void put_requests(struct page *page, const struct worker *worker)
{
    if (page->json)
        put(page, ", \"processes\":[");
    bool first = true;
    for (const struct exchange *exchange = worker->flight.first; exchange; exchange = exchange->next) {
        size_t before = page->length;
        if (page->json)
            put(page, "%s{", first ? "" : ",");
        else
            put(page, "\n************************\n");
        page->fields = 0;
        put_request(page, worker, &exchange->request);
        if (page->json)
            put(page, "}");
        if (page->length + 4096 > STATUS_BYTES_MAX) {
            page->length = before; /* no row is cut: those that do not fit are left out */
            break;
        }
        first = false;
    }
    if (page->json)
        put(page, "]");
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

static void put_status(struct page *page, const struct worker *worker, const char *query)
{
    if (page->json)
        put(page, "{");
    put_pool(page, worker);
    if (asks(query, "full"))
        put_requests(page, worker);
    if (page->json)
        put(page, "}");
}

#define NEVER_CACHED                                                                                         \
    "Expires: Thu, 01 Jan 1970 00:00:00 GMT\r\n"                                                             \
    "Cache-Control: no-cache, no-store, must-revalidate, max-age=0\r\n"

static void put_head(struct page *page, bool ping)
{
    const char *text = "Content-type: text/plain;charset=UTF-8\r\n";
    const char *type = page->json ? "Content-Type: application/json\r\n" : text;
    put(page, "%s%s%s%s\r\n", sapi_exposes_php() ? SAPI_PHP_VERSION_HEADER "\r\n" : "", ping ? type : "",
        NEVER_CACHED, ping ? "" : type);
}

static void note_facts(struct worker *worker, struct exchange *exchange)
{
    struct request *request = &exchange->request;
    request->method = params_get(&request->params, "REQUEST_METHOD");
    request->uri = params_get(&request->params, "SCRIPT_NAME");
    request->query = params_get(&request->params, "QUERY_STRING");
    request->status = 200;
    if (worker->access_log &&
        (exchange->access_line = access_log_line(worker->access_log, worker->pool->name, request)))
        access_log_write(worker->access_log, exchange->access_line);
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
    bool ping = is_path(worker->pool->ping_path, uri);
    if (!ping && !is_path(worker->pool->status_path, uri))
        return false;
    const char *query = params_get(params, "QUERY_STRING");
    struct page page = {.text = malloc(STATUS_BYTES_MAX), .json = !ping && asks(query, "json")};
    if (!page.text)
        return false;
    put_head(&page, ping);
    if (strcmp(method, "HEAD")) {
        if (ping)
            put(&page, "%s", worker->pool->ping_response);
        else
            put_status(&page, worker, query);
    }
    note_facts(worker, exchange);
    exchange_answer(exchange, page.text, page.length);
    free(page.text);
    exchange_free(exchange);
    return true;
}
