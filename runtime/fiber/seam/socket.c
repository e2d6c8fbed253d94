/* Sockets. Each call is first made as it would be on a non-blocking one. */
#include "runtime/fiber/seam/seam.h"

#include "runtime/defect.h"
#include "runtime/fiber/sched/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

static bool would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

/* A call that cannot go on now. True: it may be tried again; false: errno is the answer. */
static bool may_wait(int fd, short events)
{
    if (!would_block())
        return false;
    if (sched_is_cancelled()) {
        errno = ECONNABORTED;
        return false;
    }
    if (seam_is_nonblocking(fd)) {
        errno = EAGAIN;
        return false;
    }
    return seam_wait_socket(fd, events);
}

/* With MSG_WAITALL all of it is waited for. */
static ssize_t receive_all(int fd, char *bytes, size_t count, int flags, struct sockaddr *from,
                           socklen_t *length)
{
    size_t have = 0;
    for (;;) {
        ssize_t got = REAL(recvfrom)(fd, bytes + have, count - have, (flags & ~MSG_WAITALL) | MSG_DONTWAIT,
                                     from, length);
        if (got > 0)
            have += (size_t)got;
        bool more = (flags & MSG_WAITALL) && !(flags & MSG_PEEK) && got > 0 && have < count;
        if (more || (got < 0 && may_wait(fd, POLLIN)))
            continue;
        return got < 0 && !have ? -1 : (ssize_t)have;
    }
}

ssize_t recv(int fd, void *bytes, size_t count, int flags)
{
    if (!SEAM_TAKES(recv) || (flags & MSG_DONTWAIT))
        return REAL(recv)(fd, bytes, count, flags);
    return receive_all(fd, bytes, count, flags, NULL, NULL);
}

ssize_t recvfrom(int fd, void *bytes, size_t count, int flags, __SOCKADDR_ARG from, socklen_t *length)
{
    if (!SEAM_TAKES(recvfrom) || (flags & MSG_DONTWAIT))
        return REAL(recvfrom)(fd, bytes, count, flags, from, length);
    return receive_all(fd, bytes, count, flags, from.__sockaddr__, length);
}

/* The fortified forms. */
ssize_t __recv_chk(int fd, void *bytes, size_t count, size_t room, int flags);
ssize_t __recv_chk(int fd, void *bytes, size_t count, size_t room, int flags)
{
    return recv(fd, bytes, count < room ? count : room, flags);
}

ssize_t __recvfrom_chk(int fd, void *bytes, size_t count, size_t room, int flags, __SOCKADDR_ARG from,
                       socklen_t *length);
ssize_t __recvfrom_chk(int fd, void *bytes, size_t count, size_t room, int flags, __SOCKADDR_ARG from,
                       socklen_t *length)
{
    return recvfrom(fd, bytes, count < room ? count : room, flags, from, length);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    if (!SEAM_TAKES(recvmsg) || (flags & MSG_DONTWAIT))
        return REAL(recvmsg)(fd, message, flags);
    for (;;) {
        ssize_t got = REAL(recvmsg)(fd, message, flags | MSG_DONTWAIT);
        if (got >= 0 || !may_wait(fd, POLLIN))
            return got;
    }
}

/* A blocking socket takes all of it, however long that is. */
static ssize_t send_all(int fd, const char *bytes, size_t count, int flags, const struct sockaddr *to,
                        socklen_t length)
{
    size_t done = 0;
    for (;;) {
        ssize_t sent = REAL(sendto)(fd, bytes + done, count - done, flags | MSG_DONTWAIT, to, length);
        if (sent > 0)
            done += (size_t)sent;
        if (sent >= 0 && (done == count || seam_is_nonblocking(fd)))
            return (ssize_t)done;
        if (sent < 0 && !may_wait(fd, POLLOUT))
            return done ? (ssize_t)done : -1;
    }
}

ssize_t send(int fd, const void *bytes, size_t count, int flags)
{
    if (!SEAM_TAKES(send) || (flags & MSG_DONTWAIT) || DEFECT(B25))
        return REAL(send)(fd, bytes, count, flags);
    return send_all(fd, bytes, count, flags, NULL, 0);
}

ssize_t sendto(int fd, const void *bytes, size_t count, int flags, __CONST_SOCKADDR_ARG to, socklen_t length)
{
    if (!SEAM_TAKES(sendto) || (flags & MSG_DONTWAIT))
        return REAL(sendto)(fd, bytes, count, flags, to, length);
    return send_all(fd, bytes, count, flags, to.__sockaddr__, length);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (!SEAM_TAKES(sendmsg) || (flags & MSG_DONTWAIT))
        return REAL(sendmsg)(fd, message, flags);
    for (;;) {
        ssize_t sent = REAL(sendmsg)(fd, message, flags | MSG_DONTWAIT);
        if (sent >= 0 || !may_wait(fd, POLLOUT))
            return sent;
    }
}

/* ---- connections ---- */

static int connected(int fd)
{
    if (!seam_wait_socket(fd, POLLOUT)) {
        if (errno == EAGAIN)
            errno = EINPROGRESS; /* SO_SNDTIMEO is over */
        return -1;
    }
    int error = 0;
    socklen_t length = sizeof error;
    if (!getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) && !error)
        return 0;
    errno = error ? error : errno;
    return -1;
}

/* A unix socket whose listener's queue is full refuses for now and gives nothing to wait for. */
static int connect_again(int fd, __CONST_SOCKADDR_ARG to, socklen_t length)
{
    enum { AGAIN_NS = 1000000 };
    while (!sched_is_cancelled()) {
        if (!seam_sleep_ns(AGAIN_NS))
            break;
        int result = REAL(connect)(fd, to, length);
        if (!result || errno != EAGAIN)
            return result;
    }
    errno = ECONNABORTED;
    return -1;
}

int connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t length)
{
    int flags = SEAM_TAKES(connect) ? REAL(fcntl)(fd, F_GETFL) : -1;
    if (flags < 0 || (flags & O_NONBLOCK) || REAL(fcntl)(fd, F_SETFL, flags | O_NONBLOCK))
        return REAL(connect)(fd, to, length);
    int result = REAL(connect)(fd, to, length);
    if (result && errno == EINPROGRESS)
        result = connected(fd);
    else if (result && errno == EAGAIN)
        result = connect_again(fd, to, length);
    int error = errno;
    REAL(fcntl)(fd, F_SETFL, flags);
    errno = error;
    return result;
}

/* True: there is something to accept, or the call fails at once. */
static bool can_accept(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    if (REAL(poll)(&one, 1, 0) != 0 || seam_is_nonblocking(fd))
        return true;
    return seam_wait_socket(fd, POLLIN);
}

int accept(int fd, __SOCKADDR_ARG from, socklen_t *length)
{
    if (SEAM_TAKES(accept) && !can_accept(fd))
        return -1;
    return REAL(accept)(fd, from, length);
}

int accept4(int fd, __SOCKADDR_ARG from, socklen_t *length, int flags)
{
    if (SEAM_TAKES(accept4) && !can_accept(fd))
        return -1;
    return REAL(accept4)(fd, from, length, flags);
}
