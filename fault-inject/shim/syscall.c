/* syscall(): the same faults for a program that goes around libc's wrappers by hand.
 *
 * One table says which row of hooks.def a system call belongs to and which of its arguments are the object
 * and the size. Numbers that are not in it go to libc's own syscall(). */
#include "fault-inject/shim/raw.h"
#include "fault-inject/shim/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

enum { NONE = -1 };
enum object_use { OBJECT_PLAIN, OBJECT_IS_PATH };

static const struct {
    long number;
    enum hook_id hook;
    int object, size; /* index of the argument, or NONE */
    enum object_use use;
} calls[] = {
    {SYS_read, HOOK_read, 0, 2, OBJECT_PLAIN},
    {SYS_write, HOOK_write, 0, 2, OBJECT_PLAIN},
    {SYS_pread64, HOOK_pread, 0, 2, OBJECT_PLAIN},
    {SYS_pwrite64, HOOK_pwrite, 0, 2, OBJECT_PLAIN},
    {SYS_openat, HOOK_openat, 1, NONE, OBJECT_IS_PATH},
    {SYS_close, HOOK_close, 0, NONE, OBJECT_PLAIN},
    {SYS_lseek, HOOK_lseek, 0, NONE, OBJECT_PLAIN},
    {SYS_fsync, HOOK_fsync, 0, NONE, OBJECT_PLAIN},
    {SYS_fdatasync, HOOK_fdatasync, 0, NONE, OBJECT_PLAIN},
    {SYS_flock, HOOK_flock, 0, NONE, OBJECT_PLAIN},
    {SYS_fcntl, HOOK_fcntl, 0, NONE, OBJECT_PLAIN},
    {SYS_mmap, HOOK_mmap, 0, 1, OBJECT_PLAIN},
    {SYS_munmap, HOOK_munmap, 0, 1, OBJECT_PLAIN},
    {SYS_mremap, HOOK_mremap, 0, 2, OBJECT_PLAIN},
    {SYS_mprotect, HOOK_mprotect, 0, 1, OBJECT_PLAIN},
    {SYS_madvise, HOOK_madvise, 0, 1, OBJECT_PLAIN},
    {SYS_socket, HOOK_socket, NONE, NONE, OBJECT_PLAIN},
    {SYS_connect, HOOK_connect, 0, NONE, OBJECT_PLAIN},
    {SYS_accept4, HOOK_accept4, 0, NONE, OBJECT_PLAIN},
    {SYS_recvfrom, HOOK_recvfrom, 0, 2, OBJECT_PLAIN},
    {SYS_sendto, HOOK_sendto, 0, 2, OBJECT_PLAIN},
    {SYS_ppoll, HOOK_ppoll, NONE, NONE, OBJECT_PLAIN},
    {SYS_epoll_pwait, HOOK_epoll_pwait, 0, NONE, OBJECT_PLAIN},
    {SYS_clock_gettime, HOOK_clock_gettime, NONE, NONE, OBJECT_PLAIN},
    {SYS_nanosleep, HOOK_nanosleep, NONE, NONE, OBJECT_PLAIN},
    {SYS_clock_nanosleep, HOOK_clock_nanosleep, NONE, NONE, OBJECT_PLAIN},
    {SYS_kill, HOOK_kill, NONE, NONE, OBJECT_PLAIN},
    {SYS_wait4, HOOK_wait4, NONE, NONE, OBJECT_PLAIN},
#ifdef SYS_open
    {SYS_open, HOOK_open, 0, NONE, OBJECT_IS_PATH},
    {SYS_poll, HOOK_poll, NONE, NONE, OBJECT_PLAIN},
    {SYS_epoll_wait, HOOK_epoll_wait, 0, NONE, OBJECT_PLAIN},
#endif
};

static int row_of(long number)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (calls[i].number == number)
            return (int)i;
    return NONE;
}

static long to_errno(long result)
{
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

static long call_row(int row, const void *caller, long arguments[6])
{
    struct shim_call call = shim_call_of(calls[row].hook, caller);
    int object = calls[row].object, size = calls[row].size;
    if (object != NONE && calls[row].use == OBJECT_IS_PATH)
        call.path = (const char *)arguments[object];
    else if (object != NONE)
        call.object = (uint64_t)arguments[object];
    if (size != NONE)
        call.size = (uint64_t)arguments[size];
    shim_enter(&call);
    if (call.fail)
        return errno = call.err, -1;
    if (call.drop)
        return hook_table[call.hook].drop == DROP_RETURNS_SIZE ? (long)call.size : 0;
    if (size != NONE && call.short_bytes != 0 && call.size > call.short_bytes)
        arguments[size] = (long)call.short_bytes;
    long result = to_errno(raw_syscall6(calls[row].number, arguments[0], arguments[1], arguments[2],
                                        arguments[3], arguments[4], arguments[5]));
    shim_leave(&call, result);
    return result;
}

static long (*next_syscall)(long, ...);

EXPORT long syscall(long number, ...)
{
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    int row = CONTROL->magic == CONTROL_MAGIC && self.in_hook == 0 ? row_of(number) : NONE;
    if (row != NONE && shim_armed(calls[row].hook))
        return call_row(row, __builtin_return_address(0), arguments);
    if (next_syscall == NULL)
        next_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                        arguments[5]);
}
