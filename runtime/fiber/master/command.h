/* The program: options, configuration, and then what they say. */
#ifndef ORDEAL_FIBER_COMMAND_H
#define ORDEAL_FIBER_COMMAND_H

#include "runtime/fiber/master/master.h"

/* Returns the exit status of the process. */
int command_run(int argc, char **argv, const struct master_php *php);

#endif
