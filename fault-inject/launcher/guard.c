/* ordeal guard: supervision alone. */
#include "fault-inject/launcher/command.h"
#include "fault-inject/launcher/program.h"
#include "fault-inject/launcher/report.h"
#include "fault-inject/launcher/say.h"

static struct {
    const char *scratch;
    bool die_with_parent, quiet;
} options;

static const struct option_spec specs[] = {
    {"scratch", 0, OPTION_TEXT, &options.scratch, "DIR",
     "make DIR if need be, remove it with all in it at the end"},
    {"die-with-parent", 0, OPTION_FLAG, &options.die_with_parent, NULL,
     "end when the process that started this ends"},
    {"quiet", 'q', OPTION_FLAG, &options.quiet, NULL, "do not tell of processes that were left"},
    {.name = NULL}};

static int run(int argc, char **argv)
{
    int rest = options_parse("guard", specs, argc, argv);
    if (rest < 0)
        return EXIT_USAGE;
    if (rest >= argc)
        return refuse("guard: no command to run; write it behind --");
    static struct program program;
    static struct supervise_result result;
    int status = program_find(argv[rest], &program);
    if (status != 0)
        return status;
    struct supervise_job job = {.path = program.path,
                                .argv = argv + rest,
                                .die_with_parent = options.die_with_parent,
                                .unnamed_fd = -1,
                                .stdin_fd = -1,
                                .stdout_fd = -1,
                                .stderr_fd = -1};
    if (options.scratch != NULL && !scratch_prepare(&job.scratch, options.scratch))
        return EXIT_USAGE;
    if (!supervise(&job, &result))
        return EXIT_LAUNCHER;
    if (!options.quiet)
        report_leftovers(&result);
    return supervise_exit_status(&result);
}

const struct command guard_command = {
    .name = "guard",
    .summary = "run a command so that nothing of it is left behind, without injecting faults",
    .usage = "guard [options] -- CMD ARG…",
    .about = "The supervision of `ordeal run` without the library, for the helpers of a test: a web server, "
             "a load\n"
             "generator. Signals sent to ordeal reach CMD; when CMD has ended, or ordeal is killed, even by "
             "SIGKILL,\n"
             "every process that CMD left behind is killed.\n",
    .examples_and_exits =
        "Examples:\n"
        "  ordeal guard --scratch /tmp/t1 -- nginx -p /tmp/t1 -c nginx.conf\n"
        "  ordeal guard --die-with-parent -- redis-server --port 0 --unixsocket /tmp/t1/redis\n"
        "\n"
        "Exit status: that of CMD (128 + the signal that killed it); 2 bad usage; 125 ordeal could\n"
        "  not do its part; 126 CMD cannot be executed; 127 there is no CMD.\n",
    .options = specs,
    .run = run};
