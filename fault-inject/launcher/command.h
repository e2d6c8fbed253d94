/* A subcommand of `ordeal`; main.c has the table of all. */
#ifndef ORDEAL_LAUNCHER_COMMAND_H
#define ORDEAL_LAUNCHER_COMMAND_H

#include "fault-inject/launcher/options.h"

struct command {
    const char *name;
    const char *summary;               /* one line */
    const char *usage;                 /* behind "ordeal " */
    const char *about;                 /* what it does and when one wants it */
    const char *examples_and_exits;    /* two examples, the exit statuses */
    const struct option_spec *options; /* NULL: has none */
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name; returns the exit status */
};

extern const struct command run_command, guard_command, hooks_command, trace_command, replay_command,
    sweep_command, ctl_command, help_command;

/* All subcommands, NULL at the end. */
extern const struct command *const all_commands[];

const struct command *command_find(const char *name);
void command_print_help(const struct command *command, FILE *out);

#endif
