#include "runtime/fiber/worker/access_log.h"

#include "runtime/fiber/sapi/sapi.h"
#include "runtime/fiber/sched/sched.h"
#include "runtime/fiber/worker/limits.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { ARGUMENT_BYTES = 128, PARTS_MAX = 64 };

/* A line being made. */
struct line {
    char text[LOG_LINE_BYTES_MAX + 2];
    size_t length;
    const char *pool;
    const struct request *request;
};

static void put(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(line->text + line->length, LOG_LINE_BYTES_MAX - line->length, format, arguments);
    va_end(arguments);
    if (count > 0)
        line->length += (size_t)count;
    if (line->length >= LOG_LINE_BYTES_MAX)
        line->length = LOG_LINE_BYTES_MAX - 1;
}

static void put_text(struct line *line, const char *text, const char *without)
{
    put(line, "%s", text && *text ? text : without);
}

/* ---- units ---- */

struct unit {
    const char *name; /* NULL ends a list; "" is the one without a name */
    double divisor;
};

static const struct unit durations[] = {
    {"", 1e9},     {"seconds", 1e9}, {"miliseconds", 1e6},  {"milliseconds", 1e6},
    {"mili", 1e6}, {"milli", 1e6},   {"microseconds", 1e3}, {"micro", 1e3},
    {NULL, 0}};
static const struct unit memories[] = {{"", 1},        {"bytes", 1},           {"kilobytes", 1024},
                                       {"kilo", 1024}, {"megabytes", 1048576}, {"mega", 1048576},
                                       {NULL, 0}};

static double divisor_of(const struct unit *units, const char *name)
{
    for (; units->name; units++)
        if (!strcasecmp(units->name, name))
            return units->divisor;
    return 0;
}

/* ---- one function a letter ---- */

static void put_duration(struct line *line, const char *unit)
{
    double ns = (double)(sched_now_ns() - line->request->accepted_ns);
    double divisor = divisor_of(durations, unit);
    put(line, divisor < 1e6 ? "%.0f" : "%.3f", ns / divisor);
}

static void put_memory(struct line *line, const char *unit)
{
    put(line, "%.0f",
        (double)(size_t)((double)line->request->memory_peak_bytes / divisor_of(memories, unit)));
}

static void put_time(struct line *line, time_t when, const char *format)
{
    char text[ARGUMENT_BYTES];
    struct tm parts;
    localtime_r(&when, &parts);
    if (strftime(text, sizeof text, *format ? format : "%d/%b/%Y:%H:%M:%S %z", &parts))
        put(line, "%s", text);
}

static void put_begin(struct line *line, const char *format)
{
    put_time(line, line->request->accepted_s, format);
}

static void put_now(struct line *line, const char *format)
{
    put_time(line, time(NULL), format);
}

static void put_param(struct line *line, const char *name)
{
    const char *value = params_get(&line->request->params, name);
    put(line, "%s", value ? value : "-");
}

static void put_header(struct line *line, const char *name)
{
    const char *type = line->request->type;
    if (!type)
        put_text(line, sapi_answer_header(name), "-");
    else
        put_text(line, strcasecmp(name, "Content-Type") ? NULL : type, "-");
}

/* clang-format off */
#define LETTER(name, ...) static void put_##name(struct line *line, const char *unused) { (void)unused; __VA_ARGS__; }
LETTER(percent,  put(line, "%%"))
LETTER(nothing,  put(line, "-"))
LETTER(script,   put_text(line, line->request->script, "-"))
LETTER(length,   put(line, "%lld", line->request->content_length))
LETTER(method,   put_text(line, line->request->method, "-"))
LETTER(pool,     put_text(line, line->pool, "-"))
LETTER(pid,      put(line, "%ld", (long)getpid()))
LETTER(parent,   put(line, "%ld", (long)getppid()))
LETTER(query,    put_text(line, line->request->query, ""))
LETTER(question, put(line, "%s", line->request->query && *line->request->query ? "?" : ""))
LETTER(uri,      put_text(line, line->request->uri, ""))
LETTER(remote,   put_text(line, line->request->peer, "-"))
LETTER(status,   put(line, "%d", line->request->status))
LETTER(user,     put_text(line, line->request->user, ""))
/* clang-format on */

enum argument { NO_ARGUMENT, MAY_HAVE_ARGUMENT, NEEDS_ARGUMENT };

static const struct letter {
    char letter;
    enum argument argument;
    const struct unit *units; /* the argument is one of these */
    void (*put)(struct line *line, const char *argument);
} letters[] = {
    {'%', NO_ARGUMENT, NULL, put_percent},
    {'C', MAY_HAVE_ARGUMENT, NULL, put_nothing},
    {'d', MAY_HAVE_ARGUMENT, durations, put_duration},
    {'e', NEEDS_ARGUMENT, NULL, put_param},
    {'f', NO_ARGUMENT, NULL, put_script},
    {'l', NO_ARGUMENT, NULL, put_length},
    {'m', NO_ARGUMENT, NULL, put_method},
    {'M', MAY_HAVE_ARGUMENT, memories, put_memory},
    {'n', NO_ARGUMENT, NULL, put_pool},
    {'o', NEEDS_ARGUMENT, NULL, put_header},
    {'p', NO_ARGUMENT, NULL, put_pid},
    {'P', NO_ARGUMENT, NULL, put_parent},
    {'q', NO_ARGUMENT, NULL, put_query},
    {'Q', NO_ARGUMENT, NULL, put_question},
    {'r', NO_ARGUMENT, NULL, put_uri},
    {'R', NO_ARGUMENT, NULL, put_remote},
    {'s', NO_ARGUMENT, NULL, put_status},
    {'t', MAY_HAVE_ARGUMENT, NULL, put_begin},
    {'T', MAY_HAVE_ARGUMENT, NULL, put_now},
    {'u', NO_ARGUMENT, NULL, put_user},
};

/* ---- the format ---- */

struct part {
    const char *text; /* between letters; */
    size_t length;
    const struct letter *letter; /* or a letter */
    char argument[ARGUMENT_BYTES];
};

struct access_log {
    int fd;
    char *path, *format;
    unsigned parts_count;
    struct part parts[PARTS_MAX];
};

static const struct letter *letter_of(char wanted)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == wanted)
            return &letters[i];
    return NULL;
}

/* `at` stands behind a '%'; returns where the letter ends, or NULL. */
static const char *read_letter(const char *at, struct part *part, const char **problem)
{
    if (*at == '{') {
        const char *end = strchr(at, '}');
        size_t length = end ? (size_t)(end - at - 1) : 0;
        *problem = "access.format: a '{' without '}', or a name longer than 127 bytes";
        if (!end || length >= ARGUMENT_BYTES)
            return NULL;
        memcpy(part->argument, at + 1, length);
        at = end + 1;
    }
    part->letter = letter_of(*at);
    *problem = "access.format: an unknown letter after '%' (known: %CdeflmMnopPqQrRstTu)";
    if (!*at || !part->letter)
        return NULL;
    *problem = "access.format: %e and %o need a name, as in %{REMOTE_ADDR}e";
    if (part->letter->argument == NEEDS_ARGUMENT && !part->argument[0])
        return NULL;
    *problem = "access.format: this letter takes no {...}";
    if (part->letter->argument == NO_ARGUMENT && part->argument[0])
        return NULL;
    *problem = "access.format: unknown unit in {...} (seconds, milli, micro; bytes, kilo, mega)";
    if (part->letter->units && divisor_of(part->letter->units, part->argument) == 0)
        return NULL;
    return at + 1;
}

static bool compile(struct access_log *log, const char **problem)
{
    for (const char *at = log->format; *at;) {
        if (log->parts_count == PARTS_MAX) {
            *problem = "access.format: more than 64 parts";
            return false;
        }
        struct part *part = &log->parts[log->parts_count++];
        if (*at == '%') {
            at = read_letter(at + 1, part, problem);
            if (!at)
                return false;
        } else {
            part->text = at;
            part->length = strcspn(at, "%");
            at += part->length;
        }
    }
    return true;
}

/* ---- the file ---- */

bool access_log_reopen(struct access_log *log)
{
    int fd = open(log->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    if (log->fd >= 0)
        close(log->fd);
    log->fd = fd;
    return true;
}

static void log_free(struct access_log *log)
{
    free(log->path);
    free(log->format);
    free(log);
}

struct access_log *access_log_open(const char *path, const char *format, const char **problem)
{
    *problem = "access log: no memory";
    struct access_log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->fd = -1;
    log->path = strdup(path);
    log->format = strdup(format && *format ? format : "%R - %u %t \"%m %r\" %s");
    bool good = log->path && log->format && compile(log, problem);
    if (good && !access_log_reopen(log)) {
        *problem = "access log: the file cannot be opened for writing";
        good = false;
    }
    if (good)
        return log;
    log_free(log);
    return NULL;
}

char *access_log_line(const struct access_log *log, const char *pool, const struct request *request)
{
    struct line line = {.pool = pool, .request = request};
    for (unsigned i = 0; i < log->parts_count; i++) {
        const struct part *part = &log->parts[i];
        if (part->letter)
            part->letter->put(&line, part->argument);
        else
            put(&line, "%.*s", (int)part->length, part->text);
    }
    line.text[line.length++] = '\n';
    line.text[line.length] = '\0';
    return strdup(line.text);
}

void access_log_write(const struct access_log *log, const char *line)
{
    ssize_t written = write(log->fd, line, strlen(line));
    (void)written; /* a full disk is no reason to fail requests */
}
