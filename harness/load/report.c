#include "harness/load/report.h"

#include "harness/load/json_out.h"
#include "harness/load/units.h"

#define DURATION_BYTES 16
#define LATE_NS 10000000ull /* a send more than 10 ms late: the schedule was not kept */

static double seconds(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

/*
 * Up to the last answer, so that requests that are only waited for until their timeout do not dilute it (in
 * the open loop at least up to when the next request would have been due).
 */
static double answered_per_s(const struct engine *engine, uint64_t answered)
{
    const struct schedule *schedule = &engine->schedule;
    uint64_t end_ns = engine->last_answered_ns;
    if (schedule->rate_millihertz > 0 && schedule_intended_ns(schedule, schedule->next) > end_ns)
        end_ns = schedule_intended_ns(schedule, schedule->next);
    double span_s = seconds(schedule->start_ns, end_ns);
    return span_s > 0 ? (double)answered / span_s : 0;
}

/* ---- text ---- */

static unsigned long long plain(uint64_t value)
{
    return value;
}

static void text_head(FILE *file, const struct engine *engine)
{
    const struct options *options = engine->options;
    fprintf(file, "%s, %s, ", options->target, engine->env.target->protocol->name);
    if (options->rate_millihertz > 0)
        fprintf(file, "open loop at %g/s", (double)options->rate_millihertz / 1000);
    else
        fprintf(file, "closed loop of %llu client%s", plain(options->clients),
                options->clients == 1 ? "" : "s");
    if (options->slow != SLOW_OFF)
        fprintf(file, ", slow: %s", slow_names[options->slow]);
    fprintf(file, ", sent over %.1f s, seed %llu%s\n", seconds(engine->schedule.start_ns, engine->stopped_ns),
            plain(options->seed), engine->end == END_FINISHED ? "" : ", interrupted");
}

static void text_account(FILE *file, const struct account *account)
{
    fprintf(file, "  sent %llu = answered %llu + refused %llu + lost %llu + isolation %llu",
            plain(account->sent), plain(account->ended[OUTCOME_ANSWERED]),
            plain(account->ended[OUTCOME_REFUSED]), plain(account->ended[OUTCOME_LOST]),
            plain(account->ended[OUTCOME_ISOLATION]));
    if (account->in_flight > 0)
        fprintf(file, " + in flight %llu", plain(account->in_flight));
    fputc('\n', file);
}

static void text_schedule(FILE *file, const struct engine *engine)
{
    char behind[DURATION_BYTES], end[DURATION_BYTES];
    units_duration(behind, sizeof behind, engine->schedule.behind_ns_max / 1000);
    units_duration(end, sizeof end, engine->behind_end_ns / 1000);
    fprintf(file, "  %.1f answered a second",
            answered_per_s(engine, engine->account.ended[OUTCOME_ANSWERED]));
    if (engine->options->rate_millihertz == 0)
        fputc('\n', file);
    else if (engine->unsent > 0)
        fprintf(file,
                "; SCHEDULE NOT KEPT: up to %s behind, at the end %s, and %llu requests that were due were "
                "never sent\n",
                behind, end, plain(engine->unsent));
    else
        fprintf(file, "; %s: at most %s behind\n",
                engine->schedule.behind_ns_max > LATE_NS ? "SCHEDULE NOT KEPT" : "schedule kept", behind);
}

struct quantile {
    const char *name, *key;
    double percent;
};

static const struct quantile quantiles[] = {
    {"p50", "p50", 50},      {"p90", "p90", 90},         {"p99", "p99", 99},
    {"p99.9", "p999", 99.9}, {"p99.99", "p9999", 99.99},
};
#define QUANTILES (sizeof quantiles / sizeof quantiles[0])

static void text_latency(FILE *file, const struct engine *engine, const struct histogram *latency)
{
    char value[DURATION_BYTES];
    if (latency->count == 0) {
        fputs("  latency: none, nothing was answered\n", file);
        return;
    }
    units_duration(value, sizeof value, (uint64_t)histogram_mean_us(latency));
    fprintf(file, "  latency%s: mean %s",
            engine->options->rate_millihertz > 0 ? " (from the intended send time)" : "", value);
    for (size_t i = 0; i < QUANTILES; i++) {
        units_duration(value, sizeof value, histogram_percentile(latency, quantiles[i].percent));
        fprintf(file, ", %s %s", quantiles[i].name, value);
    }
    units_duration(value, sizeof value, latency->max_us);
    fprintf(file, ", max %s\n", value);
    if (latency->over > 0)
        fprintf(file, "  %llu latencies were over 60 s\n", plain(latency->over));
}

static void percentile_text(char out[DURATION_BYTES], const struct histogram *latency, double percent)
{
    if (latency->count == 0)
        snprintf(out, DURATION_BYTES, "-");
    else
        units_duration(out, DURATION_BYTES, histogram_percentile(latency, percent));
}

static void text_lines(FILE *file, const struct engine *engine)
{
    if (engine->mix->count < 2)
        return;
    fprintf(file, "\n  %9s %9s %8s %8s %9s  %9s %9s  request\n", "sent", "answered", "refused", "lost",
            "isolation", "p50", "p99");
    for (size_t i = 0; i < engine->mix->count; i++) {
        const struct account_line *line = &engine->account.lines[i];
        const struct mix_line *kind = &engine->mix->lines[i];
        char p50[DURATION_BYTES], p99[DURATION_BYTES];
        percentile_text(p50, &line->latency, 50);
        percentile_text(p99, &line->latency, 99);
        fprintf(file, "  %9llu %9llu %8llu %8llu %9llu  %9s %9s  %s %s\n", plain(line->sent),
                plain(line->ended[OUTCOME_ANSWERED]), plain(line->ended[OUTCOME_REFUSED]),
                plain(line->ended[OUTCOME_LOST]), plain(line->ended[OUTCOME_ISOLATION]), p50, p99,
                kind->method, kind->name != NULL ? kind->name : kind->target);
    }
}

static void text_reasons(FILE *file, const struct account *account)
{
    for (int outcome = OUTCOME_REFUSED; outcome < OUTCOMES; outcome++) {
        if (account->reasons[outcome] != NULL)
            fprintf(file, "\n  %s\n", outcome_names[outcome]);
        for (const struct reason *reason = account->reasons[outcome]; reason != NULL;
             reason = reason->hh.next)
            fprintf(file, "  %9llu  %s\n", plain(reason->count), reason->text);
    }
}

static void text_connections(FILE *file, const struct conn_counts *counts)
{
    fprintf(file, "  %llu connections, %llu requests on reused ones", plain(counts->opened),
            plain(counts->reused));
    if (counts->closed_idle > 0)
        fprintf(file, ", %llu closed by the target while idle", plain(counts->closed_idle));
    if (counts->unasked > 0)
        fprintf(file, ", %llu WITH BYTES NOBODY HAD ASKED FOR", plain(counts->unasked));
    if (counts->with_stderr > 0)
        fprintf(file, ", %llu answers with FCGI_STDERR", plain(counts->with_stderr));
    fputc('\n', file);
}

void report_text(FILE *file, const struct engine *engine)
{
    static struct histogram latency;
    account_latency(&engine->account, &latency);
    text_head(file, engine);
    text_account(file, &engine->account);
    text_schedule(file, engine);
    text_latency(file, engine, &latency);
    text_connections(file, &engine->env.counts);
    text_lines(file, engine);
    text_reasons(file, &engine->account);
}

/* ---- JSON ---- */

static void json_requests(struct json *json, uint64_t sent, const uint64_t ended[OUTCOMES])
{
    json_open(json, "requests", '{');
    json_count(json, "sent", sent);
    for (int outcome = 0; outcome < OUTCOMES; outcome++)
        json_count(json, outcome_names[outcome], ended[outcome]);
}

static void json_latency(struct json *json, const struct histogram *latency)
{
    json_open(json, "latency_us", '{');
    json_count(json, "min", latency->count > 0 ? latency->min_us : 0);
    json_number(json, "mean", histogram_mean_us(latency));
    for (size_t i = 0; i < QUANTILES; i++)
        json_count(json, quantiles[i].key, histogram_percentile(latency, quantiles[i].percent));
    json_count(json, "max", latency->max_us);
    json_count(json, "count", latency->count);
    json_count(json, "over_60s", latency->over);
    json_close(json, '}');
}

static void json_reasons(struct json *json, const struct account *account)
{
    json_open(json, "reasons", '{');
    for (int outcome = OUTCOME_REFUSED; outcome < OUTCOMES; outcome++) {
        json_open(json, outcome_names[outcome], '{');
        for (const struct reason *reason = account->reasons[outcome]; reason != NULL;
             reason = reason->hh.next)
            json_count(json, reason->text, reason->count);
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void json_lines(struct json *json, const struct engine *engine)
{
    json_open(json, "by_target", '[');
    for (size_t i = 0; i < engine->mix->count; i++) {
        const struct account_line *line = &engine->account.lines[i];
        const struct mix_line *kind = &engine->mix->lines[i];
        json_open(json, NULL, '{');
        json_text(json, "target", kind->target);
        json_text(json, "method", kind->method);
        json_text(json, "name", kind->name);
        json_count(json, "weight", kind->weight);
        json_count(json, "expect", (uint64_t)kind->expect);
        json_requests(json, line->sent, line->ended);
        json_close(json, '}');
        json_number(json, "requests_per_s", answered_per_s(engine, line->ended[OUTCOME_ANSWERED]));
        json_latency(json, &line->latency);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_histogram(struct json *json, const struct histogram *histogram)
{
    json_open(json, "histogram", '[');
    for (size_t i = 0; i < HISTOGRAM_COUNTERS; i++) {
        if (histogram->counters[i] == 0)
            continue;
        json_open(json, NULL, '[');
        json_count(json, NULL, histogram_highest_us(i));
        json_count(json, NULL, histogram->counters[i]);
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void json_schedule(struct json *json, const struct engine *engine)
{
    json_open(json, "schedule", '{');
    json_bool(json, "kept", engine->unsent == 0 && engine->schedule.behind_ns_max <= LATE_NS);
    json_number(json, "behind_us_max", (double)engine->schedule.behind_ns_max / 1000);
    json_number(json, "behind_us_end", (double)engine->behind_end_ns / 1000);
    json_count(json, "unsent", engine->unsent);
    json_close(json, '}');
}

static void json_connections(struct json *json, const struct conn_counts *counts)
{
    json_open(json, "connections", '{');
    json_count(json, "opened", counts->opened);
    json_count(json, "reused", counts->reused);
    json_count(json, "closed_idle", counts->closed_idle);
    json_count(json, "unasked_bytes", counts->unasked);
    json_close(json, '}');
    json_count(json, "with_stderr", counts->with_stderr);
    json_count(json, "answered_early", counts->early);
    json_open(json, "bytes", '{');
    json_count(json, "sent", counts->bytes_sent);
    json_count(json, "received", counts->bytes_received);
    json_close(json, '}');
}

static void json_head(struct json *json, const struct engine *engine)
{
    const struct options *options = engine->options;
    bool open = options->rate_millihertz > 0;
    json_count(json, "version", 1);
    json_count(json, "seed", options->seed);
    json_text(json, "target", options->target);
    json_text(json, "protocol", engine->env.target->protocol->name);
    json_text(json, "mode", open ? "open" : "closed");
    if (open)
        json_number(json, "rate", (double)options->rate_millihertz / 1000);
    else
        json_null(json, "rate");
    json_count(json, "clients", options->clients);
    json_count(json, "connections_max", options->connections);
    json_bool(json, "keep_alive", options->keep_alive);
    json_text(json, "slow", slow_names[options->slow]);
    json_bool(json, "interrupted", engine->end != END_FINISHED);
    json_count(json, "started_ns", engine->schedule.start_ns + engine->realtime_offset_ns);
    json_number(json, "duration_s", seconds(engine->schedule.start_ns, engine->stopped_ns));
}

void report_json(FILE *file, const struct engine *engine)
{
    static struct histogram latency;
    struct json json = {.file = file};
    account_latency(&engine->account, &latency);
    json_open(&json, NULL, '{');
    json_head(&json, engine);
    json_requests(&json, engine->account.sent, engine->account.ended);
    json_count(&json, "in_flight", engine->account.in_flight);
    json_close(&json, '}');
    json_reasons(&json, &engine->account);
    json_latency(&json, &latency);
    json_number(&json, "requests_per_s", answered_per_s(engine, engine->account.ended[OUTCOME_ANSWERED]));
    json_schedule(&json, engine);
    json_connections(&json, &engine->env.counts);
    json_lines(&json, engine);
    json_histogram(&json, &latency);
    json_close(&json, '}');
    putc('\n', file);
}
