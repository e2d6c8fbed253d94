/* ordeal replay: inject the faults of a trace again. */
#include "fault-inject/launcher/command.h"
#include "fault-inject/launcher/report.h"
#include "fault-inject/launcher/say.h"
#include "fault-inject/launcher/script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *trace, *control, *scratch, *report;
    bool die_with_parent, quiet, force;
} options;

static const struct option_spec specs[] = {
    {"trace", 0, OPTION_TEXT, &options.trace, "FILE", "log the faults of the replay"},
    {"ctl", 0, OPTION_TEXT, &options.control, "FILE",
     "put the control page there, for `ordeal ctl`; it stays"},
    {"report", 0, OPTION_TEXT, &options.report, "FILE", "write the outcome as JSON"},
    {"scratch", 0, OPTION_TEXT, &options.scratch, "DIR",
     "make DIR if need be, remove it with all in it at the end"},
    {"die-with-parent", 0, OPTION_FLAG, &options.die_with_parent, NULL,
     "end when the process that started this ends"},
    {"force", 0, OPTION_FLAG, &options.force, NULL, "start a program that no library can be preloaded into"},
    {"quiet", 'q', OPTION_FLAG, &options.quiet, NULL, "say only which faults are missing"},
    {.name = NULL}};

enum { MISSING_LINES_MAX = 20 };

static int finish(const struct launch *launch, const struct script *script, const struct trace_reader *reader)
{
    const struct control_page *page = launch->control.page;
    int status = supervise_exit_status(&launch->result);
    report_leftovers(&launch->result);
    uint32_t missing = script_report_missing(script, reader, page, MISSING_LINES_MAX);
    if (!options.quiet || missing > 0)
        say("%" PRIu32 " of %" PRIu32 " faults were injected again", script->count - missing, script->count);
    if (!options.quiet && script->marks > 0)
        say("%" PRIu32 " marks were reached in the trace; there is nothing to repeat in those",
            script->marks);
    if (options.report != NULL && !report_write(launch, options.report) && status == 0)
        status = EXIT_LAUNCHER;
    return missing > 0 ? EXIT_INCOMPLETE : status;
}

static int start(struct launch *launch, const struct trace_reader *reader, struct script *script,
                 const char *name)
{
    launch->draft->seed = reader->header->seed;
    if (!script_make(script, reader, launch->draft, name))
        return EXIT_LAUNCHER;
    snprintf(launch->draft->only, sizeof launch->draft->only, "%.*s", (int)sizeof reader->header->only - 1,
             reader->header->only);
    int status = launch_prepare(launch);
    return status != 0 ? status : launch_run(launch);
}

static int replay(char **command, const char *name)
{
    struct trace_reader reader;
    struct script script = {NULL, 0, 0};
    struct launch launch;
    if (!trace_reader_open(&reader, name))
        return EXIT_LAUNCHER;
    launch_begin(&launch, command);
    launch.draft = control_draft();
    launch.control_path = options.control;
    launch.trace_path = options.trace;
    launch.trace_mode = TRACE_FAULTS;
    launch.scratch = options.scratch;
    launch.force = options.force;
    launch.job.die_with_parent = options.die_with_parent;
    int status = launch.draft != NULL ? start(&launch, &reader, &script, name) : give_up("out of memory");
    if (status == 0)
        status = finish(&launch, &script, &reader);
    launch_end(&launch);
    free(script.events);
    trace_reader_close(&reader);
    return status;
}

static int run(int argc, char **argv)
{
    int rest = options_parse("replay", specs, argc, argv);
    if (rest < 0)
        return EXIT_USAGE;
    if (rest >= argc)
        return refuse("replay wants a trace, and the command behind --");
    const char *name = argv[rest];
    argv[rest] = argv[0];
    int command = options_parse("replay", specs, argc - rest, argv + rest);
    if (command < 0)
        return EXIT_USAGE;
    if (rest + command >= argc)
        return refuse("replay: no command to run; write it behind --");
    return replay(argv + rest + command, name);
}

const struct command replay_command = {
    .name = "replay",
    .summary = "inject the faults of a trace again, at the same places",
    .usage = "replay FILE [options] -- CMD ARG…",
    .about = "FILE is what `ordeal run --trace FILE` made. CMD should be the same command; each fault is "
             "injected at the\n"
             "same call, counted in the same thread of the same process. At the end it is said how many were "
             "reached.\n"
             "Faults in threads that were made by a bare clone, and draws of the target's own, cannot be "
             "repeated.\n",
    .examples_and_exits =
        "Examples:\n"
        "  ordeal replay t.bin -- php lock.php\n"
        "  ordeal replay t.bin --trace again.bin -- php-fpm8.2 -F -y pool.conf\n"
        "\n"
        "Exit status: that of CMD, when every fault was injected again; 3 when one is missing; 2 bad usage;\n"
        "  125 FILE cannot be replayed (cut off, of another version, faults lost) or ordeal failed; 126, 127 "
        "no CMD.\n",
    .options = specs,
    .run = run};
