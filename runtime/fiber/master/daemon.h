/* Into the background. The process that was started stays until the other one is ready, and exits with 0
 * then, or with the status that the other one ended with. */
#ifndef ORDEAL_FIBER_DAEMON_H
#define ORDEAL_FIBER_DAEMON_H

#include <stdbool.h>

/* Returns in the new process only. False: there is none. */
bool daemon_start(void);

/* Lets the first process go, and leaves its terminal. */
void daemon_ready(void);

#endif
