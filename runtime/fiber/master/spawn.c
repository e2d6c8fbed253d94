#include "runtime/fiber/master/internal.h"
#include "runtime/fiber/master/log.h"
#include "runtime/fiber/master/user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The worker's log may get ahead of a master that is busy with a reload. */
enum { LOG_PIPE_BYTES = 1 << 20 };

struct pipes {
    int read[STREAMS], write[STREAMS]; /* -1: none */
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_pipes(struct pipes *pipes)
{
    for (int kind = 0; kind < STREAMS; kind++) {
        close_one(&pipes->read[kind]);
        close_one(&pipes->write[kind]);
    }
}

static bool open_pipes(const struct pool_config *pool, struct pipes *pipes)
{
    *pipes = (struct pipes){{-1, -1, -1}, {-1, -1, -1}};
    for (int kind = 0; kind < STREAMS; kind++) {
        int ends[2];
        if (kind != STREAM_LOG && !pool->catch_workers_output)
            continue;
        if (pipe2(ends, O_CLOEXEC) != 0) {
            close_pipes(pipes);
            return false;
        }
        pipes->read[kind] = ends[0];
        pipes->write[kind] = ends[1];
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    fcntl(pipes->write[STREAM_LOG], F_SETPIPE_SZ, LOG_PIPE_BYTES); /* if we may */
    return true;
}

/* ---- in the child ---- */

__attribute__((noreturn)) static void give_up(const struct pipes *pipes, const char *what)
{
    dprintf(pipes->write[STREAM_LOG], "ERROR: cannot %s: %s\n", what, strerror(errno));
    _exit(EXIT_SOFTWARE_FAILED);
}

/* Until the worker has its own handlers there is nothing to finish. */
static void leave(int signal)
{
    (void)signal;
    _exit(EXIT_SUCCESS);
}

static const struct {
    int signal;
    void (*handler)(int signal);
} first_handlers[] = {
    {SIGTERM, leave},   {SIGINT, leave},    {SIGQUIT, leave},   {SIGUSR1, SIG_IGN},
    {SIGUSR2, SIG_IGN}, {SIGPIPE, SIG_IGN}, {SIGCHLD, SIG_DFL},
};

static void reset_signals(void)
{
    sigset_t none;
    for (size_t i = 0; i < sizeof first_handlers / sizeof *first_handlers; i++)
        sigaction(first_handlers[i].signal, &(struct sigaction){.sa_handler = first_handlers[i].handler},
                  NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What is the master's, and other pools'. */
static void close_the_rest(const struct master *master, const struct pool *pool)
{
    close(master->signals_fd);
    for (unsigned i = 0; i < master->config->pools_count; i++)
        if (&master->pools[i] != pool)
            close(master->pools[i].listen_fd);
    for (unsigned i = 0; i < master->children_count; i++)
        for (int kind = 0; kind < STREAMS; kind++)
            close_one(&master->children[i]->streams[kind].fd);
    if (log_fd() > STDERR_FILENO)
        close(log_fd());
}

static void redirect(const struct pipes *pipes)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        give_up(pipes, "open /dev/null");
    dup2(null, STDIN_FILENO);
    dup2(pipes->write[STREAM_STDOUT] >= 0 ? pipes->write[STREAM_STDOUT] : null, STDOUT_FILENO);
    dup2(pipes->write[STREAM_STDERR] >= 0 ? pipes->write[STREAM_STDERR] : null, STDERR_FILENO);
    if (null > STDERR_FILENO)
        close(null);
}

static void set_environment(const struct pool_config *pool, const struct user *user)
{
    unsetenv("NOTIFY_SOCKET"); /* the master's */
    if (pool->clear_env)
        clearenv();
    if (user->name[0]) {
        setenv("USER", user->name, 1);
        setenv("HOME", user->home, 1);
    }
    for (unsigned i = 0; i < pool->env_count; i++)
        setenv(pool->env[i].name, pool->env[i].value, 1);
}

static void become(const struct pool_config *pool, const struct pipes *pipes, pid_t master_pid)
{
    struct user user;
    if (!user_find(pool->user, pool->group, &user))
        give_up(pipes, "find the user");
    set_environment(pool, &user);
    if (pool->chdir && chdir(pool->chdir) != 0)
        give_up(pipes, "change to the folder of chdir");
    if (geteuid() == 0 && (pool->user || pool->group) && !user_become(&user))
        give_up(pipes, "become the user");
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* after setuid(), which forgets it */
    if (getppid() != master_pid)
        _exit(EXIT_SOFTWARE_FAILED); /* the master has died before that */
}

static void take_slot(struct scoreboard_slot *score)
{
    memset((void *)score, 0, sizeof *score);
    score->started_s = time(NULL);
    score->state = WORKER_STARTING;
    score->pid = getpid();
}

__attribute__((noreturn)) static void be_worker(struct master *master, struct pool *pool, unsigned place,
                                                struct pipes *pipes, pid_t master_pid)
{
    for (int kind = 0; kind < STREAMS; kind++)
        close_one(&pipes->read[kind]);
    close_the_rest(master, pool);
    redirect(pipes);
    close_one(&pipes->write[STREAM_STDOUT]);
    close_one(&pipes->write[STREAM_STDERR]);
    become(pool->config, pipes, master_pid);
    take_slot(&pool->scores[place]);
    reset_signals();
    struct worker_settings settings = {
        .pool = pool->config,
        .global = master->config,
        .listen_fd = pool->listen_fd,
        .score = &pool->scores[place],
        .scores = pool->scores,
        .scores_count = pool->config->max_children,
        .log_fd = pipes->write[STREAM_LOG],
        .generation = master->generation,
    };
    _exit(master->settings->php->worker_run(&settings));
}

/* ---- in the master ---- */

bool spawn(struct master *master, struct pool *pool, unsigned place)
{
    struct pipes pipes;
    if (!open_pipes(pool->config, &pipes)) {
        log_line(LOG_LEVEL_ERROR, "[pool %s] no pipe for a new child: %s", pool->config->name,
                 strerror(errno));
        return false;
    }
    struct child *child = child_add(master, 0, pool->config->name, master_now_ns());
    pid_t master_pid = getpid(), pid = child ? fork() : -1;
    if (pid == 0)
        be_worker(master, pool, place, &pipes, master_pid);
    if (pid < 0) {
        log_line(LOG_LEVEL_ERROR, "[pool %s] fork() failed: %s", pool->config->name, strerror(errno));
        close_pipes(&pipes);
        if (child)
            child_drop_last(master);
        return false;
    }
    child->pid = pid;
    child->slot = (int)place;
    child->place = &pool->places[place];
    child->place->taken = true;
    for (int kind = 0; kind < STREAMS; kind++) {
        child->streams[kind].fd = pipes.read[kind];
        close_one(&pipes.write[kind]);
    }
    log_line(child->place->not_before_ns ? LOG_LEVEL_NOTICE : LOG_LEVEL_DEBUG, "[pool %s] child %d started",
             pool->config->name, (int)pid);
    return true;
}
