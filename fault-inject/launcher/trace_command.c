/* ordeal trace: show a trace file. */
#include "fault-inject/launcher/command.h"
#include "fault-inject/launcher/say.h"
#include "fault-inject/launcher/trace_print.h"

#include <inttypes.h>

static struct {
    bool json, chrome, faults;
} options;

static const struct option_spec specs[] = {
    {"json", 0, OPTION_FLAG, &options.json, NULL, "a JSON object a line"},
    {"chrome", 0, OPTION_FLAG, &options.chrome, NULL, "Trace Event JSON, to be opened in Perfetto"},
    {"faults", 0, OPTION_FLAG, &options.faults, NULL, "only what was injected"},
    {.name = NULL}};

static int run(int argc, char **argv)
{
    int words = options_parse_mixed("trace", specs, argc, argv);
    if (words < 0)
        return EXIT_USAGE;
    if (words != 1)
        return refuse("trace wants one file, which `ordeal run --trace FILE` made");
    const char *name = argv[1];
    if (options.json && options.chrome)
        return refuse("trace: --json and --chrome exclude each other");
    struct trace_reader reader;
    if (!trace_reader_open(&reader, name))
        return EXIT_LAUNCHER;
    if (reader.cut_off)
        say("%s is cut off: %" PRIu64 " of %" PRIu64 " bytes are there; this is what they hold", name,
            reader.size, reader.header->file_size);
    trace_reader_join(&reader);
    if (options.json)
        trace_print_json(&reader, options.faults, stdout);
    else if (options.chrome)
        trace_print_chrome(&reader, options.faults, stdout);
    else
        trace_print_text(&reader, options.faults, stdout);
    trace_reader_close(&reader);
    return fflush(stdout) == 0 ? 0 : give_up("standard output could not be written");
}

const struct command trace_command = {
    .name = "trace",
    .summary = "show what a run called and what was injected",
    .usage = "trace FILE [options]",
    .about =
        "FILE is what `ordeal run --trace FILE` made; also that of a run that goes on or was killed. One "
        "line an\n"
        "event, in the order in which things happened: time since the start, process.thread, call(object) =\n"
        "result, errno, and what was injected. Paths are shown by their hash. Calls are there with\n"
        "--trace-calls all; injected faults are always there, all of them.\n",
    .examples_and_exits = "Examples:\n"
                          "  ordeal trace t.bin --faults\n"
                          "  ordeal trace t.bin --chrome >t.json      # and open it in ui.perfetto.dev\n"
                          "\n"
                          "Exit status: 0; 2 bad usage; 125 FILE cannot be read as a trace.\n",
    .options = specs,
    .run = run};
