/* `ordeal`: the launcher of the shim. One table of subcommands. */
#include "fault-inject/launcher/command.h"
#include "fault-inject/launcher/say.h"
#include "fault-inject/rule/nearest.h"

#include <signal.h>
#include <string.h>

static int unknown_command(const char *name)
{
    struct nearest near = nearest_to(span_of(name));
    for (size_t i = 0; all_commands[i] != NULL; i++)
        nearest_offer(&near, all_commands[i]->name);
    if (near.best != NULL)
        return refuse("unknown command '%s'; did you mean %s?", name, near.best);
    return refuse("unknown command '%s'; `ordeal help` lists them", name);
}

/* --help before the command that is to be run. */
static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help_command.run(1, argv);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help_command.run(1, argv);
    const struct command *command = command_find(argv[1]);
    if (command == NULL)
        return unknown_command(argv[1]);
    if (wants_help(argc - 1, argv + 1)) {
        command_print_help(command, stdout);
        return 0;
    }
    /* A file that grows past its limit is to be an error of the call, and is reset for the target. */
    signal(SIGXFSZ, SIG_IGN);
    return command->run(argc - 1, argv + 1);
}
