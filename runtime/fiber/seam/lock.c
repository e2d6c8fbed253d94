/* Locks on files. A request that has to wait for one stands in line with those of its own worker: the first
 * in the line asks the system, again and again, as nothing tells when a lock of another process is free. When
 * a request of this worker gives a lock back, the first in line asks at once. */
#include "runtime/fiber/seam/seam.h"

#include "runtime/defect.h"
#include "runtime/fiber/sched/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { ASK_FIRST_NS = 100000, ASK_LAST_NS = 4000000 };

/* One that waits for the lock of a file. */
struct waiter {
    struct waiter *next;
    dev_t device;
    ino_t inode;
    struct sched_wait wait;
    bool waits;
};
static struct waiter *line, **line_end = &line; /* of all files, oldest first */

static bool same_file(const struct waiter *a, const struct waiter *b)
{
    return a->inode == b->inode && a->device == b->device;
}

static struct waiter *first_of(const struct waiter *file)
{
    struct waiter *at = line;
    while (at && !same_file(at, file))
        at = at->next;
    return at;
}

static void join(struct waiter *waiter)
{
    waiter->next = NULL;
    *line_end = waiter;
    line_end = &waiter->next;
}

static void wake_first_of(const struct waiter *file)
{
    struct waiter *first = first_of(file);
    if (first && first->waits)
        sched_wake(&first->wait);
}

static void leave(struct waiter *waiter)
{
    struct waiter **at = &line;
    while (*at && *at != waiter)
        at = &(*at)->next;
    if (*at)
        *at = waiter->next;
    line_end = &line;
    while (*line_end)
        line_end = &(*line_end)->next;
    wake_first_of(waiter);
}

/* Of a request that is thrown away while it stands in line. */
static void leave_line(void *waiter)
{
    leave(waiter);
}

static bool name_file(int fd, struct waiter *waiter)
{
    struct stat status;
    if (fstat(fd, &status))
        return false;
    waiter->device = status.st_dev;
    waiter->inode = status.st_ino;
    return true;
}

/* Waits until it is first, and then for `ns`; false: the request is being ended. */
static bool wait_turn(struct waiter *waiter, int64_t ns)
{
    bool is_first = first_of(waiter) == waiter;
    waiter->wait = sched_wait_begin();
    waiter->waits = true;
    enum sched_result result = sched_wait_for(is_first ? ns : SCHED_FOREVER);
    waiter->waits = false;
    return result != SCHED_CANCELLED;
}

/* ---- flock ---- */

static int lock_in_line(int fd, int operation, struct waiter *waiter)
{
    int64_t ask_ns = ASK_FIRST_NS;
    for (;;) {
        if (!wait_turn(waiter, ask_ns)) {
            errno = ENOLCK; /* not EINTR: who asked would ask again */
            return -1;
        }
        if (first_of(waiter) != waiter)
            continue;
        int result = REAL(flock)(fd, operation | LOCK_NB);
        if (!result || errno != EWOULDBLOCK)
            return result;
        ask_ns = seam_longer_ns(ask_ns, ASK_LAST_NS);
    }
}

/* True: others of this worker wait for a lock of this file. */
static bool has_line(int fd, struct waiter *file)
{
    return line && name_file(fd, file) && first_of(file);
}

static int unlock(int fd, int operation)
{
    int result = REAL(flock)(fd, operation);
    int error = errno;
    struct waiter file;
    if (has_line(fd, &file))
        wake_first_of(&file);
    errno = error;
    return result;
}

int flock(int fd, int operation)
{
    if (!SEAM_TAKES(flock) || DEFECT(N4))
        return REAL(flock)(fd, operation);
    if (operation & LOCK_UN)
        return unlock(fd, operation);
    if (operation & LOCK_NB)
        return REAL(flock)(fd, operation);
    struct waiter waiter = {0};
    if (!has_line(fd, &waiter)) { /* nobody is passed by */
        int result = REAL(flock)(fd, operation | LOCK_NB);
        if (!result || errno != EWOULDBLOCK || !name_file(fd, &waiter))
            return result;
    }
    struct sched_cleanup cleanup = {.act = leave_line, .argument = &waiter};
    join(&waiter);
    sched_cleanup_push(&cleanup);
    int result = lock_in_line(fd, operation, &waiter);
    int error = errno;
    sched_cleanup_pop(&cleanup);
    leave(&waiter);
    errno = error;
    return result;
}

/* ---- fcntl ---- */

/* OPcache's own, on two bytes of its file. The first is its write lock: held for an instant, by who never
 * waits while it does; it has to exclude other processes, and is the process's: so it is taken at once, and
 * given back at once. The second says that a process has readers: it is dropped with the last reader only. */
static bool is_opcaches(const struct flock *lock)
{
    return lock->l_whence == SEEK_SET && lock->l_start <= 1 && lock->l_len <= 1;
}

static int opcache_lock(int fd, int command, struct flock *lock)
{
    bool has_readers = sched_alive() > 1, is_readers = lock->l_start == 1;
    if (has_readers && is_readers && command == F_GETLK) {
        lock->l_type = F_RDLCK;
        lock->l_pid = -1;
        return 0;
    }
    if (has_readers && command == F_SETLK && lock->l_type == F_UNLCK) {
        struct flock writers = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
        return is_readers ? 0 : REAL(fcntl)(fd, F_SETLK, &writers);
    }
    return REAL(fcntl)(fd, command, lock);
}

static int record_lock(int fd, struct flock *lock)
{
    for (int64_t ask_ns = ASK_FIRST_NS;;) {
        int result = REAL(fcntl)(fd, F_SETLK, lock);
        if (!result || (errno != EAGAIN && errno != EACCES))
            return result;
        if (!seam_sleep_ns(ask_ns)) {
            errno = ENOLCK;
            return -1;
        }
        ask_ns = seam_longer_ns(ask_ns, ASK_LAST_NS);
    }
}

static int control(int fd, int command, void *argument)
{
    if (!SEAM_TAKES(fcntl) || (command != F_SETLK && command != F_SETLKW && command != F_GETLK))
        return REAL(fcntl)(fd, command, argument);
    if (is_opcaches(argument))
        return opcache_lock(fd, command, argument);
    return command == F_SETLKW ? record_lock(fd, argument) : REAL(fcntl)(fd, command, argument);
}

int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return control(fd, command, argument);
}

/* For offsets of 64 bits, which here are the only ones. */
int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));
