#include "harness/load/options.h"

#include "harness/load/clock.h"
#include "harness/load/text.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DURATION_DEFAULT_NS (10 * NS_PER_S)
#define CLIENTS_DEFAULT 10
#define CONNECTIONS_DEFAULT 256
#define TIMEOUT_DEFAULT_NS (10 * NS_PER_S)
#define PACE_DEFAULT_NS (10 * NS_PER_MS)

const char *const slow_names[] = {
    [SLOW_OFF] = "off",
    [SLOW_HEADER_BYTES] = "header-bytes",
    [SLOW_STALLED_BODY] = "stalled-body",
    [SLOW_NO_READ] = "no-read",
};

enum kind { KIND_TEXT, KIND_FLAG, KIND_COUNT, KIND_RATE, KIND_DURATION };

struct row {
    const char *name;
    const char *argument;
    enum kind kind;
    size_t offset;
    uint64_t min, max;
    const char *help;
};

#define FIELD(name) offsetof(struct options, name)
#define HOUR_NS (3600 * NS_PER_S)

static const struct row rows[] = {
    {"--target", "URL", KIND_TEXT, FIELD(target), 0, 0,
     "unix:/PATH or fcgi://HOST:PORT (FastCGI), http://HOST:PORT or http+unix:/PATH"},
    {"--root", "DIR", KIND_TEXT, FIELD(root), 0, 0,
     "FastCGI: the document root; SCRIPT_FILENAME is DIR + path"},
    {"--mix", "FILE", KIND_TEXT, FIELD(mix), 0, 0, "the requests, one kind a line (below)"},
    {"--get", "/PATH", KIND_TEXT, FIELD(get), 0, 0, "instead of --mix: GET this"},
    {"--rate", "N/s", KIND_RATE, FIELD(rate_millihertz), 1, 10000000000ull,
     "open loop: N requests a second, whatever the answers do"},
    {"--clients", "N", KIND_COUNT, FIELD(clients), 1, CONNECTIONS_MAX,
     "closed loop: N clients, each waits for its answer (default 10)"},
    {"--duration", "TIME", KIND_DURATION, FIELD(duration_ns), 1, 24 * 365 * HOUR_NS,
     "how long to send, such as 500ms, 30s, 5m, 8h (default 10s, unless --requests is given)"},
    {"--requests", "N", KIND_COUNT, FIELD(requests), 1, 1000000000000ull, "how many to send at most"},
    {"--connections", "N", KIND_COUNT, FIELD(connections), 1, CONNECTIONS_MAX,
     "open loop: at most N open at once (default 256)"},
    {"--keep-alive", NULL, KIND_FLAG, FIELD(keep_alive), 0, 0,
     "more than one request on a connection (php-fpm: open no more than it has workers)"},
    {"--timeout", "TIME", KIND_DURATION, FIELD(timeout_ns), NS_PER_MS, HOUR_NS,
     "a request without its whole answer by then is lost (default 10s)"},
    {"--seed", "N", KIND_COUNT, FIELD(seed), 0, UINT64_MAX, "same seed, same requests (default 1)"},
    {"--live", "FILE", KIND_TEXT, FIELD(live), 0, 0, "write a JSON line each second"},
    {"--losses", "FILE", KIND_TEXT, FIELD(losses), 0, 0, "write a JSON line for each request not answered"},
    {"--json", "FILE", KIND_TEXT, FIELD(json), 0, 0, "write the summary as JSON"},
    {"--quiet", NULL, KIND_FLAG, FIELD(quiet), 0, 0, "print no summary and no live line"},
    {"--slow", "MODE", KIND_TEXT, FIELD(slow_name), 0, 0,
     "be a slow client: header-bytes, stalled-body or no-read (below)"},
    {"--slow-pace", "TIME", KIND_DURATION, FIELD(pace_ns), NS_PER_US, HOUR_NS,
     "header-bytes: the time between two bytes (default 10ms)"},
    {"--die-with-parent", NULL, KIND_FLAG, FIELD(die_with_parent), 0, 0,
     "end when the process that started this ends"},
    {"--help", NULL, KIND_FLAG, FIELD(help), 0, 0, "this text"},
};

static const char *const expected[] = {
    [KIND_TEXT] = "a text",
    [KIND_FLAG] = "",
    [KIND_COUNT] = "a whole number such as 100",
    [KIND_RATE] = "requests a second such as 500 or 500/s",
    [KIND_DURATION] = "a time such as 500ms, 30s or 5m",
};

static bool read_number(const struct row *row, const char *value, uint64_t *number)
{
    bool good = row->kind == KIND_COUNT      ? text_count(value, number)
                : row->kind == KIND_RATE     ? text_rate(value, number)
                : row->kind == KIND_DURATION ? text_duration(value, number)
                                             : false;
    return good && *number >= row->min && *number <= row->max;
}

static bool read_value(struct options *options, const struct row *row, const char *value, char *error)
{
    void *field = (char *)options + row->offset;
    if (row->kind == KIND_FLAG) {
        *(bool *)field = true;
        return true;
    }
    if (row->kind == KIND_TEXT) {
        *(const char **)field = value;
        return true;
    }
    if (read_number(row, value, field))
        return true;
    snprintf(error, OPTIONS_ERROR_BYTES, "%s '%.60s': expected %s, in its limits", row->name, value,
             expected[row->kind]);
    return false;
}

static const struct row *row_named(const char *name, size_t bytes)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strlen(rows[i].name) == bytes && memcmp(rows[i].name, name, bytes) == 0)
            return &rows[i];
    }
    return NULL;
}

static bool unknown_option(const char *word, char *error)
{
    const char *names[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++)
        names[i] = rows[i].name;
    const char *nearest = text_nearest(word, names, COUNT(rows));
    snprintf(error, OPTIONS_ERROR_BYTES, "unknown option '%.60s'%s%s%s (--help lists them)", word,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return false;
}

static bool refuse(char *error, const char *message)
{
    snprintf(error, OPTIONS_ERROR_BYTES, "%s", message);
    return false;
}

static bool read_slow(struct options *options, char *error)
{
    if (options->slow_name == NULL)
        return true;
    for (size_t i = SLOW_HEADER_BYTES; i < COUNT(slow_names); i++) {
        if (strcmp(options->slow_name, slow_names[i]) == 0) {
            options->slow = (enum slow_mode)i;
            return true;
        }
    }
    const char *nearest = text_nearest(options->slow_name, slow_names + 1, COUNT(slow_names) - 1);
    snprintf(error, OPTIONS_ERROR_BYTES,
             "--slow '%.60s': expected header-bytes, stalled-body or no-read%s%s%s", options->slow_name,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return false;
}

/* The options fit together; then the defaults. */
static bool options_complete(struct options *options, char *error)
{
    if (options->target == NULL)
        return refuse(error, "no target: expected --target URL, such as --target unix:/run/php.sock");
    if ((options->mix == NULL) == (options->get == NULL))
        return refuse(error, "expected either --mix FILE or --get /PATH, to know what to ask for");
    if (options->rate_millihertz > 0 && options->clients > 0)
        return refuse(error, "--rate (open loop) and --clients (closed loop) exclude each other");
    if (options->clients == 0 && options->rate_millihertz == 0)
        options->clients = CLIENTS_DEFAULT;
    if (options->clients > 0 && options->connections > 0 && options->connections < options->clients)
        return refuse(error,
                      "--connections below --clients: in the closed loop each client has its own connection");
    if (options->clients > 0)
        options->connections = options->clients;
    if (options->connections == 0)
        options->connections = CONNECTIONS_DEFAULT;
    if (options->duration_ns == 0 && options->requests == 0)
        options->duration_ns = DURATION_DEFAULT_NS;
    return read_slow(options, error);
}

bool options_parse(struct options *options, int argc, char **argv, char error[OPTIONS_ERROR_BYTES])
{
    *options = (struct options){.seed = 1, .timeout_ns = TIMEOUT_DEFAULT_NS, .pace_ns = PACE_DEFAULT_NS};
    for (int i = 1; i < argc; i++) {
        size_t bytes = strcspn(argv[i], "=");
        const char *value = argv[i][bytes] == '=' ? argv[i] + bytes + 1 : NULL;
        const struct row *row = row_named(argv[i], bytes);
        if (row == NULL)
            return unknown_option(argv[i], error);
        if (row->kind == KIND_FLAG && value != NULL) {
            snprintf(error, OPTIONS_ERROR_BYTES, "%s takes no value", row->name);
            return false;
        }
        if (row->kind != KIND_FLAG && value == NULL) {
            value = ++i < argc ? argv[i] : NULL;
            if (value == NULL) {
                snprintf(error, OPTIONS_ERROR_BYTES, "%s without its %s: expected %s", row->name,
                         row->argument, expected[row->kind]);
                return false;
            }
        }
        if (!read_value(options, row, value, error))
            return false;
    }
    return options->help || options_complete(options, error);
}

static const char help_head[] =
    "ordeal-load: sends requests to a FastCGI or HTTP server, and accounts for every one of them.\n"
    "\n"
    "  ordeal-load --target URL [--root DIR] (--mix FILE | --get /PATH) [--rate N/s | --clients N] [option "
    "...]\n"
    "\n"
    "Each request ends in exactly one column: answered, refused, lost, or isolation (it got the answer of\n"
    "another request). Latencies are those of answered requests; in the open loop they count from the time "
    "at\n"
    "which the request was due, so a target that stalls cannot hide it.\n"
    "\n"
    "Options:\n";

static const char help_tail[] =
    "\n"
    "The mix file: WEIGHT METHOD TARGET [option ...]; '#' starts a comment.\n"
    "\n"
    "  40 GET  /hello.php\n"
    "   5 GET  /session.php?sid={sid:16}     one of 16 session ids; also {n}, {marker}, {random:1000}\n"
    "   2 GET  /fatal.php expect=500         the status that is right here (default 200)\n"
    "   1 POST /upload.php body=8M           8 MB of generated bytes; also body=@FILE, body=text:a=b\n"
    "   1 GET  /page marker=off              this page echoes no marker; marker=body: it ends with "
    "marker=...\n"
    "   1 GET  /a \"header:Cookie=a=1; b=2\" name=cookies\n"
    "\n"
    "The marker: each request has the header X-Ordeal-Marker (FastCGI: HTTP_X_ORDEAL_MARKER), and its answer "
    "must\n"
    "have a header X-Ordeal-Marker of the same value.\n"
    "\n"
    "Slow clients (--slow MODE), each ended by --timeout at the latest; the account says what the target "
    "did:\n"
    "\n"
    "  header-bytes   the head of the request comes byte by byte, one every --slow-pace\n"
    "  stalled-body   a body is announced, half of it is sent, then nothing\n"
    "  no-read        the answer is not read (ask for a large one)\n"
    "\n"
    "Exit status: 0 measured, whatever the account says; 1 could not measure; 2 bad usage; 130 interrupted "
    "twice.\n"
    "SIGINT or SIGTERM: stop sending, wait for the requests in flight, write everything. A second one: stop "
    "at once.\n"
    "\n"
    "Examples:\n"
    "\n"
    "  500 requests a second to php-fpm for half a minute:\n"
    "    ordeal-load --target unix:/run/php/php-fpm.sock --root /srv/www --get /hello.php --rate 500/s "
    "--duration 30s\n"
    "  16 clients with a mix, everything written down:\n"
    "    ordeal-load --target http://127.0.0.1:8080 --mix shop.mix --clients 16 --keep-alive \\\n"
    "                --json summary.json --live live.jsonl --losses losses.jsonl\n"
    "  What does the server do with 20 clients that never read?\n"
    "    ordeal-load --target http://127.0.0.1:8080 --get /big.php --slow no-read --clients 20 --requests "
    "20\n";

void options_help(void)
{
    fputs(help_head, stdout);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char head[32];
        snprintf(head, sizeof head, "%s %s", rows[i].name, rows[i].argument ? rows[i].argument : "");
        printf("  %-18s  %s\n", head, rows[i].help);
    }
    fputs(help_tail, stdout);
}
