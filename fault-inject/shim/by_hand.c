/* The rows of hooks.def that the general wrapper cannot make: variable arguments, results written through a
 * structure, clocks that can be skewed. (fork and pthread_create are in identity.c.) */
#include "fault-inject/shim/shim.h"
#include "fault-inject/shim/shorten.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

/* ---- open ---- */

static bool takes_mode(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static mode_t mode_argument(int flags, va_list *arguments)
{
    return takes_mode(flags) ? (mode_t)va_arg(*arguments, int) : 0;
}

APART static int open_armed(const void *caller, const char *path, int flags, mode_t mode)
{
    struct shim_call call = shim_call_of(HOOK_open, caller);
    call.path = path;
    shim_enter(&call);
    if (call.fail)
        return errno = call.err, -1;
    int fd = REAL(open)(path, flags, mode);
    shim_leave(&call, fd);
    return fd;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, &arguments);
    va_end(arguments);
    if (UNLIKELY(shim_armed(HOOK_open)))
        return open_armed(__builtin_return_address(0), path, flags, mode);
    return REAL(open)(path, flags, mode);
}

APART static int openat_armed(const void *caller, int dirfd, const char *path, int flags, mode_t mode)
{
    struct shim_call call = shim_call_of(HOOK_openat, caller);
    call.object = (uint64_t)dirfd;
    call.path = path;
    shim_enter(&call);
    if (call.fail)
        return errno = call.err, -1;
    int fd = REAL(openat)(dirfd, path, flags, mode);
    shim_leave(&call, fd);
    return fd;
}

EXPORT int openat(int dirfd, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, &arguments);
    va_end(arguments);
    if (UNLIKELY(shim_armed(HOOK_openat)))
        return openat_armed(__builtin_return_address(0), dirfd, path, flags, mode);
    return REAL(openat)(dirfd, path, flags, mode);
}

/* ---- fcntl: whatever the command takes fits a pointer ---- */

APART static int fcntl_armed(const void *caller, int fd, int command, void *argument)
{
    struct shim_call call = shim_call_of(HOOK_fcntl, caller);
    call.object = (uint64_t)fd;
    shim_enter(&call);
    if (call.fail)
        return errno = call.err, -1;
    if (call.drop)
        return 0;
    int result = REAL(fcntl)(fd, command, argument);
    shim_leave(&call, result);
    return result;
}

EXPORT int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (UNLIKELY(shim_armed(HOOK_fcntl)))
        return fcntl_armed(__builtin_return_address(0), fd, command, argument);
    return REAL(fcntl)(fd, command, argument);
}

/* ---- mremap ---- */

APART static void *mremap_armed(const void *caller, void *address, size_t old_length, size_t new_length,
                                int flags, void *new_address)
{
    struct shim_call call = shim_call_of(HOOK_mremap, caller);
    call.object = (uint64_t)address;
    call.size = new_length;
    shim_enter(&call);
    if (call.fail)
        return errno = call.err, MAP_FAILED;
    void *result = REAL(mremap)(address, old_length, new_length, flags, new_address);
    shim_leave(&call, (int64_t)result);
    return result;
}

EXPORT void *mremap(void *address, size_t old_length, size_t new_length, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *new_address = (flags & MREMAP_FIXED) ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    if (UNLIKELY(shim_armed(HOOK_mremap)))
        return mremap_armed(__builtin_return_address(0), address, old_length, new_length, flags, new_address);
    return REAL(mremap)(address, old_length, new_length, flags, new_address);
}

/* ---- recvmsg: what the kernel writes into the header must reach the caller's ---- */

static ssize_t recvmsg_short(int fd, struct msghdr *message, int flags, uint64_t short_bytes)
{
    struct iovec cut[SHORTEN_IOV_MAX];
    struct msghdr shorter = *message;
    shorter.msg_iovlen = (size_t)cut_iov(cut, message->msg_iov, (int)message->msg_iovlen, short_bytes);
    shorter.msg_iov = cut;
    ssize_t result = REAL(recvmsg)(fd, &shorter, flags);
    message->msg_namelen = shorter.msg_namelen;
    message->msg_controllen = shorter.msg_controllen;
    message->msg_flags = shorter.msg_flags;
    return result;
}

APART static ssize_t recvmsg_armed(const void *caller, int fd, struct msghdr *message, int flags)
{
    struct shim_call call = shim_call_of(HOOK_recvmsg, caller);
    call.object = (uint64_t)fd;
    call.size = message != NULL ? iov_bytes(message->msg_iov, (int)message->msg_iovlen) : 0;
    shim_enter(&call);
    if (call.fail)
        return errno = call.err, -1;
    ssize_t result = call.short_bytes != 0 ? recvmsg_short(fd, message, flags, call.short_bytes)
                                           : REAL(recvmsg)(fd, message, flags);
    shim_leave(&call, result);
    return result;
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    if (UNLIKELY(shim_armed(HOOK_recvmsg)))
        return recvmsg_armed(__builtin_return_address(0), fd, message, flags);
    return REAL(recvmsg)(fd, message, flags);
}

/* ---- clocks ---- */

static int64_t split(int64_t total, int64_t unit, int64_t *rest)
{
    int64_t whole = total / unit;
    *rest = total % unit;
    if (*rest < 0) {
        *rest += unit;
        whole--;
    }
    return whole;
}

APART static int clock_gettime_armed(const void *caller, clockid_t clock, struct timespec *now)
{
    struct shim_call call = shim_call_of(HOOK_clock_gettime, caller);
    shim_enter(&call);
    if (call.fail)
        return errno = call.err, -1;
    int result = REAL(clock_gettime)(clock, now);
    if (result == 0 && call.skew_ns != 0)
        now->tv_sec += split(now->tv_nsec + call.skew_ns, 1000000000, &now->tv_nsec);
    shim_leave(&call, result);
    return result;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (UNLIKELY(shim_armed(HOOK_clock_gettime)))
        return clock_gettime_armed(__builtin_return_address(0), clock, now);
    return REAL(clock_gettime)(clock, now);
}

APART static int gettimeofday_armed(const void *caller, struct timeval *now, void *zone)
{
    struct shim_call call = shim_call_of(HOOK_gettimeofday, caller);
    shim_enter(&call);
    if (call.fail)
        return errno = call.err, -1;
    int result = REAL(gettimeofday)(now, zone);
    if (result == 0 && now != NULL && call.skew_ns != 0)
        now->tv_sec += split(now->tv_usec + call.skew_ns / 1000, 1000000, &now->tv_usec);
    shim_leave(&call, result);
    return result;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    if (UNLIKELY(shim_armed(HOOK_gettimeofday)))
        return gettimeofday_armed(__builtin_return_address(0), now, zone);
    return REAL(gettimeofday)(now, zone);
}

APART static time_t time_armed(const void *caller, time_t *now)
{
    struct shim_call call = shim_call_of(HOOK_time, caller);
    shim_enter(&call);
    if (call.fail)
        return errno = call.err, (time_t)-1;
    int64_t rest;
    time_t result = REAL(time)(NULL) + (time_t)split(call.skew_ns, 1000000000, &rest);
    if (now != NULL)
        *now = result;
    shim_leave(&call, result);
    return result;
}

EXPORT time_t time(time_t *now)
{
    if (UNLIKELY(shim_armed(HOOK_time)))
        return time_armed(__builtin_return_address(0), now);
    return REAL(time)(now);
}
