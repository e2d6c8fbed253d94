/* read() and write(): of pipes, sockets and terminals. A file on a disk is always ready, and is not waited
 * for. */
#include "runtime/fiber/seam/seam.h"

#include "runtime/fiber/sched/sched.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* True: the call would not wait now, or is to fail at once. */
static bool is_ready(int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    if (REAL(poll)(&one, 1, 0) != 0 || seam_is_nonblocking(fd))
        return true;
    return seam_wait_fd(fd, events, SCHED_FOREVER);
}

ssize_t read(int fd, void *bytes, size_t count)
{
    if (SEAM_TAKES(read) && !is_ready(fd, POLLIN))
        return -1;
    return REAL(read)(fd, bytes, count);
}

ssize_t __read_chk(int fd, void *bytes, size_t count, size_t room);
ssize_t __read_chk(int fd, void *bytes, size_t count, size_t room)
{
    return read(fd, bytes, count < room ? count : room);
}

ssize_t readv(int fd, const struct iovec *parts, int count)
{
    if (SEAM_TAKES(readv) && !is_ready(fd, POLLIN))
        return -1;
    return REAL(readv)(fd, parts, count);
}

/* A pipe that can be written to has room for PIPE_BUF bytes; with more the call might wait in the middle. */
static ssize_t write_pipe(int fd, const char *bytes, size_t count)
{
    size_t done = 0;
    while (done < count) {
        size_t part = count - done < PIPE_BUF ? count - done : PIPE_BUF;
        if (!is_ready(fd, POLLOUT))
            break;
        ssize_t written = REAL(write)(fd, bytes + done, part);
        if (written < 0)
            break;
        done += (size_t)written;
    }
    return done ? (ssize_t)done : -1;
}

static bool is_pipe(int fd)
{
    struct stat status;
    return !fstat(fd, &status) && S_ISFIFO(status.st_mode);
}

static bool is_socket(int fd)
{
    int type;
    socklen_t length = sizeof type;
    return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (!SEAM_TAKES(write))
        return REAL(write)(fd, bytes, count);
    if (count > PIPE_BUF && !seam_is_nonblocking(fd)) {
        int error = errno;
        if (is_socket(fd))
            return send(fd, bytes, count, 0);
        if (is_pipe(fd))
            return write_pipe(fd, bytes, count);
        errno = error;
    }
    return is_ready(fd, POLLOUT) ? REAL(write)(fd, bytes, count) : -1;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    if (SEAM_TAKES(writev) && !is_ready(fd, POLLOUT))
        return -1;
    return REAL(writev)(fd, parts, count);
}
