/* Running a command so that nothing of it is left behind, whatever happens to whom.
 *
 *     the front process           (the caller: forwards signals, waits, reports)
 *       └─ the inner supervisor   (a process group of its own; a subreaper)
 *            └─ the command       (in the front process's group, so the terminal and job control are its own)
 *                 └─ …            (whoever loses his parent becomes the inner supervisor's child)
 *
 * When the command has ended, when the front process is gone (even by SIGKILL: their socket closes), or when
 * the front process's parent is gone (die_with_parent), the inner supervisor kills all that is left and
 * removes the scratch folder. Should somebody kill the inner supervisor, the front process, a subreaper too,
 * does the same.
 */
#ifndef ORDEAL_LAUNCHER_SUPERVISE_H
#define ORDEAL_LAUNCHER_SUPERVISE_H

#include "fault-inject/launcher/descendants.h"
#include "fault-inject/launcher/scratch.h"

#include <stdbool.h>
#include <stdint.h>

struct supervise_job {
    const char *path; /* of the program */
    char *const *argv;
    struct scratch scratch;
    const char *remove_file; /* removed at the end as well; NULL: none */
    int unnamed_fd;          /* gets that name before the command starts; -1: it has it */
    bool die_with_parent;
    int64_t timeout_ns;                 /* 0: none */
    int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited */
};

struct supervise_result {
    int exec_errno;             /* the program could not be started; 0: it was */
    int wait_status;            /* of the command, as of waitpid */
    bool timed_out;             /* it was killed for that */
    bool parent_gone;           /* it was killed because the launcher's parent had ended */
    bool ended;                 /* wait_status is valid */
    bool cleaned;               /* the inner supervisor has done its work to the end */
    bool inner_lost;            /* somebody killed it before */
    int stop_signal;            /* TERM, INT, QUIT or HUP came in the meantime, from whomever; 0: none */
    struct leftovers leftovers; /* alive after the command had ended by itself */
};

/* False, having said why, when it could not even begin. */
bool supervise(const struct supervise_job *job, struct supervise_result *result);

/* What a shell would say: the exit status, or 128 + the signal. */
int supervise_exit_status(const struct supervise_result *result);

/* ---- inner.c ---- */

enum { SUPERVISE_KILL = 0xff }; /* on the socket: a signal's number, or this for "kill all" */

struct supervise_link {
    int socket;           /* the inner supervisor's end */
    int parent_fd;        /* pidfd of the front process's parent, or -1 */
    int front_group;      /* process group of the front process */
    const void *old_mask; /* sigset_t: the mask that the command shall have */
};

/* The life of the inner supervisor; fills *result in shared memory and exits. */
_Noreturn void supervise_inner(const struct supervise_job *job, const struct supervise_link *link,
                               struct supervise_result *result);

/* Everything is over: kill, remove. */
void supervise_clean_up(const struct supervise_job *job, struct leftovers *told);

#endif
