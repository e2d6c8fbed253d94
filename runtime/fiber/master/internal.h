/* The master's parts, and what they share:
 *
 *     start.c      before the first worker: log, PHP, sockets, pid file
 *     loop.c       waits for signals, output and time
 *     children.c   the table of children: born, told to end, reaped
 *     spawn.c      what happens in the child before it is a worker
 *     pools.c      as many workers as there shall be, with back-off
 *     reload.c     test, sockets, exec
 *     handover.c   what the next program has to know, in a file in memory
 */
#ifndef ORDEAL_FIBER_MASTER_INTERNAL_H
#define ORDEAL_FIBER_MASTER_INTERNAL_H

#include "runtime/fiber/master/master.h"
#include "runtime/fiber/master/stream.h"

#include <signal.h>
#include <time.h>

#define MS_NS ((int64_t)1000000)
#define NEVER_NS INT64_MAX

static inline int64_t master_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- children ---- */

struct child {
    pid_t pid;
    char *pool;          /* its name: an old child's pool may be gone */
    int slot;            /* in its pool; -1: it is of an earlier generation */
    struct place *place; /* NULL, likewise */
    int64_t started_ns;
    int sent;            /* SIGQUIT, SIGTERM or SIGKILL; 0: it may live */
    int64_t escalate_ns; /* when the next one is due */
    struct stream streams[STREAMS];
};

/* One place for a worker. It is empty while its worker has died and the next one has to wait. */
struct place {
    bool taken;
    int64_t not_before_ns, delay_ns;
};

struct pool {
    const struct pool_config *config;
    int listen_fd;
    struct scoreboard_slot *scores; /* one a place */
    struct place *places;
};

struct listener {
    char *address;
    int fd;
};

struct master {
    const struct master_settings *settings;
    const struct fiber_config *config;
    unsigned generation;
    int signals_fd;
    struct pool pools[CONFIG_POOLS_MAX];
    struct child **children;
    unsigned children_count;
    bool stopping;  /* nobody is replaced */
    bool ready;     /* each pool has a worker that serves */
    pid_t test_pid; /* of a reload; 0: none */
    int handover_fd;

    /* Sockets of no pool: at the start, those of the program before; in a reload, those for the next one. */
    struct listener spare[2 * CONFIG_POOLS_MAX];
    unsigned spare_count;
    char *pid_file_before;
};

/* ---- children.c ---- */

/* A child that the program before has left us, or one just forked. NULL: no memory. */
struct child *child_add(struct master *master, pid_t pid, const char *pool, int64_t started_ns);

/* The one just added is none after all. */
void child_drop_last(struct master *master);

/* SIGQUIT or SIGTERM, and what follows if it does not end. */
void child_end(struct master *master, struct child *child, int signal);

/* All of them; `old`: those of earlier generations only. */
void children_end(struct master *master, int signal, bool old);
void children_signal(struct master *master, int signal);

/* Sends what is due; returns when the next is. */
int64_t children_escalate(struct master *master);

/* Takes the dead ones away. */
void children_reap(struct master *master);

/* ---- spawn.c ---- */

/* Forks a worker for that place of the pool. False: it could not, for now. */
bool spawn(struct master *master, struct pool *pool, unsigned place);

/* ---- pools.c ---- */

/* Fills the places whose time has come; returns when the next one's comes. */
int64_t pools_fill(struct master *master);

/* The worker of a place has died. */
void place_died(struct master *master, struct child *child, bool failed);

/* When each pool has a worker that serves: says so, and lets the generation before go. Returns when to look
 * again. */
int64_t pools_check_ready(struct master *master);

/* ---- reload.c ---- */

void reload_start(struct master *master);

/* The test has ended. Returns only if there is nothing to execute. */
void reload_tested(struct master *master, int status);

/* ---- handover.c ---- */

/* False: it could not be written. Afterwards exec may follow; else handover_forget(). */
bool handover_write(struct master *master);
void handover_forget(struct master *master);

/* Nothing, unless a program before has left something. */
void handover_read(struct master *master);
bool handover_is_there(void);

/* ---- start.c ---- */

void spare_add(struct master *master, const char *address, int fd);

/* Closes those that nobody has taken. */
void spares_drop(struct master *master);

/* ---- loop.c ---- */

/* Until all children have ended; returns the exit status. */
int loop_run(struct master *master);

/* The signals a master takes, blocked except in loop_run(). */
sigset_t master_signals(void);

#endif
