#include "runtime/fiber/master/internal.h"
#include "runtime/fiber/master/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct child *child_add(struct master *master, pid_t pid, const char *pool, int64_t started_ns)
{
    struct child *child = calloc(1, sizeof *child);
    char *name = strdup(pool);
    struct child **children = realloc(master->children, (master->children_count + 1) * sizeof *children);
    if (children)
        master->children = children;
    if (!child || !name || !children) {
        free(child);
        free(name);
        return NULL;
    }
    *child = (struct child){
        .pid = pid, .pool = name, .slot = -1, .started_ns = started_ns, .escalate_ns = NEVER_NS};
    for (int kind = 0; kind < STREAMS; kind++)
        child->streams[kind].fd = -1;
    return master->children[master->children_count++] = child;
}

static void child_remove(struct master *master, unsigned index)
{
    struct child *child = master->children[index];
    master->children[index] = master->children[--master->children_count];
    for (int kind = 0; kind < STREAMS; kind++)
        stream_close(&child->streams[kind]);
    free(child->pool);
    free(child);
}

void child_drop_last(struct master *master)
{
    child_remove(master, master->children_count - 1);
}

/* ---- the end of one ---- */

/* What follows if a signal did not end it. */
static const struct {
    int signal, next;
    const char *next_name;
    int64_t after_ms; /* -1: process_control_timeout */
} escalations[] = {
    {SIGQUIT, SIGTERM, "SIGTERM", -1},
    {SIGTERM, SIGKILL, "SIGKILL", 3000},
};

void child_end(struct master *master, struct child *child, int signal)
{
    child->sent = signal;
    child->escalate_ns = NEVER_NS;
    for (size_t i = 0; i < sizeof escalations / sizeof *escalations; i++)
        if (escalations[i].signal == signal) {
            int64_t after_ms = escalations[i].after_ms;
            if (after_ms < 0)
                after_ms = master->config->process_control_timeout_ms;
            if (after_ms > 0)
                child->escalate_ns = master_now_ns() + after_ms * MS_NS;
        }
    kill(child->pid, signal);
}

void children_end(struct master *master, int signal, bool old)
{
    for (unsigned i = 0; i < master->children_count; i++)
        if (!old || !master->children[i]->place)
            child_end(master, master->children[i], signal);
}

void children_signal(struct master *master, int signal)
{
    for (unsigned i = 0; i < master->children_count; i++)
        kill(master->children[i]->pid, signal);
}

static void escalate(struct master *master, struct child *child)
{
    for (size_t i = 0; i < sizeof escalations / sizeof *escalations; i++)
        if (escalations[i].signal == child->sent) {
            log_line(LOG_LEVEL_WARNING, "[pool %s] child %d has not ended in time, sending %s", child->pool,
                     (int)child->pid, escalations[i].next_name);
            child_end(master, child, escalations[i].next);
            return;
        }
}

int64_t children_escalate(struct master *master)
{
    int64_t next = NEVER_NS;
    for (unsigned i = 0; i < master->children_count; i++) {
        struct child *child = master->children[i];
        if (child->escalate_ns <= master_now_ns())
            escalate(master, child);
        if (child->escalate_ns < next)
            next = child->escalate_ns;
    }
    return next;
}

/* ---- reaping ---- */

static bool has_failed(int status)
{
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* "with code 0", "on signal 11 (SIGSEGV)". */
static void describe(int status, char *text, size_t room)
{
    if (WIFEXITED(status)) {
        snprintf(text, room, "with code %d", WEXITSTATUS(status));
        return;
    }
    const char *name = sigabbrev_np(WTERMSIG(status));
    snprintf(text, room, "on signal %d (SIG%s%s)", WTERMSIG(status), name ? name : "?",
             WCOREDUMP(status) ? " - core dumped" : "");
}

static void log_end(const struct child *child, int status)
{
    char how[64];
    int64_t lived_us = (master_now_ns() - child->started_ns) / 1000;
    enum log_level level = has_failed(status) ? LOG_LEVEL_WARNING : LOG_LEVEL_NOTICE;
    if (child->sent && child->sent != SIGKILL && (!has_failed(status) || WTERMSIG(status) == child->sent))
        level = LOG_LEVEL_DEBUG; /* as it was told to */
    describe(status, how, sizeof how);
    log_line(level, "[pool %s] child %d exited %s after %lld.%06lld seconds from start", child->pool,
             (int)child->pid, how, (long long)(lived_us / 1000000), (long long)(lived_us % 1000000));
}

static void reap(struct master *master, pid_t pid, int status)
{
    if (pid == master->test_pid) {
        reload_tested(master, status);
        return;
    }
    for (unsigned i = 0; i < master->children_count; i++) {
        struct child *child = master->children[i];
        if (child->pid != pid)
            continue;
        for (int kind = 0; kind < STREAMS; kind++)
            stream_read(&child->streams[kind], (enum stream_kind)kind, child->pool, pid, true);
        log_end(child, status);
        if (child->place)
            place_died(master, child, has_failed(status));
        child_remove(master, i);
        return;
    }
}

void children_reap(struct master *master)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        reap(master, pid, status);
}
