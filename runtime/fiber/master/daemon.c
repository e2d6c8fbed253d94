#include "runtime/fiber/master/daemon.h"

#include "runtime/fiber/master/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int ready_fd = -1;

/* A byte, or the end of a process that never got so far. */
__attribute__((noreturn)) static void wait_for(pid_t pid, int fd)
{
    char byte;
    int status = 0;
    if (read(fd, &byte, 1) == 1)
        _exit(0);
    waitpid(pid, &status, 0);
    _exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 70);
}

bool daemon_start(void)
{
    int ends[2];
    pid_t pid = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid < 0) {
        log_line(LOG_LEVEL_ERROR, "failed to daemonize: %s", strerror(errno));
        return false;
    }
    if (pid > 0) {
        close(ends[1]);
        wait_for(pid, ends[0]);
    }
    close(ends[0]);
    ready_fd = ends[1];
    setsid();
    return true;
}

void daemon_ready(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    log_leave_terminal();
    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
    if (write(ready_fd, "", 1) != 1)
        log_line(LOG_LEVEL_WARNING, "nobody waited until the server was ready");
    close(ready_fd);
    ready_fd = -1;
}
