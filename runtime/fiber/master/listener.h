/* The sockets that pools listen on. */
#ifndef ORDEAL_FIBER_LISTENER_H
#define ORDEAL_FIBER_LISTENER_H

#include "runtime/fiber/config/config.h"

enum { LISTENER_PROBLEM_BYTES = 512 };

/* Opens a pool's socket; -1: `problem` says why not. A Unix socket that a dead server has left is removed;
 * one that somebody listens on is not. */
int listener_open(const struct pool_config *pool, char problem[LISTENER_PROBLEM_BYTES]);

/* The backlog, mode and owner that the pool wants now, for a socket that is open already. */
bool listener_adjust(int fd, const struct pool_config *pool, char problem[LISTENER_PROBLEM_BYTES]);

/* Nobody shall find it any more. */
void listener_remove(const char *address);

#endif
