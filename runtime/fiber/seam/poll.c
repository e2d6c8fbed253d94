/* Waits for descriptors. */
#include "runtime/fiber/seam/seam.h"

#include "runtime/defect.h"
#include "runtime/fiber/sched/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

enum { UNWATCHABLE_AGAIN_NS = 1000000 };

bool seam_is_nonblocking(int fd)
{
    int flags = REAL(fcntl)(fd, F_GETFL);
    return flags >= 0 && (flags & O_NONBLOCK);
}

/* What a request that is being ended gets: an error on each descriptor, so that no library asks again. */
static int all_in_error(struct pollfd *fds, nfds_t count)
{
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        fds[i].revents = fds[i].fd >= 0 ? POLLERR | POLLHUP : 0;
        ready += fds[i].revents != 0;
    }
    if (ready)
        return ready;
    errno = EINTR;
    return -1;
}

static int64_t time_left_ns(int64_t end_ns)
{
    if (end_ns < 0)
        return SCHED_FOREVER;
    int64_t left_ns = end_ns - sched_now_ns();
    return left_ns > 0 ? left_ns : 0;
}

/* timeout_ns below 0: for ever */
static int wait_for_any(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
    int64_t end_ns = timeout_ns < 0 ? -1 : sched_after_ns(timeout_ns);
    for (;;) {
        sched_wait_begin();
        bool all_watched = true;
        for (nfds_t i = 0; i < count; i++)
            if (fds[i].fd >= 0 && !sched_watch(fds[i].fd, fds[i].events))
                all_watched = false;
        int64_t left_ns = time_left_ns(end_ns);
        bool short_wait = !all_watched && (left_ns < 0 || left_ns > UNWATCHABLE_AGAIN_NS);
        enum sched_result result = sched_wait_for(short_wait ? UNWATCHABLE_AGAIN_NS : left_ns);
        if (result == SCHED_CANCELLED)
            return all_in_error(fds, count);
        int ready = REAL(poll)(fds, count, 0);
        if (ready || (result == SCHED_TIMEOUT && !short_wait))
            return ready;
    }
}

static int poll_for(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
    int ready = REAL(poll)(fds, count, 0);
    if (ready || timeout_ns == 0)
        return ready;
    return wait_for_any(fds, count, timeout_ns);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    if (!SEAM_TAKES(poll) || (DEFECT(B5) && count == 1 && (fds->events & POLLOUT) && (fds->events & POLLIN)))
        return REAL(poll)(fds, count, timeout_ms);
    return poll_for(fds, count, timeout_ms < 0 ? SCHED_FOREVER : (int64_t)timeout_ms * SEAM_MS_NS);
}

/* The fortified form, which checks the array's size and then calls poll(). */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t array_bytes);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t array_bytes)
{
    if (array_bytes / sizeof *fds < count)
        abort();
    return poll(fds, count, timeout_ms);
}

static int64_t timeout_ns_of(const struct timespec *timeout)
{
    return timeout ? seam_ns_of(timeout) : SCHED_FOREVER;
}

static struct timespec timespec_of(const struct timeval *time)
{
    return (struct timespec){time->tv_sec, time->tv_usec * 1000};
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    if (!SEAM_TAKES(ppoll))
        return REAL(ppoll)(fds, count, timeout, mask);
    return poll_for(fds, count, timeout_ns_of(timeout));
}

/* ---- select: the same in its own form ---- */

static const struct set_kind {
    short asked, answered;
} set_kinds[3] = {{POLLIN, POLLIN | POLLHUP | POLLERR}, {POLLOUT, POLLOUT | POLLERR}, {POLLPRI, POLLPRI}};

static nfds_t to_poll(int limit, fd_set *const sets[3], struct pollfd *fds)
{
    nfds_t count = 0;
    for (int fd = 0; fd < limit; fd++) {
        short events = 0;
        for (int kind = 0; kind < 3; kind++)
            if (sets[kind] && FD_ISSET(fd, sets[kind]))
                events |= set_kinds[kind].asked;
        if (events)
            fds[count++] = (struct pollfd){.fd = fd, .events = events};
    }
    return count;
}

/* How many bits are set, as select() counts; -1: a descriptor is none. */
static int from_poll(const struct pollfd *fds, nfds_t count, fd_set *const sets[3], int limit)
{
    int bits = 0;
    for (nfds_t i = 0; i < count; i++)
        if (fds[i].revents & POLLNVAL) {
            errno = EBADF;
            return -1;
        }
    for (int kind = 0; kind < 3; kind++)
        if (sets[kind])
            memset(sets[kind], 0, (size_t)(limit + 7) / 8);
    for (nfds_t i = 0; i < count; i++)
        for (int kind = 0; kind < 3; kind++) {
            if (!sets[kind] || !(fds[i].events & set_kinds[kind].asked) ||
                !(fds[i].revents & set_kinds[kind].answered))
                continue;
            FD_SET(fds[i].fd, sets[kind]);
            bits++;
        }
    return bits;
}

static int select_for(int limit, fd_set *const sets[3], int64_t timeout_ns)
{
    struct pollfd *fds = calloc((size_t)limit + 1, sizeof *fds);
    if (!fds) {
        errno = ENOMEM;
        return -1;
    }
    nfds_t count = to_poll(limit, sets, fds);
    int ready = poll_for(fds, count, timeout_ns);
    if (ready >= 0)
        ready = from_poll(fds, count, sets, limit);
    int error = errno;
    free(fds);
    errno = error;
    return ready;
}

int select(int limit, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout)
{
    bool valid =
        limit >= 0 && limit <= FD_SETSIZE && (!timeout || (timeout->tv_sec >= 0 && timeout->tv_usec >= 0));
    if (!SEAM_TAKES(select) || !valid)
        return REAL(select)(limit, reads, writes, excepts, timeout);
    struct timespec span = timeout ? timespec_of(timeout) : (struct timespec){0};
    int64_t timeout_ns = timeout ? seam_ns_of(&span) : SCHED_FOREVER;
    return select_for(limit, (fd_set *const[3]){reads, writes, excepts}, timeout_ns);
}

int pselect(int limit, fd_set *reads, fd_set *writes, fd_set *excepts, const struct timespec *timeout,
            const sigset_t *mask)
{
    if (!SEAM_TAKES(pselect) || limit < 0 || limit > FD_SETSIZE)
        return REAL(pselect)(limit, reads, writes, excepts, timeout, mask);
    return select_for(limit, (fd_set *const[3]){reads, writes, excepts}, timeout_ns_of(timeout));
}

/* ---- for the other files ---- */

bool seam_wait_fd(int fd, short events, int64_t timeout_ns)
{
    struct pollfd one = {.fd = fd, .events = events};
    int ready = wait_for_any(&one, 1, timeout_ns);
    if (sched_is_cancelled()) {
        errno = ECONNABORTED;
        return false;
    }
    if (ready == 0)
        errno = EAGAIN;
    return ready > 0;
}

bool seam_wait_socket(int fd, short events)
{
    struct timeval limit = {0};
    socklen_t length = sizeof limit;
    getsockopt(fd, SOL_SOCKET, events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO, &limit, &length);
    struct timespec span = timespec_of(&limit);
    bool is_limited = limit.tv_sec || limit.tv_usec;
    return seam_wait_fd(fd, events, is_limited ? seam_ns_of(&span) : SCHED_FOREVER);
}
