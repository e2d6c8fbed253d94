#include "runtime/fiber/master/internal.h"
#include "runtime/fiber/master/log.h"
#include "runtime/fiber/master/notify.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* ---- signals ---- */

static void stop(struct master *master, int signal, const char *text)
{
    log_line(LOG_LEVEL_NOTICE, "%s", text);
    service_notify("STOPPING=1\nSTATUS=%s\n", text);
    master->stopping = true;
    children_end(master, signal, false);
}

static void terminate(struct master *master)
{
    stop(master, SIGTERM, "Terminating ...");
}

static void finish(struct master *master)
{
    if (!master->stopping)
        stop(master, SIGQUIT, "Finishing ...");
}

static void reopen(struct master *master)
{
    if (log_reopen())
        log_line(LOG_LEVEL_NOTICE, "error log file re-opened");
    else
        log_line(LOG_LEVEL_ERROR, "error log file cannot be re-opened: %s", strerror(errno));
    children_signal(master, SIGUSR1);
}

static const struct {
    int signal;
    void (*handle)(struct master *master);
} handlers[] = {
    {SIGTERM, terminate}, {SIGINT, terminate},     {SIGQUIT, finish},
    {SIGUSR1, reopen},    {SIGUSR2, reload_start}, {SIGCHLD, children_reap},
};

sigset_t master_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        sigaddset(&signals, handlers[i].signal);
    return signals;
}

static void take_signals(struct master *master)
{
    struct signalfd_siginfo info;
    while (read(master->signals_fd, &info, sizeof info) == (ssize_t)sizeof info)
        for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
            if ((uint32_t)handlers[i].signal == info.ssi_signo)
                handlers[i].handle(master);
}

/* ---- output of the children ---- */

static void take_output(struct master *master, const struct pollfd *fds)
{
    for (unsigned i = 0; i < master->children_count; i++) {
        struct child *child = master->children[i];
        for (int kind = 0; kind < STREAMS; kind++)
            if (fds[i * STREAMS + (unsigned)kind].revents)
                stream_read(&child->streams[kind], (enum stream_kind)kind, child->pool, child->pid, false);
    }
}

/* ---- waiting ---- */

static int timeout_ms(int64_t until_ns)
{
    int64_t left_ns = until_ns - master_now_ns();
    if (until_ns == NEVER_NS || left_ns / MS_NS > 3600000)
        return 3600000;
    return left_ns <= 0 ? 0 : (int)((left_ns + MS_NS - 1) / MS_NS);
}

static void wait_and_take(struct master *master, struct pollfd *fds, int64_t until_ns)
{
    unsigned count = 1;
    fds[0] = (struct pollfd){.fd = master->signals_fd, .events = POLLIN};
    for (unsigned i = 0; i < master->children_count; i++)
        for (int kind = 0; kind < STREAMS; kind++)
            fds[count++] = (struct pollfd){.fd = master->children[i]->streams[kind].fd, .events = POLLIN};
    if (poll(fds, count, timeout_ms(until_ns)) <= 0)
        return;
    take_output(master, fds + 1); /* before signals: they change the table of children */
    if (fds[0].revents)
        take_signals(master);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int loop_run(struct master *master)
{
    struct pollfd *fds = NULL;
    sigset_t signals = master_signals();
    master->signals_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (master->signals_fd < 0) {
        log_line(LOG_LEVEL_ERROR, "signalfd() failed: %s", strerror(errno));
        return EXIT_SOFTWARE_FAILED;
    }
    children_reap(master); /* of the program before: their SIGCHLD may have been taken by it */
    while (!master->stopping || master->children_count > 0) {
        int64_t until_ns = earlier(pools_fill(master), children_escalate(master));
        until_ns = earlier(until_ns, pools_check_ready(master));
        struct pollfd *grown = realloc(fds, (1 + STREAMS * (size_t)master->children_count) * sizeof *fds);
        if (!grown)
            break; /* the system ends the workers when we have gone */
        fds = grown;
        wait_and_take(master, fds, until_ns);
    }
    free(fds);
    close(master->signals_fd);
    log_line(LOG_LEVEL_NOTICE, "exiting, bye-bye!");
    return EXIT_SUCCESS;
}
