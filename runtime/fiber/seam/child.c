/* Child processes. */
#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/seam/seam.h"

#include "runtime/fiber/sched/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ASK_FIRST_NS = 200000, ASK_LAST_NS = 5000000 };

/* In the child nobody waits for anybody: every call goes straight to the system, and the script ends with the
 * process. */
pid_t fork(void)
{
    pid_t child = REAL(fork)();
    if (child == 0 && slot_current) {
        slot_current = NULL;
        slot_is_child = true;
    }
    return child;
}

/* Waits for one child by its descriptor; for any child there is none, so it is asked again and again. */
static bool wait_a_while(pid_t child, int64_t *ask_ns)
{
    if (child > 0) {
        int fd = (int)syscall(SYS_pidfd_open, child, 0);
        if (fd >= 0) {
            bool ended = seam_wait_fd(fd, POLLIN, SCHED_FOREVER);
            close(fd);
            return ended;
        }
    }
    if (!seam_sleep_ns(*ask_ns))
        return false;
    *ask_ns = seam_longer_ns(*ask_ns, ASK_LAST_NS);
    return true;
}

static pid_t wait_for_child(pid_t child, int *status, int options, struct rusage *usage)
{
    for (int64_t ask_ns = ASK_FIRST_NS;;) {
        pid_t ended = REAL(wait4)(child, status, options | WNOHANG, usage);
        if (ended != 0)
            return ended;
        if (!wait_a_while(child, &ask_ns)) {
            errno = ECHILD; /* not EINTR: who asked would ask again */
            return -1;
        }
    }
}

pid_t waitpid(pid_t child, int *status, int options)
{
    if (!SEAM_TAKES(waitpid) || (options & WNOHANG))
        return REAL(waitpid)(child, status, options);
    return wait_for_child(child, status, options, NULL);
}

pid_t wait4(pid_t child, int *status, int options, struct rusage *usage)
{
    if (!SEAM_TAKES(wait4) || (options & WNOHANG))
        return REAL(wait4)(child, status, options, usage);
    return wait_for_child(child, status, options, usage);
}

/* ---- popen: libc's pclose() waits inside of libc, so both are ours ---- */

struct pipe_child {
    struct pipe_child *next;
    FILE *file;
    pid_t pid;
};
static struct pipe_child *pipe_children;

static bool is_mode(const char *mode, bool *reads)
{
    *reads = *mode == 'r';
    return (*mode == 'r' || *mode == 'w') && mode[1 + strspn(mode + 1, "e")] == '\0';
}

/* /bin/sh -c command, with one end of the pipe as its output or input. */
static pid_t spawn_shell(const char *command, int end, int as)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    pid_t pid = -1;
    char *const arguments[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
    int error = posix_spawn_file_actions_adddup2(&actions, end, as);
    if (!error)
        error = posix_spawn(&pid, "/bin/sh", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!error)
        return pid;
    errno = error;
    return -1;
}

static FILE *open_pipe(const char *command, bool reads)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    int ours = reads ? ends[0] : ends[1], theirs = reads ? ends[1] : ends[0];
    struct pipe_child *child = malloc(sizeof *child);
    FILE *file = child ? fdopen(ours, reads ? "r" : "w") : NULL;
    pid_t pid = file ? spawn_shell(command, theirs, reads ? STDOUT_FILENO : STDIN_FILENO) : -1;
    close(theirs);
    if (pid > 0) {
        *child = (struct pipe_child){.next = pipe_children, .file = file, .pid = pid};
        pipe_children = child;
        return file;
    }
    int error = errno;
    free(child);
    if (file)
        fclose(file);
    else
        close(ours);
    errno = error;
    return NULL;
}

FILE *popen(const char *command, const char *mode)
{
    bool reads;
    if (!SEAM_TAKES(popen) || !is_mode(mode, &reads))
        return REAL(popen)(command, mode);
    return open_pipe(command, reads);
}

int pclose(FILE *file)
{
    struct pipe_child **at = &pipe_children;
    while (*at && (*at)->file != file)
        at = &(*at)->next;
    struct pipe_child *child = *at;
    if (!child)
        return REAL(pclose)(file);
    *at = child->next;
    pid_t pid = child->pid, ended;
    free(child);
    fclose(file);
    int status = -1;
    do
        ended = waitpid(pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended < 0 ? -1 : status;
}
