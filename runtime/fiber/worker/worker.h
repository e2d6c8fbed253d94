/* One worker: a process with one event loop that serves many requests at once, each on its own engine image.
 *
 * The master starts the engine, opens the listening socket, forks, and calls this in the child:
 *
 *     struct worker_settings settings = {.pool = pool, .listen_fd = fd, .score = slot, .log_fd = 2, ...};
 *     _exit(worker_run(&settings));
 *
 * That is all it knows of a worker. From then on it speaks to it by signals:
 *
 *     SIGQUIT           drain: accept no more, finish what is in flight or half received, exit 0
 *     SIGTERM, SIGINT   end at once, exit 0: what was in flight is lost to its clients
 *     SIGUSR1           reopen the access log and the slow log
 *
 * and reads what it does from its scoreboard slot. A worker that has served pm.max_requests requests drains
 * by itself and exits 0, to be replaced; so does one that had to drop the image of a request.
 *
 * The listening socket is shared by all workers of the pool and has to be non-blocking: a connection that
 * another worker took first must not stop this one. worker_run() sets O_NONBLOCK itself. */
#ifndef ORDEAL_FIBER_WORKER_H
#define ORDEAL_FIBER_WORKER_H

#include "runtime/fiber/config/config.h"
#include "runtime/fiber/master/scoreboard.h"

struct worker_settings {
    const struct pool_config *pool;
    const struct fiber_config *global;
    int listen_fd;
    struct scoreboard_slot *score;        /* this worker's own; others read it at any time */
    const struct scoreboard_slot *scores; /* all slots of the pool, for the status page; may be NULL */
    unsigned scores_count;
    int log_fd;          /* lines such as "NOTICE: PHP message: ..." go here, each in one write(2) */
    unsigned generation; /* 1, and one more after each reload: told on the status page */
};

/* Serves until it is told to stop; returns the exit status of the process. Does not return early for a
 * client's fault. */
int worker_run(const struct worker_settings *settings);

#endif
