/* When a rule fires: one test a condition. A string of y and n shows, call by call, where it did. */
#include "fault-inject/test/support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

void ordeal_mark(const char *name) __attribute__((weak));

/* n calls of flock on fd: 'x' where it was made to fail. */
static const char *flocks(int fd, int n)
{
    static char seen[128];
    for (int i = 0; i < n; i++)
        seen[i] = flock(fd, LOCK_SH) == 0 ? '.' : 'x';
    seen[n] = '\0';
    return seen;
}

static void nth_takes_first_step_and_last(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *seen;
    } cases[] = {
        {"flock:nth=1:errno=EINTR", "x........."},    {"flock:nth=3:errno=EINTR", "..x......."},
        {"flock:nth=3+2:errno=EINTR", "..x.x.x.x."},  {"flock:nth=3+2..7:errno=EINTR", "..x.x.x..."},
        {"flock:nth=3..5:errno=EINTR", "..xxx....."}, {"flock:errno=EINTR", "xxxxxxxxxx"},
        {"flock:times=2:errno=EINTR", "xx........"},  {"flock:nth=2+3:times=2:errno=EINTR", ".x..x....."},
        {"flock:p=0:errno=EINTR", ".........."},      {"flock:p=1:errno=EINTR", "xxxxxxxxxx"},
    };
    int fd = temporary_file();
    for (size_t i = 0; i < LENGTH(cases); i++) {
        arm(cases[i].rule);
        const char *seen = flocks(fd, 10);
        disarm();
        if (strcmp(seen, cases[i].seen) != 0)
            fail_msg("%s: %s instead of %s", cases[i].rule, seen, cases[i].seen);
    }
    close(fd);
}

static void *draw_in_thread(void *result)
{
    int fd = *(int *)result;
    char *seen = malloc(128);
    for (int i = 0; i < 64; i++)
        seen[i] = flock(fd, LOCK_SH) == 0 ? '.' : 'x';
    seen[64] = '\0';
    return seen;
}

/* Draws belong to the seed and the thread's place, so the same child of main draws the same: here two forked
 * children in turn would differ, but one program run twice would not. What can be seen in one process: about
 * half fire. */
static void p_fires_about_as_often_as_it_says(void **state)
{
    (void)state;
    int fd = temporary_file();
    int fired = 0;
    arm("flock:p=0.5:errno=EINTR");
    for (int i = 0; i < 100; i++) {
        const char *seen = flocks(fd, 100);
        for (int k = 0; k < 100; k++)
            fired += seen[k] == 'x';
    }
    disarm();
    close(fd);
    /* 10,000 draws of a half: 5 standard deviations are 250. */
    assert_in_range(fired, 4750, 5250);
}

static void threads_draw_differently(void **state)
{
    (void)state;
    int fd = temporary_file();
    char *seen[2];
    pthread_t threads[2];
    arm("flock:p=0.5:errno=EINTR");
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, draw_in_thread, &fd);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], (void **)&seen[i]);
    disarm();
    close(fd);
    assert_string_not_equal(seen[0], seen[1]);
    free(seen[0]);
    free(seen[1]);
}

static void fd_tells_files_sockets_and_pipes_apart(void **state)
{
    (void)state;
    int file = temporary_file(), pair[2], pipe_fd[2], null_fd = open("/dev/null", O_RDONLY);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    assert_int_equal(pipe2(pipe_fd, O_NONBLOCK), 0);
    static const struct {
        const char *rule, *seen;
    } cases[] = {
        {"read:fd=file:errno=EIO", "x..."},        {"read:fd=socket:errno=EIO", ".x.."},
        {"read:fd=pipe:errno=EIO", "..x."},        {"read:fd=other:errno=EIO", "...x"},
        {"read:fd=socket,pipe:errno=EIO", ".xx."},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        int fds[] = {file, pair[0], pipe_fd[0], null_fd};
        char seen[5] = "....", byte;
        arm(cases[i].rule);
        for (int k = 0; k < 4; k++)
            if (read(fds[k], &byte, 1) < 0 && errno == EIO)
                seen[k] = 'x';
        disarm();
        if (strcmp(seen, cases[i].seen) != 0)
            fail_msg("%s: %s instead of %s", cases[i].rule, seen, cases[i].seen);
    }
    int fds[] = {file, pair[0], pair[1], pipe_fd[0], pipe_fd[1], null_fd};
    for (size_t i = 0; i < LENGTH(fds); i++)
        close(fds[i]);
}

static void path_matches_names_and_descriptors(void **state)
{
    (void)state;
    char name[] = "/tmp/ordeal-path-XXXXXX";
    int fd = mkstemp(name);
    char byte;
    arm("open:path=*/ordeal-path-*:errno=EACCES");
    int by_name = open(name, O_RDONLY), name_errno = errno, other = open("/dev/null", O_RDONLY);
    disarm();
    arm("read:path=/tmp/ordeal-path-??????:errno=EIO");
    ssize_t by_fd = read(fd, &byte, 1);
    int fd_errno = errno;
    ssize_t other_read = read(other, &byte, 1);
    disarm();
    close(fd);
    close(other);
    unlink(name);
    assert_int_equal(by_name, -1);
    assert_int_equal(name_errno, EACCES);
    assert_true(other >= 0);
    assert_int_equal(by_fd, -1);
    assert_int_equal(fd_errno, EIO);
    assert_int_equal(other_read, 0);
}

static void size_is_compared(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *seen; /* for reads of 10, 100, 1024 bytes */
    } cases[] = {
        {"read:size>=100:errno=EIO", ".xx"}, {"read:size>100:errno=EIO", "..x"},
        {"read:size<100:errno=EIO", "x.."},  {"read:size<=100:errno=EIO", "xx."},
        {"read:size=1K:errno=EIO", "..x"},
    };
    int fd = open("/dev/null", O_RDONLY);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char seen[4] = "...", buf[1024];
        static const size_t sizes[] = {10, 100, 1024};
        arm(cases[i].rule);
        for (int k = 0; k < 3; k++)
            if (read(fd, buf, sizes[k]) < 0)
                seen[k] = 'x';
        disarm();
        if (strcmp(seen, cases[i].seen) != 0)
            fail_msg("%s: %s instead of %s", cases[i].rule, seen, cases[i].seen);
    }
    close(fd);
}

static void shared_means_the_mapping_or_the_mutex(void **state)
{
    (void)state;
    arm("mmap:shared:errno=ENOMEM");
    void *private_map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *shared_map = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    disarm();
    assert_ptr_not_equal(private_map, MAP_FAILED);
    assert_ptr_equal(shared_map, MAP_FAILED);
    munmap(private_map, 4096);

    pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, shared;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared, &attributes);
    arm("pthread_mutex_lock:shared:errno=EAGAIN");
    int on_plain = pthread_mutex_lock(&plain), on_shared = pthread_mutex_lock(&shared);
    disarm();
    pthread_mutex_unlock(&plain);
    assert_int_equal(on_plain, 0);
    assert_int_equal(on_shared, EAGAIN);
}

static void robust_means_the_mutex(void **state)
{
    (void)state;
    pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, robust;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    arm("pthread_mutex_lock:robust:errno=ENOTRECOVERABLE");
    int on_plain = pthread_mutex_lock(&plain), on_robust = pthread_mutex_lock(&robust);
    disarm();
    pthread_mutex_unlock(&plain);
    assert_int_equal(on_plain, 0);
    assert_int_equal(on_robust, ENOTRECOVERABLE);
}

static void *one_flock(void *fd)
{
    return (void *)(intptr_t)flock(*(int *)fd, LOCK_SH);
}

static void thread_and_proc_are_ordinals(void **state)
{
    (void)state;
    int fd = temporary_file();
    pthread_t thread;
    void *in_thread;
    char rule[64];
    arm("flock:thread=1:errno=EINTR");
    int in_main = flock(fd, LOCK_SH);
    pthread_create(&thread, NULL, one_flock, &fd);
    pthread_join(thread, &in_thread);
    disarm();
    assert_int_equal(in_main, -1);
    assert_int_equal((intptr_t)in_thread, 0);

    snprintf(rule, sizeof rule, "flock:proc=%u:errno=EINTR", (unsigned)atomic_load(&page->process_count) + 1);
    arm(rule);
    in_main = flock(fd, LOCK_SH);
    int status = in_child((int (*)(void *))(void *)one_flock, &fd);
    disarm();
    close(fd);
    assert_int_equal(in_main, 0);
    assert_int_equal(status, 255 << 8);
}

static struct control_process *this_process(void)
{
    for (uint32_t i = 0; i < atomic_load(&page->process_count); i++)
        if (atomic_load(&page->processes[i].pid) == getpid())
            return &page->processes[i];
    fail_msg("this process has no slot");
    return NULL;
}

/* Of two threads created one after the other, a rule on the second leaves main and the first alone. */
static void thread_is_one_thread(void **state)
{
    (void)state;
    int fd = temporary_file();
    pthread_t threads[2];
    void *results[2];
    char rule[64];
    snprintf(rule, sizeof rule, "flock:thread=%u:errno=EINTR",
             (unsigned)atomic_load(&this_process()->threads) + 2);
    arm(rule);
    int in_main = flock(fd, LOCK_SH);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, one_flock, &fd);
        pthread_join(threads[i], &results[i]);
    }
    disarm();
    close(fd);
    assert_int_equal(in_main, 0);
    assert_int_equal((intptr_t)results[0], 0);
    assert_int_equal((intptr_t)results[1], -1);
}

static void after_waits_for_its_mark(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("flock:after=ready:nth=2:errno=EINTR");
    char before[8], behind[8];
    strcpy(before, flocks(fd, 3));
    ordeal_mark("ready");
    strcpy(behind, flocks(fd, 3));
    disarm();
    close(fd);
    assert_string_equal(before, "...");
    assert_string_equal(behind, ".x.");
}

static void caller_names_library_and_function(void **state)
{
    (void)state;
    int fd = temporary_file();
    char here[8], elsewhere[8];
    arm("flock:caller=test_conditions:*:errno=EINTR");
    strcpy(here, flocks(fd, 1));
    disarm();
    arm("flock:caller=libphp*:php_*:errno=EINTR");
    strcpy(elsewhere, flocks(fd, 1));
    disarm();
    close(fd);
    assert_string_equal(here, "x");
    assert_string_equal(elsewhere, ".");
}

static void one_of_several_calls(void **state)
{
    (void)state;
    int fd = temporary_file();
    char byte = 0;
    int index = arm("read|write|flock:nth=2+1:errno=EINTR");
    ssize_t first = write(fd, &byte, 1), second = read(fd, &byte, 1);
    int third = flock(fd, LOCK_SH);
    uint64_t matched = atomic_load(&page->rules[index].matched);
    disarm();
    close(fd);
    assert_int_equal(first, 1);
    assert_int_equal(second, -1);
    assert_int_equal(third, -1);
    assert_int_equal(matched, 3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nth_takes_first_step_and_last),
        cmocka_unit_test(p_fires_about_as_often_as_it_says),
        cmocka_unit_test(threads_draw_differently),
        cmocka_unit_test(fd_tells_files_sockets_and_pipes_apart),
        cmocka_unit_test(path_matches_names_and_descriptors),
        cmocka_unit_test(size_is_compared),
        cmocka_unit_test(shared_means_the_mapping_or_the_mutex),
        cmocka_unit_test(robust_means_the_mutex),
        cmocka_unit_test(thread_and_proc_are_ordinals),
        cmocka_unit_test(thread_is_one_thread),
        cmocka_unit_test(after_waits_for_its_mark),
        cmocka_unit_test(caller_names_library_and_function),
        cmocka_unit_test(one_of_several_calls),
    };
    return run_under_shim(argc, argv, tests, LENGTH(tests));
}
