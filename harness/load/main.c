/*
 * ordeal-load: an open-loop and closed-loop load generator for FastCGI and HTTP that accounts for every
 * request. `ordeal-load --help` says how it is used; engine.h how it works.
 */
#include "harness/load/live.h"
#include "harness/load/report.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { EXIT_MEASURED = 0, EXIT_NOT_MEASURED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED_TWICE = 130 };

static int complain(int status, const char *message)
{
    fprintf(stderr, "ordeal-load: %s\n", message);
    return status;
}

static void die_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_NOT_MEASURED); /* it had ended before we asked */
}

static bool read_mix(struct mix *mix, const struct options *options, char error[MIX_ERROR_BYTES])
{
    char line[MIX_LINE_BYTES_MAX + 8];
    if (options->mix != NULL)
        return mix_read_file(mix, options->mix, error);
    *mix = (struct mix){0};
    if (strlen(options->get) >= MIX_LINE_BYTES_MAX - 8 || strpbrk(options->get, " \t\r\n#\"") != NULL) {
        snprintf(error, MIX_ERROR_BYTES, "--get '%.60s': expected a path such as /hello.php", options->get);
        return false;
    }
    snprintf(line, sizeof line, "1 GET %s", options->get);
    return mix_read_text(mix, "--get", line, error);
}

/* FastCGI servers need the script's absolute path. */
static bool complete_root(struct options *options, const struct target *target, char *absolute, char *error,
                          size_t error_bytes)
{
    if (target->protocol != &protocol_fcgi)
        return true;
    if (options->root == NULL) {
        snprintf(error, error_bytes,
                 "FastCGI without a document root: expected --root DIR (SCRIPT_FILENAME is DIR + path)");
        return false;
    }
    size_t bytes = strlen(options->root);
    if (options->root[0] != '/') {
        if (realpath(options->root, absolute) == NULL) {
            snprintf(error, error_bytes, "--root '%s': %s", options->root, strerror(errno));
            return false;
        }
    } else if (bytes < PATH_MAX) {
        memcpy(absolute, options->root, bytes + 1);
        while (bytes > 1 && absolute[bytes - 1] == '/')
            absolute[--bytes] = '\0';
    } else {
        snprintf(error, error_bytes, "--root: longer than %d bytes", PATH_MAX);
        return false;
    }
    options->root = absolute;
    return true;
}

static bool open_summary(FILE **summary, const char *path, char *error, size_t error_bytes)
{
    *summary = NULL;
    if (path == NULL || (*summary = fopen(path, "we")) != NULL)
        return true;
    snprintf(error, error_bytes, "cannot write %s: %s", path, strerror(errno));
    return false;
}

static int write_reports(struct engine *engine, FILE *summary)
{
    account_sort_reasons(&engine->account);
    if (!engine->options->quiet)
        report_text(stdout, engine);
    if (summary != NULL)
        report_json(summary, engine);
    bool written = summary == NULL || fclose(summary) == 0;
    if (!account_balanced(&engine->account))
        return complain(EXIT_NOT_MEASURED, "the account does not add up: this is a bug of ordeal-load");
    if (!written)
        return complain(EXIT_NOT_MEASURED, "the summary could not be written in full");
    return engine->end == END_ABORTED ? EXIT_INTERRUPTED_TWICE : EXIT_MEASURED;
}

static int measure(struct options *options, struct mix *mix, const struct target *target)
{
    static struct engine engine;
    struct live live;
    FILE *summary = NULL;
    char error[1024];
    if (!live_open(&live, options, error, sizeof error) ||
        !open_summary(&summary, options->json, error, sizeof error))
        return complain(EXIT_USAGE, error);
    if (!engine_open(&engine, options, mix, target, &live.observer, error, sizeof error)) {
        if (summary != NULL)
            fclose(summary);
        live_close(&live);
        engine_close(&engine);
        return complain(EXIT_NOT_MEASURED, error);
    }
    engine_run(&engine);
    bool told = live_close(&live);
    int status = write_reports(&engine, summary);
    if (!told)
        status = complain(EXIT_NOT_MEASURED, "--live or --losses could not be written in full");
    engine_close(&engine);
    return status;
}

int main(int argc, char **argv)
{
    static struct options options;
    static struct target target;
    static char root[PATH_MAX];
    struct mix mix = {0};
    char error[1024];
    pid_t parent = getppid();
    signal(SIGPIPE, SIG_IGN);
    if (!options_parse(&options, argc, argv, error))
        return complain(EXIT_USAGE, error);
    if (options.help) {
        options_help();
        return EXIT_MEASURED;
    }
    if (options.die_with_parent)
        die_with_parent(parent);
    if (!target_parse(&target, options.target, error, sizeof error))
        return complain(EXIT_USAGE, error);
    if (!complete_root(&options, &target, root, error, sizeof error))
        return complain(EXIT_USAGE, error);
    int status =
        read_mix(&mix, &options, error) ? measure(&options, &mix, &target) : complain(EXIT_USAGE, error);
    mix_free(&mix);
    return status;
}
