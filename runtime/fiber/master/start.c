#include "runtime/fiber/master/daemon.h"
#include "runtime/fiber/master/internal.h"
#include "runtime/fiber/master/listener.h"
#include "runtime/fiber/master/log.h"
#include "runtime/fiber/master/notify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sockets ---- */

void spare_add(struct master *master, const char *address, int fd)
{
    char *copy = strdup(address);
    if (!copy || master->spare_count >= sizeof master->spare / sizeof *master->spare) {
        free(copy);
        close(fd);
        return;
    }
    master->spare[master->spare_count++] = (struct listener){.address = copy, .fd = fd};
}

/* -1: none has this address. */
static int spare_take(struct master *master, const char *address)
{
    for (unsigned i = 0; i < master->spare_count; i++)
        if (strcmp(master->spare[i].address, address) == 0) {
            int fd = master->spare[i].fd;
            free(master->spare[i].address);
            master->spare[i] = master->spare[--master->spare_count];
            return fd;
        }
    return -1;
}

void spares_drop(struct master *master)
{
    for (unsigned i = 0; i < master->spare_count; i++) {
        listener_remove(master->spare[i].address);
        close(master->spare[i].fd);
        free(master->spare[i].address);
    }
    master->spare_count = 0;
}

static bool open_pool(struct master *master, struct pool *pool, const struct pool_config *config)
{
    char problem[LISTENER_PROBLEM_BYTES];
    pool->config = config;
    pool->scores = scoreboard_new(pool->config->max_children);
    pool->places = calloc(pool->config->max_children, sizeof *pool->places);
    pool->listen_fd = spare_take(master, pool->config->listen);
    if (pool->listen_fd >= 0 && !listener_adjust(pool->listen_fd, pool->config, problem))
        log_line(LOG_LEVEL_WARNING, "[pool %s] %s", pool->config->name, problem);
    if (pool->listen_fd < 0)
        pool->listen_fd = listener_open(pool->config, problem);
    if (pool->listen_fd < 0)
        log_line(LOG_LEVEL_ERROR, "[pool %s] %s", pool->config->name, problem);
    return pool->listen_fd >= 0 && pool->scores && pool->places;
}

static bool open_pools(struct master *master)
{
    bool done = true;
    for (unsigned i = 0; i < master->config->pools_count && done; i++)
        done = open_pool(master, &master->pools[i], &master->config->pools[i]);
    spares_drop(master);
    return done;
}

static void close_pools(struct master *master)
{
    for (unsigned i = 0; i < master->config->pools_count; i++) {
        struct pool *pool = &master->pools[i];
        if (pool->listen_fd >= 0) {
            listener_remove(pool->config->listen);
            close(pool->listen_fd);
        }
        free(pool->places);
    }
}

/* ---- the pid file ---- */

static bool write_pid_file(struct master *master)
{
    const char *path = master->config->pid_file, *before = master->pid_file_before;
    if (before && (!path || strcmp(path, before) != 0))
        unlink(before);
    free(master->pid_file_before);
    master->pid_file_before = NULL;
    if (!path)
        return true;
    FILE *file = fopen(path, "we");
    if (file && fprintf(file, "%d", (int)getpid()) > 0 && fclose(file) == 0)
        return true;
    log_line(LOG_LEVEL_ERROR, "Unable to create the PID file (%s): %s", path, strerror(errno));
    return false;
}

/* ---- the whole ---- */

static bool start(struct master *master)
{
    const struct master_settings *settings = master->settings;
    char problem[MASTER_PROBLEM_BYTES] = "";
    if (!log_open(master->config->error_log, master->config->log_level, settings->echo)) {
        log_line(LOG_LEVEL_ERROR, "failed to open error_log (%s): %s", master->config->error_log,
                 strerror(errno));
        return false;
    }
    handover_read(master);
    if (!settings->php->engine_start(settings->php_options, problem)) {
        log_line(LOG_LEVEL_ERROR, "%s", problem);
        return false;
    }
    return open_pools(master) && write_pid_file(master);
}

int master_run(const struct master_settings *settings)
{
    struct master *master = calloc(1, sizeof *master);
    bool daemonize = settings->daemonize && !handover_is_there();
    if (!master || (daemonize && !daemon_start()))
        return EXIT_SOFTWARE_FAILED;
    *master =
        (struct master){.settings = settings, .config = settings->config, .generation = 1, .handover_fd = -1};
    for (unsigned i = 0; i < CONFIG_POOLS_MAX; i++)
        master->pools[i].listen_fd = -1;
    sigset_t signals = master_signals();
    sigprocmask(SIG_SETMASK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    int status = EXIT_WRONG_CONFIG;
    if (start(master)) {
        log_line(LOG_LEVEL_NOTICE, "fpm is running, pid %d", (int)getpid());
        if (daemonize)
            daemon_ready();
        status = loop_run(master);
        if (master->config->pid_file)
            unlink(master->config->pid_file);
    } else {
        log_line(LOG_LEVEL_ERROR, "FPM initialization failed");
    }
    close_pools(master);
    free(master->children);
    free(master);
    return status;
}
