/* What a program leaves to the one that is executed in its place: a text in memory, whose descriptor and
 * process are in the environment as FIBER_FPM_STATE=fd:pid.
 *
 *     generation 3
 *     pid_file /run/fiber-fpm.pid
 *     socket 5 /run/www.sock               descriptor, address
 *     child 812 5020304050 7 -1 8 www      pid, start (CLOCK_MONOTONIC, ns), its three pipes, pool
 */
#include "runtime/fiber/master/internal.h"
#include "runtime/fiber/master/log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char variable[] = "FIBER_FPM_STATE";

/* ---- writing ---- */

static void for_each_fd(struct master *master, void (*work)(int fd))
{
    for (unsigned i = 0; i < master->config->pools_count; i++)
        work(master->pools[i].listen_fd);
    for (unsigned i = 0; i < master->spare_count; i++)
        work(master->spare[i].fd);
    for (unsigned i = 0; i < master->children_count; i++)
        for (int kind = 0; kind < STREAMS; kind++)
            work(master->children[i]->streams[kind].fd);
    work(master->handover_fd);
}

static void keep(int fd)
{
    if (fd >= 0)
        fcntl(fd, F_SETFD, 0);
}

static void keep_no_more(int fd)
{
    if (fd >= 0)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void write_state(const struct master *master, FILE *out)
{
    fprintf(out, "generation %u\n", master->generation);
    if (master->config->pid_file)
        fprintf(out, "pid_file %s\n", master->config->pid_file);
    for (unsigned i = 0; i < master->config->pools_count; i++)
        fprintf(out, "socket %d %s\n", master->pools[i].listen_fd, master->config->pools[i].listen);
    for (unsigned i = 0; i < master->spare_count; i++)
        fprintf(out, "socket %d %s\n", master->spare[i].fd, master->spare[i].address);
    for (unsigned i = 0; i < master->children_count; i++) {
        const struct child *child = master->children[i];
        fprintf(out, "child %d %" PRId64 " %d %d %d %s\n", (int)child->pid, child->started_ns,
                child->streams[STREAM_STDOUT].fd, child->streams[STREAM_STDERR].fd,
                child->streams[STREAM_LOG].fd, child->pool);
    }
}

bool handover_write(struct master *master)
{
    char value[64];
    master->handover_fd = memfd_create("fiber-fpm state", MFD_CLOEXEC);
    int copy = master->handover_fd < 0 ? -1 : dup(master->handover_fd);
    FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
    if (!out)
        return false;
    write_state(master, out);
    snprintf(value, sizeof value, "%d:%d", master->handover_fd, (int)getpid());
    if (fclose(out) != 0 || lseek(master->handover_fd, 0, SEEK_SET) != 0 || setenv(variable, value, 1) != 0)
        return false;
    for_each_fd(master, keep);
    return true;
}

void handover_forget(struct master *master)
{
    for_each_fd(master, keep_no_more);
    unsetenv(variable);
    if (master->handover_fd >= 0)
        close(master->handover_fd);
    master->handover_fd = -1;
}

/* ---- reading ---- */

/* -1: there is none, or it is another process's, whose environment we have. */
static int state_fd(void)
{
    int fd, pid;
    const char *value = getenv(variable);
    return value && sscanf(value, "%d:%d", &fd, &pid) == 2 && pid == (int)getpid() ? fd : -1;
}

bool handover_is_there(void)
{
    return state_fd() >= 0;
}

static void read_socket(struct master *master, const char *text)
{
    int fd, at = 0;
    if (sscanf(text, "%d %n", &fd, &at) != 1 || at == 0)
        return;
    keep_no_more(fd);
    log_line(LOG_LEVEL_NOTICE, "using inherited socket fd=%d, \"%s\"", fd, text + at);
    spare_add(master, text + at, fd);
}

static void read_child(struct master *master, const char *text)
{
    int pid, fds[STREAMS], at = 0;
    int64_t started_ns;
    if (sscanf(text, "%d %" SCNd64 " %d %d %d %n", &pid, &started_ns, &fds[STREAM_STDOUT],
               &fds[STREAM_STDERR], &fds[STREAM_LOG], &at) != 5 ||
        at == 0)
        return;
    struct child *child = child_add(master, pid, text + at, started_ns);
    for (int kind = 0; kind < STREAMS; kind++) {
        keep_no_more(fds[kind]);
        if (child)
            child->streams[kind].fd = fds[kind];
    }
}

static void read_generation(struct master *master, const char *text)
{
    master->generation = (unsigned)strtoul(text, NULL, 10) + 1;
}

static void read_pid_file(struct master *master, const char *text)
{
    free(master->pid_file_before);
    master->pid_file_before = strdup(text);
}

static const struct {
    const char *word;
    void (*read)(struct master *master, const char *text);
} words[] = {
    {"generation ", read_generation},
    {"pid_file ", read_pid_file},
    {"socket ", read_socket},
    {"child ", read_child},
};

void handover_read(struct master *master)
{
    int fd = state_fd();
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    unsetenv(variable);
    if (!in)
        return;
    for (ssize_t count; (count = getline(&line, &room, in)) > 0;) {
        line[count - 1] = '\0';
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strncmp(line, words[i].word, strlen(words[i].word)) == 0)
                words[i].read(master, line + strlen(words[i].word));
    }
    free(line);
    fclose(in);
}
