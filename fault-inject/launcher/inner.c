/* The inner supervisor: see supervise.h. */
#include "fault-inject/launcher/disk.h"
#include "fault-inject/launcher/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct inner {
    const struct supervise_job *job;
    const struct supervise_link *link;
    struct supervise_result *result;
    int child_fd; /* signalfd for SIGCHLD */
    pid_t command;
    bool over;
};

static void redirect(int from, int to)
{
    if (from >= 0)
        dup2(from, to);
}

_Noreturn static void become_command(const struct inner *inner)
{
    const struct supervise_job *job = inner->job;
    /* Fails only when the front process is gone already: then there is nothing to run for. */
    if (setpgid(0, inner->link->front_group) != 0)
        _exit(127);
    redirect(job->stdin_fd, STDIN_FILENO);
    redirect(job->stdout_fd, STDOUT_FILENO);
    redirect(job->stderr_fd, STDERR_FILENO);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, inner->link->old_mask, NULL);
    execv(job->path, job->argv);
    inner->result->exec_errno = errno;
    _exit(127);
}

static void reap(struct inner *inner)
{
    int status;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG))
        if (pid == inner->command) {
            inner->result->wait_status = status;
            inner->result->ended = true;
            inner->over = true;
        }
}

static void hear_child(struct inner *inner)
{
    struct signalfd_siginfo info;
    while (read(inner->child_fd, &info, sizeof info) > 0)
        ;
    reap(inner);
}

static void hear_front(struct inner *inner)
{
    unsigned char byte;
    ssize_t length = read(inner->link->socket, &byte, 1);
    if (length == 0 || (length < 0 && errno != EINTR && errno != EAGAIN)) {
        inner->over = true;
        return;
    }
    if (length != 1)
        return;
    reap(inner); /* so that the pid is not a dead one's */
    if (inner->over)
        return;
    if (byte == SUPERVISE_KILL) {
        inner->result->timed_out = true;
        inner->over = true;
    } else {
        kill(inner->command, byte);
    }
}

static void wait_for_the_end(struct inner *inner)
{
    struct pollfd fds[] = {{.fd = inner->child_fd, .events = POLLIN},
                           {.fd = inner->link->socket, .events = POLLIN},
                           {.fd = inner->link->parent_fd, .events = POLLIN}};
    while (!inner->over) {
        if (poll(fds, 3, -1) < 0 && errno != EINTR)
            return;
        if (fds[0].revents != 0)
            hear_child(inner);
        if (!inner->over && fds[1].revents != 0)
            hear_front(inner);
        if (!inner->over && fds[2].revents != 0) {
            inner->result->parent_gone = true;
            inner->over = true;
        }
    }
}

void supervise_clean_up(const struct supervise_job *job, struct leftovers *told)
{
    descendants_kill(told);
    scratch_remove(&job->scratch);
    if (job->remove_file != NULL)
        unlink(job->remove_file);
}

_Noreturn void supervise_inner(const struct supervise_job *job, const struct supervise_link *link,
                               struct supervise_result *result)
{
    struct inner inner = {.job = job, .link = link, .result = result};
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    inner.child_fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    bool ready = inner.child_fd >= 0 && (job->unnamed_fd < 0 || give_name(job->unnamed_fd, job->remove_file));
    inner.command = ready ? fork() : -1;
    if (inner.command == 0)
        become_command(&inner);
    if (inner.command < 0)
        result->exec_errno = errno;
    else
        wait_for_the_end(&inner);
    supervise_clean_up(job, result->ended ? &result->leftovers : NULL);
    result->cleaned = true;
    _exit(0);
}
