/* Other names of the same calls: the 64-bit file names (one and the same on LP64) and the entry points that
 * _FORTIFY_SOURCE puts in a call's place. Each goes to the hook of the plain name, by a jump, so that a rule
 * on `read` also sees __read_chk and the caller stays the caller. */
#include "fault-inject/shim/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8 && sizeof(long) == 8,
               "the 64-bit names are aliases only where off_t has 64 bits");

#undef open64
#undef openat64

EXPORT int open64(const char *path, int flags, ...);
EXPORT int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return open(path, flags, mode);
}

EXPORT int openat64(int dirfd, const char *path, int flags, ...);
EXPORT int openat64(int dirfd, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return openat(dirfd, path, flags, mode);
}

EXPORT int fcntl64(int fd, int command, ...);
EXPORT int fcntl64(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return fcntl(fd, command, argument);
}

/* ALIAS(name, target, return type, parameters, arguments) */
#define ALIAS(name, target, ret, params, args)                                                               \
    EXPORT ret name params;                                                                                  \
    EXPORT ret name params                                                                                   \
    {                                                                                                        \
        return target args;                                                                                  \
    }

ALIAS(creat64, creat, int, (const char *path, mode_t mode), (path, mode))
ALIAS(pread64, pread, ssize_t, (int fd, void *buf, size_t count, off_t offset), (fd, buf, count, offset))
ALIAS(pwrite64, pwrite, ssize_t, (int fd, const void *buf, size_t count, off_t offset),
      (fd, buf, count, offset))
ALIAS(preadv64, preadv, ssize_t, (int fd, const struct iovec *iov, int n, off_t offset), (fd, iov, n, offset))
ALIAS(pwritev64, pwritev, ssize_t, (int fd, const struct iovec *iov, int n, off_t offset),
      (fd, iov, n, offset))
ALIAS(lseek64, lseek, off_t, (int fd, off_t offset, int whence), (fd, offset, whence))
ALIAS(ftruncate64, ftruncate, int, (int fd, off_t length), (fd, length))
ALIAS(truncate64, truncate, int, (const char *path, off_t length), (path, length))
ALIAS(sendfile64, sendfile, ssize_t, (int out, int in, off_t *offset, size_t count), (out, in, offset, count))
ALIAS(posix_fallocate64, posix_fallocate, int, (int fd, off_t offset, off_t length), (fd, offset, length))
ALIAS(lockf64, lockf, int, (int fd, int command, off_t length), (fd, command, length))
ALIAS(mmap64, mmap, void *, (void *address, size_t length, int protection, int flags, int fd, off_t offset),
      (address, length, protection, flags, fd, offset))
ALIAS(stat64, stat, int, (const char *path, struct stat64 *status), (path, (struct stat *)status))
ALIAS(lstat64, lstat, int, (const char *path, struct stat64 *status), (path, (struct stat *)status))
ALIAS(fstat64, fstat, int, (int fd, struct stat64 *status), (fd, (struct stat *)status))
ALIAS(fstatat64, fstatat, int, (int dirfd, const char *path, struct stat64 *status, int flags),
      (dirfd, path, (struct stat *)status, flags))

/* ---- _FORTIFY_SOURCE ---- */

extern void __chk_fail(void) __attribute__((noreturn));

#define CHECKED(name, target, ret, params, args, count, room)                                                \
    EXPORT ret name params;                                                                                  \
    EXPORT ret name params                                                                                   \
    {                                                                                                        \
        if (UNLIKELY((count) > (room)))                                                                      \
            __chk_fail();                                                                                    \
        return target args;                                                                                  \
    }

CHECKED(__read_chk, read, ssize_t, (int fd, void *buf, size_t count, size_t room), (fd, buf, count), count,
        room)
CHECKED(__pread_chk, pread, ssize_t, (int fd, void *buf, size_t count, off_t offset, size_t room),
        (fd, buf, count, offset), count, room)
CHECKED(__pread64_chk, pread, ssize_t, (int fd, void *buf, size_t count, off_t offset, size_t room),
        (fd, buf, count, offset), count, room)
CHECKED(__recv_chk, recv, ssize_t, (int fd, void *buf, size_t count, size_t room, int flags),
        (fd, buf, count, flags), count, room)
CHECKED(__recvfrom_chk, recvfrom, ssize_t,
        (int fd, void *buf, size_t count, size_t room, int flags, struct sockaddr *address,
         socklen_t *length),
        (fd, buf, count, flags, address, length), count, room)
CHECKED(__readlink_chk, readlink, ssize_t, (const char *path, char *buf, size_t count, size_t room),
        (path, buf, count), count, room)
CHECKED(__poll_chk, poll, int, (struct pollfd * fds, nfds_t count, int timeout_ms, size_t room),
        (fds, count, timeout_ms), count, room / sizeof *fds)
CHECKED(__ppoll_chk, ppoll, int,
        (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
         size_t room),
        (fds, count, timeout, mask), count, room / sizeof *fds)

ALIAS(__open_2, open, int, (const char *path, int flags), (path, flags))
ALIAS(__open64_2, open, int, (const char *path, int flags), (path, flags))
ALIAS(__openat_2, openat, int, (int dirfd, const char *path, int flags), (dirfd, path, flags))
ALIAS(__openat64_2, openat, int, (int dirfd, const char *path, int flags), (dirfd, path, flags))
