#include "harness/load/live.h"

#include "harness/load/clock.h"
#include "harness/load/json_out.h"
#include "harness/load/units.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void live_line(FILE *file, const struct engine *engine, uint64_t now_ns, double rate)
{
    struct json json = {.file = file};
    const struct account *account = &engine->account;
    json_open(&json, NULL, '{');
    json_count(&json, "t_ns", now_ns + engine->realtime_offset_ns);
    json_number(&json, "elapsed_s", (double)(now_ns - engine->schedule.start_ns) / 1e9);
    json_count(&json, "sent", account->sent);
    for (int outcome = 0; outcome < OUTCOMES; outcome++)
        json_count(&json, outcome_names[outcome], account->ended[outcome]);
    json_count(&json, "in_flight", account->in_flight);
    json_count(&json, "waiting", schedule_backlog(&engine->schedule, now_ns));
    json_number(&json, "rate", rate);
    units_latency_json(&json, &account->second);
    json_close(&json, '}');
    putc('\n', file);
    fflush(file);
}

static void terminal_line(const struct engine *engine, uint64_t now_ns, double rate)
{
    const struct account *account = &engine->account;
    const char *bad = account->ended[OUTCOME_LOST] + account->ended[OUTCOME_ISOLATION] > 0 ? "\033[31m" : "";
    const char *off = bad[0] != '\0' ? "\033[0m" : "";
    char p50[16], p99[16];
    if (getenv("NO_COLOR") != NULL)
        bad = off = "";
    units_duration(p50, sizeof p50, histogram_percentile(&account->second, 50));
    units_duration(p99, sizeof p99, histogram_percentile(&account->second, 99));
    fprintf(stderr,
            "\r\033[K%5.0f s  %.0f/s  sent %llu  answered %llu  refused %llu  %slost %llu  isolation %llu%s  "
            "in flight %llu  p50 %s  p99 %s",
            (double)(now_ns - engine->schedule.start_ns) / 1e9, rate, (unsigned long long)account->sent,
            (unsigned long long)account->ended[OUTCOME_ANSWERED],
            (unsigned long long)account->ended[OUTCOME_REFUSED], bad,
            (unsigned long long)account->ended[OUTCOME_LOST],
            (unsigned long long)account->ended[OUTCOME_ISOLATION], off,
            (unsigned long long)account->in_flight, p50, p99);
    fflush(stderr);
}

static void on_second(struct observer *observer, struct engine *engine, uint64_t now_ns)
{
    struct live *live = (struct live *)observer;
    uint64_t since_ns = live->last_ns > 0 ? live->last_ns : engine->schedule.start_ns;
    uint64_t answered = engine->account.ended[OUTCOME_ANSWERED];
    double span_s = (double)(now_ns - since_ns) / 1e9;
    double rate = span_s > 0 ? (double)(answered - live->last_answered) / span_s : 0;
    live->last_ns = now_ns;
    live->last_answered = answered;
    if (live->live != NULL)
        live_line(live->live, engine, now_ns, rate);
    if (live->terminal)
        terminal_line(engine, now_ns, rate);
    if (live->losses != NULL)
        fflush(live->losses);
}

static void on_failed(struct observer *observer, struct engine *engine, const struct conn *conn,
                      uint64_t now_ns)
{
    struct live *live = (struct live *)observer;
    if (live->losses == NULL)
        return;
    struct json json = {.file = live->losses};
    const struct mix_line *line = conn->request.plan->line;
    char marker[MARKER_BYTES + 1] = "";
    memcpy(marker, conn->request.marker, MARKER_BYTES);
    json_open(&json, NULL, '{');
    json_text(&json, "outcome", outcome_names[conn->verdict.outcome]);
    json_text(&json, "reason", conn->verdict.reason);
    if (conn->verdict.detail[0] != '\0')
        json_text(&json, "detail", conn->verdict.detail);
    json_text(&json, "target", line->target);
    if (line->name != NULL)
        json_text(&json, "name", line->name);
    json_text(&json, "marker", marker);
    json_count(&json, "number", conn->request.number);
    json_count(&json, "sent_ns", conn->started_ns + engine->realtime_offset_ns);
    json_count(&json, "ended_ns", now_ns + engine->realtime_offset_ns);
    json_bool(&json, "reused", conn->reused);
    json_close(&json, '}');
    putc('\n', live->losses);
}

static bool open_file(FILE **file, const char *path, char *error, size_t error_bytes)
{
    if (path == NULL)
        return true;
    *file = fopen(path, "we");
    if (*file != NULL)
        return true;
    snprintf(error, error_bytes, "cannot write %s: %s", path, strerror(errno));
    return false;
}

bool live_open(struct live *live, const struct options *options, char *error, size_t error_bytes)
{
    *live = (struct live){.observer = {on_second, on_failed}};
    live->terminal = !options->quiet && isatty(STDERR_FILENO);
    return open_file(&live->live, options->live, error, error_bytes) &&
           open_file(&live->losses, options->losses, error, error_bytes);
}

static bool close_file(FILE **file)
{
    bool good = *file == NULL || fclose(*file) == 0;
    *file = NULL;
    return good;
}

bool live_close(struct live *live)
{
    if (live->terminal && live->last_ns > 0)
        fputs("\r\033[K", stderr);
    bool good = close_file(&live->live);
    return close_file(&live->losses) && good;
}
