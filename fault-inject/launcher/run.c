/* ordeal run: a command under the shim. */
#include "fault-inject/launcher/command.h"
#include "fault-inject/launcher/prepare.h"
#include "fault-inject/launcher/report.h"
#include "fault-inject/launcher/say.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct rule_options rules;
    const char *control, *trace, *trace_calls, *report, *scratch;
    struct option_number trace_rings;
    bool die_with_parent, quiet, verbose, force;
} options;

static const struct option_spec specs[] = {
    {"rule", 'f', OPTION_LIST, &options.rules.rules, "RULE",
     "a rule such as flock:nth=2:errno=EINTR; may be repeated"},
    {"plan", 'p', OPTION_LIST, &options.rules.rules, "FILE",
     "a file of rules, one a line; - is standard input"},
    {"seed", 0, OPTION_NUMBER, &options.rules.seed, "N",
     "draw all chances from N (default: a random seed, printed)"},
    {"swarm", 0, OPTION_CHANCE, &options.rules.swarm, "P",
     "each rule takes part in the run with this chance"},
    {"disarmed", 0, OPTION_FLAG, &options.rules.disarmed, NULL, "rules wait for `ordeal ctl FILE arm`"},
    {"only", 0, OPTION_TEXT, &options.rules.only, "EXE", "inject only in processes of this executable"},
    {"ctl", 0, OPTION_TEXT, &options.control, "FILE",
     "put the control page there, for `ordeal ctl`; it stays"},
    {"trace", 0, OPTION_TEXT, &options.trace, "FILE",
     "log the injected faults, for `ordeal trace` and `ordeal replay`"},
    {"trace-calls", 0, OPTION_TEXT, &options.trace_calls, "faults|all",
     "all: log the last calls of each thread as well"},
    {"trace-rings", 0, OPTION_NUMBER, &options.trace_rings, "N",
     "room for N threads' calls (default 256, 82 KB each)"},
    {"report", 0, OPTION_TEXT, &options.report, "FILE", "write the outcome as JSON"},
    {"scratch", 0, OPTION_TEXT, &options.scratch, "DIR",
     "make DIR if need be, remove it with all in it at the end"},
    {"die-with-parent", 0, OPTION_FLAG, &options.die_with_parent, NULL,
     "end when the process that started this ends"},
    {"force", 0, OPTION_FLAG, &options.force, NULL, "start a program that no library can be preloaded into"},
    {"quiet", 'q', OPTION_FLAG, &options.quiet, NULL, "no summary at the end"},
    {"verbose", 'v', OPTION_FLAG, &options.verbose, NULL, "say which calls each rule names"},
    {.name = NULL}};

static struct rule_notes notes[CONTROL_RULES_MAX];

static void print_hooks(const char *label, const uint64_t *set)
{
    fprintf(stderr, "         %s", label);
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        if (hook_set_has(set, hook))
            fprintf(stderr, " %s", hook_table[hook].name);
    fputc('\n', stderr);
}

static void explain_rules(const struct control_page *page)
{
    static const hook_set none;
    for (uint32_t i = 0; i < atomic_load(&page->rule_count); i++) {
        const struct rule *rule = &page->rules[i];
        char text[CONTROL_RULE_TEXT_MAX * 4];
        rule_print(rule, page, text, sizeof text);
        say("rule %u%s: %s", i + 1, rule->active ? "" : " (not active in this run)", text);
        print_hooks("calls:", rule->hooks);
        if (memcmp(notes[i].narrowed, none, sizeof none) != 0)
            print_hooks("of the family, these do not suit the rule:", notes[i].narrowed);
    }
}

static bool set_trace(struct launch *launch)
{
    launch->trace_path = options.trace;
    launch->trace_mode = TRACE_FAULTS;
    if (options.trace_calls != NULL) {
        if (strcmp(options.trace_calls, "all") == 0)
            launch->trace_mode = TRACE_ALL;
        else if (strcmp(options.trace_calls, "faults") != 0)
            return refuse("--trace-calls wants faults or all, not '%s'", options.trace_calls) == 0;
        if (options.trace == NULL)
            return refuse("--trace-calls needs --trace FILE") == 0;
    }
    if (options.trace_rings.given) {
        uint64_t rings = options.trace_rings.value;
        if (rings < 1 || rings > TRACE_RINGS_LIMIT)
            return refuse("--trace-rings wants a number from 1 to %d", TRACE_RINGS_LIMIT) == 0;
        launch->trace_rings = (uint32_t)rings;
    }
    return true;
}

static int finish(const struct launch *launch, char **argv)
{
    int status = supervise_exit_status(&launch->result);
    report_leftovers(&launch->result);
    if (!options.quiet)
        report_block(launch, argv, options.rules.seed.given);
    if (options.report != NULL && !report_write(launch, options.report) && status == 0)
        status = EXIT_LAUNCHER;
    return status;
}

static int run(int argc, char **argv)
{
    int rest = options_parse("run", specs, argc, argv);
    if (rest < 0)
        return EXIT_USAGE;
    if (rest >= argc)
        return refuse("run: no command to run; write it behind --");
    struct launch launch;
    launch_begin(&launch, argv + rest);
    launch.draft = control_draft();
    if (launch.draft == NULL)
        return give_up("out of memory");
    launch.control_path = options.control;
    launch.scratch = options.scratch;
    launch.force = options.force;
    launch.job.die_with_parent = options.die_with_parent;
    int status = set_trace(&launch) ? prepare_rules(&options.rules, launch.draft, notes) : EXIT_USAGE;
    if (status == 0)
        status = launch_prepare(&launch);
    if (status == 0 && options.verbose)
        explain_rules(launch.draft);
    if (status == 0)
        status = launch_run(&launch);
    if (status == 0)
        status = finish(&launch, argv);
    launch_end(&launch);
    return status;
}

const struct command run_command = {
    .name = "run",
    .summary = "run a command and inject faults into its calls of libc",
    .usage = "run [options] -- CMD ARG…",
    .about = "Starts CMD with libordeal.so preloaded, in it and in every program that it starts. Rules say "
             "which calls\n"
             "fail, are cut short, delayed, dropped, or end the process, and when (`ordeal help rules`). All "
             "rules are\n"
             "checked before CMD starts. Signals TERM INT QUIT HUP USR1 USR2 sent to ordeal reach CMD. When "
             "CMD has\n"
             "ended, or ordeal is killed, even by SIGKILL, whatever CMD left behind is killed.\n",
    .examples_and_exits =
        "Examples:\n"
        "  ordeal run -f flock:nth=2:errno=EINTR -- php lock.php\n"
        "  ordeal run --plan storm.plan --seed 42 --trace t.bin --ctl t.ctl -- php-fpm8.2 -F -y pool.conf\n"
        "\n"
        "Exit status: that of CMD (128 + the signal that killed it); 2 a bad rule or option, nothing was "
        "started;\n"
        "  125 ordeal could not do its part; 126 CMD cannot be executed; 127 there is no CMD.\n",
    .options = specs,
    .run = run};
