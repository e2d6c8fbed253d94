/* ordeal help. */
#include "fault-inject/launcher/command.h"
#include "fault-inject/launcher/say.h"
#include "fault-inject/rule/fields.h"

#include <string.h>

static void print_overview(void)
{
    puts("ordeal: inject faults into a program's calls of libc, replay them, and sweep over all of them\n");
    for (size_t i = 0; all_commands[i] != NULL; i++)
        printf("  ordeal %-8s %s\n", all_commands[i]->name, all_commands[i]->summary);
    puts("\n`ordeal COMMAND --help` tells more of one, `ordeal help rules` the language of rules.");
}

static void print_fields(bool actions)
{
    for (size_t i = 0; i < rule_field_count; i++) {
        const struct field *field = &rule_fields[i];
        char left[64];
        if ((field->action != 0) != actions)
            continue;
        snprintf(left, sizeof left, "%s%s", field->name, field->shape);
        printf("  %-34s %s\n", left, field->summary);
    }
}

static void print_rules(void)
{
    puts("A rule is  call[|call…]:field:field…  Calls are those of `ordeal hooks`, other names of theirs "
         "(open64),\n"
         "or @family: @file @socket @lock @memory @thread @time @process, each narrowed to the calls that "
         "suit.\n"
         "\nWhen (all must hold):");
    print_fields(false);
    puts("\nThen (in this order: mark, wake, pause, delay, signal, exit, die, and then the outcome of the "
         "call):");
    print_fields(true);
    puts("\nGlobs know * and ?. A colon in a path is written \\:. A plan file has one rule a line, # "
         "comments, and\n"
         "the directives `seed N`, `swarm P`, `only EXE`.\n"
         "\nExamples:\n"
         "  flock:nth=2:errno=EINTR                        the second flock of the run is interrupted\n"
         "  read:fd=socket:p=0.01:short=1                  one read of a hundred from a socket gives one "
         "byte\n"
         "  mmap:size>=2M:p=5%:oom                         large mappings fail now and then\n"
         "  pthread_mutex_lock:robust:shared:nth=7:die     die as the owner of a robust mutex\n"
         "  @socket:after=warm:delay=20ms:times=100        a slow network, once the mark `warm` is reached\n"
         "  fsync:path=*/journal:pause=sync/30s            hold a sync until `ordeal ctl FILE wake sync`");
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_overview();
        return 0;
    }
    if (strcmp(argv[1], "rules") == 0) {
        print_rules();
        return 0;
    }
    const struct command *command = command_find(argv[1]);
    if (command == NULL)
        return refuse(
            "no help on '%s'; `ordeal help` lists the commands, `ordeal help rules` is the language",
            argv[1]);
    command_print_help(command, stdout);
    return 0;
}

const struct command help_command = {
    .name = "help",
    .summary = "all commands; `ordeal help rules`: the language of rules",
    .usage = "help [COMMAND | rules]",
    .about = "Lists the commands, tells more of one, or shows the language of rules on one screen.\n",
    .examples_and_exits =
        "Examples:\n  ordeal help rules\n  ordeal help sweep\n\nExit status: 0, or 2 for an unknown topic.\n",
    .options = NULL,
    .run = run};
