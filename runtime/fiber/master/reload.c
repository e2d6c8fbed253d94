#include "runtime/fiber/master/internal.h"
#include "runtime/fiber/master/listener.h"
#include "runtime/fiber/master/log.h"
#include "runtime/fiber/master/notify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void refuse(struct master *master)
{
    spares_drop(master);
    log_line(LOG_LEVEL_ERROR, "reload refused: everything goes on as before");
    service_notify("READY=1\nSTATUS=Reload refused, ready to handle connections\n");
}

/* ---- the test ---- */

/* "argv[0] -t ...", what it says goes into the log. */
__attribute__((noreturn)) static void test(const struct master *master)
{
    char *const *argv = master->settings->argv;
    size_t count = 0;
    while (argv[count])
        count++;
    char **test_argv = calloc(count + 2, sizeof *test_argv);
    sigset_t none;
    if (!test_argv)
        _exit(EXIT_SOFTWARE_FAILED);
    test_argv[0] = argv[0];
    test_argv[1] = strdup("-t");
    memcpy(test_argv + 2, argv + 1, (count - 1) * sizeof *argv);
    dup2(log_fd(), STDOUT_FILENO);
    dup2(log_fd(), STDERR_FILENO);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(test_argv[0], test_argv);
    log_line(LOG_LEVEL_ERROR, "%s cannot be executed: %s", test_argv[0], strerror(errno));
    _exit(EXIT_SOFTWARE_FAILED);
}

void reload_start(struct master *master)
{
    if (master->stopping || master->test_pid)
        return;
    log_line(LOG_LEVEL_NOTICE, "Reloading in progress ...");
    service_notify("RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=Reloading in progress\n",
                   (long long)(master_now_ns() / 1000));
    pid_t pid = fork();
    if (pid == 0)
        test(master);
    if (pid > 0) {
        master->test_pid = pid;
        return;
    }
    log_line(LOG_LEVEL_ERROR, "fork() failed: %s", strerror(errno));
    refuse(master);
}

/* ---- sockets of the next configuration ---- */

static bool is_open(const struct master *master, const char *address)
{
    for (unsigned i = 0; i < master->config->pools_count; i++)
        if (strcmp(master->config->pools[i].listen, address) == 0)
            return true;
    return false;
}

static bool open_new_sockets(struct master *master, const struct fiber_config *next)
{
    char problem[LISTENER_PROBLEM_BYTES];
    for (unsigned i = 0; i < next->pools_count; i++) {
        if (is_open(master, next->pools[i].listen))
            continue;
        int fd = listener_open(&next->pools[i], problem);
        if (fd < 0) {
            log_line(LOG_LEVEL_ERROR, "%s", problem);
            return false;
        }
        spare_add(master, next->pools[i].listen, fd);
    }
    return true;
}

static bool prepare(struct master *master)
{
    struct fiber_config next;
    struct config_error error;
    if (!config_read(master->config->path, &next, &error)) {
        log_line(LOG_LEVEL_ERROR, "%s:%u: %s", error.file, error.line, error.text);
        return false;
    }
    bool done = open_new_sockets(master, &next);
    config_free(&next);
    return done;
}

/* ---- exec ---- */

static void execute(struct master *master)
{
    for (unsigned i = 0; i < master->children_count; i++)
        for (int kind = 0; kind < STREAMS; kind++)
            stream_read(&master->children[i]->streams[kind], (enum stream_kind)kind,
                        master->children[i]->pool, master->children[i]->pid, true);
    if (handover_write(master)) {
        log_line(LOG_LEVEL_NOTICE, "reloading: execvp(\"%s\")", master->settings->argv[0]);
        execvp(master->settings->argv[0], master->settings->argv);
    }
    log_line(LOG_LEVEL_ERROR, "reloading: %s", strerror(errno));
    handover_forget(master);
}

void reload_tested(struct master *master, int status)
{
    master->test_pid = 0;
    if (master->stopping)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && prepare(master))
        execute(master);
    refuse(master);
}
