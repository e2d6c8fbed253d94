/* The front process: see supervise.h. */
#include "fault-inject/launcher/supervise.h"

#include "fault-inject/launcher/say.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int forwarded[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};

struct front {
    const struct supervise_job *job;
    int socket; /* our end */
    int signal_fd;
    pid_t inner;
    int64_t deadline_ns; /* 0: none */
    int stop_signal;
    bool over;
};

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A pidfd and not PR_SET_PDEATHSIG, which tells of the end of the parent's thread. -2: it is gone already. */
static int watch_parent(void)
{
    pid_t parent = getppid();
    int fd = (int)syscall(SYS_pidfd_open, parent, 0);
    return fd >= 0 && getppid() == parent ? fd : -2;
}

static void tell_inner(struct front *front, unsigned char byte)
{
    while (send(front->socket, &byte, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

/* A signal of the terminal (si_code > 0) went to the whole group, the command included; one of kill(2) to us.
 */
static void hear_signals(struct front *front)
{
    struct signalfd_siginfo info;
    while (read(front->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
            if (waitpid(front->inner, NULL, WNOHANG) == front->inner)
                front->over = true;
            continue;
        }
        if (info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2)
            front->stop_signal = (int)info.ssi_signo;
        if (info.ssi_code <= 0)
            tell_inner(front, (unsigned char)info.ssi_signo);
    }
}

static int milliseconds_left(const struct front *front)
{
    if (front->deadline_ns == 0)
        return -1;
    int64_t left_ns = front->deadline_ns - monotonic_ns();
    return left_ns <= 0 ? 0 : (int)((left_ns + 999999) / 1000000);
}

static void wait_for_inner(struct front *front)
{
    struct pollfd fd = {.fd = front->signal_fd, .events = POLLIN};
    while (!front->over) {
        int ready = poll(&fd, 1, milliseconds_left(front));
        if (ready == 0 && milliseconds_left(front) == 0) {
            tell_inner(front, SUPERVISE_KILL);
            front->deadline_ns = 0;
        }
        hear_signals(front);
    }
}

static bool start_inner(struct front *front, const sigset_t *old_mask, struct supervise_result *shared)
{
    int ends[2];
    int parent_fd = front->job->die_with_parent ? watch_parent() : -1;
    if (parent_fd == -2) {
        say("--die-with-parent: the parent is gone already");
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        say("socketpair: %s", strerror(errno));
        return false;
    }
    struct supervise_link link = {ends[1], parent_fd, getpgrp(), old_mask};
    front->inner = fork();
    if (front->inner == 0) {
        close(ends[0]);
        close(front->signal_fd);
        supervise_inner(front->job, &link, shared);
    }
    close(ends[1]);
    if (parent_fd >= 0)
        close(parent_fd);
    front->socket = ends[0];
    if (front->inner < 0)
        say("fork: %s", strerror(errno));
    return front->inner > 0;
}

static int block_signals(sigset_t *old_mask)
{
    sigset_t heard;
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(&heard, forwarded[i]);
    sigprocmask(SIG_BLOCK, &heard, old_mask);
    return signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool run_to_the_end(struct front *front, const sigset_t *old_mask, struct supervise_result *shared)
{
    bool started = front->signal_fd >= 0 && start_inner(front, old_mask, shared);
    if (started) {
        wait_for_inner(front);
        if (!shared->cleaned)
            supervise_clean_up(front->job, NULL); /* who was below the inner supervisor is below us now */
        close(front->socket);
    }
    if (front->signal_fd >= 0)
        close(front->signal_fd);
    return started;
}

static void say_mishaps(const struct supervise_job *job, const struct supervise_result *result)
{
    if (result->exec_errno != 0)
        say("%s could not be started: %s", job->argv[0], strerror(result->exec_errno));
    if (result->inner_lost)
        say("the supervisor was killed; so was all that it supervised");
}

bool supervise(const struct supervise_job *job, struct supervise_result *result)
{
    struct front front = {.job = job};
    sigset_t old_mask;
    size_t size = sizeof *result;
    struct supervise_result *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        say("mmap: %s", strerror(errno));
        return false;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    front.signal_fd = block_signals(&old_mask);
    if (job->timeout_ns > 0)
        front.deadline_ns = monotonic_ns() + job->timeout_ns;
    bool started = run_to_the_end(&front, &old_mask, shared);
    shared->stop_signal = front.stop_signal;
    shared->inner_lost =
        started && !shared->ended && !shared->timed_out && !shared->parent_gone && shared->exec_errno == 0;
    memcpy(result, shared, size);
    munmap(shared, size);
    sigprocmask(SIG_SETMASK, &old_mask, NULL);
    say_mishaps(job, result);
    return started;
}

int supervise_exit_status(const struct supervise_result *result)
{
    if (result->exec_errno != 0)
        return result->exec_errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    if (!result->ended)
        return 128 + SIGKILL;
    return WIFSIGNALED(result->wait_status) ? 128 + WTERMSIG(result->wait_status)
                                            : WEXITSTATUS(result->wait_status);
}
