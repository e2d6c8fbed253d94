/* ordeal sweep: let the n-th call fail, for every n. */
#include "fault-inject/launcher/command.h"
#include "fault-inject/launcher/prepare.h"
#include "fault-inject/launcher/say.h"
#include "fault-inject/launcher/trial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    const char *call, *where, *check;
    struct option_list outcomes; /* 'e': an errno; 't': another action */
    struct option_number seed, max;
    int64_t timeout_ns;
    bool persistent, force, any_output;
} options = {.timeout_ns = INT64_C(10000000000)};

static const struct option_spec specs[] = {
    {"call", 0, OPTION_TEXT, &options.call, "CALL", "which call (or calls, as in a rule: read|recv, @file)"},
    {"errno", 0, OPTION_LIST, &options.outcomes, "ERRNO", "how it fails; may be repeated: one sweep each"},
    {"then", 0, OPTION_LIST, &options.outcomes, "ACTION", "instead of an errno: short=1, die, drop …"},
    {"where", 0, OPTION_TEXT, &options.where, "FIELDS", "more conditions of the rule, such as fd=socket"},
    {"persistent", 0, OPTION_FLAG, &options.persistent, NULL,
     "every call from the n-th on fails, not the n-th alone"},
    {"check", 0, OPTION_TEXT, &options.check, "CMD",
     "run by sh after each trial; status 0 = fine (see above)"},
    {"any-output", 0, OPTION_FLAG, &options.any_output, NULL, "do not compare standard output"},
    {"timeout", 0, OPTION_DURATION, &options.timeout_ns, "TIME",
     "a trial that takes longer hangs (default 10s)"},
    {"max", 0, OPTION_NUMBER, &options.max, "N", "no further than the N-th call (default 10000)"},
    {"seed", 0, OPTION_NUMBER, &options.seed, "N", "for what is drawn (default 1)"},
    {"force", 0, OPTION_FLAG, &options.force, NULL, "start a program that no library can be preloaded into"},
    {.name = NULL}};

enum { MAX_DEFAULT = 10000 };

struct sweep {
    struct trial_setup setup;
    struct trial baseline;
    char action[96];
    uint64_t trials, broken;
    bool exhausted; /* a run was reached in which nothing was injected */
    int64_t started_ns;
    bool shows_progress;
};

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool write_rule(const struct sweep *sweep, uint64_t n, struct trial *trial)
{
    bool has_where = options.where != NULL;
    int length = snprintf(trial->rule, sizeof trial->rule, "%s%s%s:nth=%" PRIu64 "%s:%s", options.call,
                          has_where ? ":" : "", has_where ? options.where : "", n,
                          options.persistent ? "+1" : "", sweep->action);
    trial->n = n;
    return length > 0 && (size_t)length < sizeof trial->rule;
}

static void show_progress(struct sweep *sweep, uint64_t n)
{
    if (!isatty(STDERR_FILENO) || monotonic_ns() - sweep->started_ns < INT64_C(2000000000))
        return;
    sweep->shows_progress = true;
    fprintf(stderr, "\r\033[Ksweep %s: n = %" PRIu64 ", %" PRIu64 " broke", sweep->action, n, sweep->broken);
    fflush(stderr);
}

static void clear_progress(struct sweep *sweep)
{
    if (sweep->shows_progress)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    sweep->shows_progress = false;
}

static void tell_broken(struct sweep *sweep, const struct trial *trial)
{
    char what[200];
    trial_describe(trial, what, sizeof what);
    clear_progress(sweep);
    printf("n=%-5" PRIu64 " %s\n", trial->n, what);
    if (trial->first_line[0] != '\0')
        printf("        stderr: %s\n", trial->first_line);
    printf("        again:  ordeal run --seed %" PRIu64 " -f ", sweep->setup.seed);
    print_quoted(stdout, trial->rule);
    fputs(" -- ", stdout);
    print_command(stdout, sweep->setup.argv);
    putchar('\n');
    fflush(stdout);
}

/* 0, or the status to end the whole sweep with. */
static int try_nth(struct sweep *sweep, uint64_t n)
{
    struct trial trial = {.stdout_fd = -1, .stderr_fd = -1};
    if (!write_rule(sweep, n, &trial))
        return refuse("the rule would be too long");
    int status = trial_run(&sweep->setup, &trial, true);
    if (status == 0 && trial.result.stop_signal != 0)
        status = 128 + trial.result.stop_signal;
    if (status == 0 && trial.fired == 0 && !trial.result.timed_out) {
        sweep->exhausted = true;
    } else if (status == 0) {
        status = trial_judge(&sweep->setup, &trial, &sweep->baseline);
        sweep->trials++;
        if (status == 0 && trial.verdict != TRIAL_FINE) {
            sweep->broken++;
            tell_broken(sweep, &trial);
        }
    }
    trial_close(&trial);
    return status;
}

/* Twice without a fault: what is right, and whether the output is the same each time. */
static int measure_baseline(struct sweep *sweep)
{
    struct trial second = {.stdout_fd = -1, .stderr_fd = -1};
    if (!write_rule(sweep, 1, &sweep->baseline) || !write_rule(sweep, 1, &second))
        return refuse("the rule would be too long");
    int status = trial_run(&sweep->setup, &sweep->baseline, false);
    const struct supervise_result *result = &sweep->baseline.result;
    if (status == 0 && result->stop_signal != 0)
        status = 128 + result->stop_signal;
    if (status == 0 && result->exec_errno != 0)
        status = supervise_exit_status(result);
    if (status == 0 && (result->timed_out || !result->ended || supervise_exit_status(result) >= 128))
        status = refuse("without any fault the command %s already: nothing can be learned from a sweep",
                        result->timed_out ? "does not end in time" : "ends by a signal");
    if (status == 0)
        status = trial_run(&sweep->setup, &second, false);
    if (status == 0) {
        sweep->setup.compare_output = !options.any_output && trial_same_output(&sweep->baseline, &second);
        if (!options.any_output && options.check == NULL && !sweep->setup.compare_output)
            say("two runs without fault wrote different things to standard output: it is not compared");
    }
    trial_close(&second);
    return status;
}

static void summarize(struct sweep *sweep, uint64_t max)
{
    clear_progress(sweep);
    printf("sweep %s %s%s%s: %" PRIu64 " trial%s, %" PRIu64 " broke", options.call,
           options.where != NULL ? options.where : "", options.where != NULL ? " " : "", sweep->action,
           sweep->trials, sweep->trials == 1 ? "" : "s", sweep->broken);
    if (!sweep->exhausted)
        printf("; stopped at --max %" PRIu64 " with calls left", max);
    else if (sweep->trials == 0)
        fputs("; the command never makes that call", stdout);
    putchar('\n');
    fflush(stdout);
}

static int sweep_one(struct sweep *sweep)
{
    uint64_t max = options.max.given ? options.max.value : MAX_DEFAULT;
    sweep->trials = sweep->broken = 0;
    sweep->exhausted = false;
    sweep->baseline = (struct trial){.stdout_fd = -1, .stderr_fd = -1};
    sweep->started_ns = monotonic_ns();
    int status = measure_baseline(sweep);
    for (uint64_t n = 1; status == 0 && n <= max && !sweep->exhausted; n++) {
        show_progress(sweep, n);
        status = try_nth(sweep, n);
    }
    trial_close(&sweep->baseline);
    if (status != 0)
        return status;
    summarize(sweep, max);
    if (sweep->broken > 0)
        return 1;
    return sweep->exhausted && sweep->trials > 0 ? 0 : EXIT_INCOMPLETE;
}

/* 1 (something broke) says more than 3 (not all could be tried); what stops a sweep goes before both. */
static int sweep_all(struct sweep *sweep)
{
    int worst = 0;
    for (size_t i = 0; i < options.outcomes.count; i++) {
        snprintf(sweep->action, sizeof sweep->action, "%s%s",
                 options.outcomes.items[i].letter == 'e' ? "errno=" : "", options.outcomes.items[i].value);
        int status = sweep_one(sweep);
        if (status != 0 && status != 1 && status != EXIT_INCOMPLETE)
            return status;
        if (status == 1 || worst == 0)
            worst = status;
    }
    return worst;
}

static int run(int argc, char **argv)
{
    static struct sweep sweep;
    int rest = options_parse("sweep", specs, argc, argv);
    if (rest < 0)
        return EXIT_USAGE;
    if (rest >= argc)
        return refuse("sweep: no command to run; write it behind --");
    if (options.call == NULL || options.outcomes.count == 0)
        return refuse("sweep wants --call and --errno (or --then), such as --call read --errno EIO");
    sweep.setup = (struct trial_setup){.argv = argv + rest,
                                       .seed = options.seed.given ? options.seed.value : 1,
                                       .timeout_ns = options.timeout_ns,
                                       .force = options.force,
                                       .check = options.check};
    return sweep_all(&sweep);
}

const struct command sweep_command = {
    .name = "sweep",
    .summary = "let the n-th call fail, for n = 1, 2, 3 … until there is none left",
    .usage = "sweep --call CALL --errno ERRNO [options] -- CMD ARG…",
    .about = "Runs CMD again and again; in the n-th trial the n-th such call fails. It ends with the first "
             "run in which\n"
             "nothing was injected: then every call has had its turn. Standard input is empty.\n"
             "\n"
             "A trial is fine when it does as well as a run without fault, or fails and says so. It breaks "
             "when it\n"
             "  - is killed by a signal, or does not end within --timeout,\n"
             "  - has the exit status of a run without fault, but another standard output (two runs without "
             "fault are made\n"
             "    first; if their outputs differ, outputs are not compared),\n"
             "  - has exit status 0 where a run without fault has another,\n"
             "  - has another exit status, but nothing on standard error,\n"
             "  - leaves more processes behind than a run without fault.\n"
             "With --check the shell command decides alone, from ORDEAL_STATUS (exit status, 128 + signal, "
             "or \"timeout\"),\n"
             "ORDEAL_N, ORDEAL_RULE, and the files ORDEAL_STDOUT and ORDEAL_STDERR.\n",
    .examples_and_exits = "Examples:\n"
                          "  ordeal sweep --call read --errno EIO --errno EINTR -- php index.php\n"
                          "  ordeal sweep --call malloc --errno ENOMEM --persistent --check 'test "
                          "$ORDEAL_STATUS -lt 128' -- ./server -t\n"
                          "\n"
                          "Exit status: 0 all trials were fine; 1 something broke; 2 bad usage, or CMD fails "
                          "so without a fault;\n"
                          "  3 --max was reached, or CMD never makes that call; 125 ordeal failed; 126, 127 "
                          "no CMD; 128 + signal stopped.\n",
    .options = specs,
    .run = run};
