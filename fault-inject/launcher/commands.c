/* The table of subcommands, and their help. */
#include "fault-inject/launcher/command.h"

#include <string.h>

const struct command *const all_commands[] = {&run_command,   &guard_command,  &ctl_command,
                                              &trace_command, &replay_command, &sweep_command,
                                              &hooks_command, &help_command,   NULL};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; all_commands[i] != NULL; i++)
        if (strcmp(all_commands[i]->name, name) == 0)
            return all_commands[i];
    return NULL;
}

void command_print_help(const struct command *command, FILE *out)
{
    fprintf(out, "ordeal %s\n\n%s\n", command->usage, command->about);
    if (command->options != NULL) {
        fputs("Options:\n", out);
        options_print(command->options, out);
        fputc('\n', out);
    }
    fputs(command->examples_and_exits, out);
}
