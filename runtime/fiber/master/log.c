#include "runtime/fiber/master/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    char *path; /* NULL: standard error */
    int fd;
    enum log_level level;
    bool echo;
} the_log = {.fd = STDERR_FILENO, .level = LOG_LEVEL_NOTICE};

static const char *const level_names[] = {
    [LOG_LEVEL_ALERT] = "ALERT",   [LOG_LEVEL_ERROR] = "ERROR", [LOG_LEVEL_WARNING] = "WARNING",
    [LOG_LEVEL_NOTICE] = "NOTICE", [LOG_LEVEL_DEBUG] = "DEBUG",
};

static bool is_stderr(const char *path)
{
    return !path || strcmp(path, "/dev/stderr") == 0 || strcmp(path, "/proc/self/fd/2") == 0;
}

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

bool log_open(const char *path, enum log_level level, bool echo)
{
    the_log.level = level;
    if (is_stderr(path))
        return true;
    int fd = open_file(path);
    char *copy = strdup(path);
    if (fd < 0 || !copy) {
        free(copy);
        return false;
    }
    the_log.fd = fd;
    the_log.path = copy;
    the_log.echo = echo;
    return true;
}

bool log_reopen(void)
{
    if (!the_log.path)
        return true;
    int fd = open_file(the_log.path);
    if (fd < 0)
        return false;
    close(the_log.fd);
    the_log.fd = fd;
    return true;
}

void log_leave_terminal(void)
{
    the_log.echo = false;
}

int log_fd(void)
{
    return the_log.fd;
}

static void write_all(int fd, const char *bytes, size_t count)
{
    ssize_t done = write(fd, bytes, count);
    (void)done; /* nobody is left to be told */
}

void log_line(enum log_level level, const char *format, ...)
{
    char line[LOG_LINE_BYTES_MAX];
    struct tm now;
    time_t seconds = time(NULL);
    if (level > the_log.level)
        return;
    localtime_r(&seconds, &now);
    size_t start = strftime(line, sizeof line, "[%d-%b-%Y %H:%M:%S] ", &now);
    start += (size_t)snprintf(line + start, sizeof line - start, "%s: ", level_names[level]);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + start, sizeof line - start - 1, format, arguments);
    va_end(arguments);
    size_t count = strlen(line);
    for (size_t i = start; i < count; i++)
        if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 127)
            line[i] = '?';
    line[count++] = '\n';
    write_all(the_log.fd, line, count);
    if (the_log.echo)
        write_all(STDERR_FILENO, line, count);
}

const char *log_level_of(const char *line, enum log_level *level)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        size_t count = strlen(level_names[i]);
        if (strncmp(line, level_names[i], count) == 0 && strncmp(line + count, ": ", 2) == 0) {
            *level = (enum log_level)i;
            return line + count + 2;
        }
    }
    *level = LOG_LEVEL_NOTICE;
    return line;
}
