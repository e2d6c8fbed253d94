/* A rule on the plain name also sees the call's other names: 64-bit, fortified, and by number through
 * syscall(). */
#include "fault-inject/test/support.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long any_call(long, long, long, long, long, long);

static const struct {
    const char *alias, *hook;
} aliases[] = {
    {"open64", "open"},
    {"__open_2", "open"},
    {"__open64_2", "open"},
    {"openat64", "openat"},
    {"__openat_2", "openat"},
    {"__openat64_2", "openat"},
    {"creat64", "creat"},
    {"__read_chk", "read"},
    {"pread64", "pread"},
    {"__pread_chk", "pread"},
    {"__pread64_chk", "pread"},
    {"pwrite64", "pwrite"},
    {"preadv64", "preadv"},
    {"pwritev64", "pwritev"},
    {"lseek64", "lseek"},
    {"ftruncate64", "ftruncate"},
    {"truncate64", "truncate"},
    {"sendfile64", "sendfile"},
    {"lockf64", "lockf"},
    {"fcntl64", "fcntl"},
    {"mmap64", "mmap"},
    {"stat64", "stat"},
    {"lstat64", "lstat"},
    {"fstat64", "fstat"},
    {"fstatat64", "fstatat"},
    {"__recv_chk", "recv"},
    {"__recvfrom_chk", "recvfrom"},
    {"__readlink_chk", "readlink"},
    {"__poll_chk", "poll"},
    {"__ppoll_chk", "ppoll"},
    {"_Fork", "fork"},
};

static void every_alias_reaches_its_hook(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(aliases); i++) {
        char rule[64];
        int hook = hook_find(aliases[i].hook, strlen(aliases[i].hook));
        int wanted = hook_table[hook].errnos[0];
        any_call *call = (any_call *)dlsym(RTLD_DEFAULT, aliases[i].alias);
        assert_non_null(call);
        snprintf(rule, sizeof rule, "%s:errno=%s", aliases[i].hook, hook_errno_name(hook, wanted));
        arm(rule);
        errno = 0;
        int result = (int)call(0, 0, 0, 0, 0, 0), err = errno;
        disarm();
        if (result != -1 || err != wanted)
            fail_msg("%s: returned %d with errno %d, wanted -1 with %d", aliases[i].alias, result, err,
                     wanted);
    }
}

static void syscall_is_hooked_by_number(void **state)
{
    (void)state;
    char byte = 0;
    int fd = temporary_file();
    arm("read:nth=1:errno=EIO");
    long first = syscall(SYS_read, fd, &byte, 1L);
    int err = errno;
    long second = syscall(SYS_read, fd, &byte, 1L);
    disarm();
    arm("write:short=3");
    long cut = syscall(SYS_write, fd, "abcdef", 6L);
    disarm();
    arm("write:drop");
    long dropped = syscall(SYS_write, fd, "abcdef", 6L);
    disarm();
    errno = 0;
    long bad = syscall(SYS_close, -1L);
    int bad_errno = errno;
    long pid = syscall(SYS_getpid);
    long size = lseek(fd, 0, SEEK_END);
    close(fd);
    assert_int_equal(first, -1);
    assert_int_equal(err, EIO);
    assert_int_equal(second, 0);
    assert_int_equal(cut, 3);
    assert_int_equal(dropped, 6);
    assert_int_equal(size, 3);
    assert_int_equal(bad, -1);
    assert_int_equal(bad_errno, EBADF);
    assert_int_equal(pid, getpid());
}

static void syscall_knows_paths(void **state)
{
    (void)state;
    arm("openat:path=/dev/nu*:errno=EACCES");
    long hit = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
    long miss = syscall(SYS_openat, AT_FDCWD, "/dev/zero", O_RDONLY);
    disarm();
    assert_int_equal(hit, -1);
    assert_true(miss >= 0);
    close((int)miss);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_alias_reaches_its_hook),
        cmocka_unit_test(syscall_is_hooked_by_number),
        cmocka_unit_test(syscall_knows_paths),
    };
    return run_under_shim(argc, argv, tests, LENGTH(tests));
}
