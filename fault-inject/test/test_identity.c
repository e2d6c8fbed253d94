/* Processes and threads keep their names over runs, and the hooks work on both sides of a fork, in threads,
 * in signal handlers and when they are entered again from inside. */
#include "fault-inject/test/support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks n children, one after the other, and gives the keys that they got. */
static void keys_of_children(int n, uint64_t *keys)
{
    uint32_t first = atomic_load(&page->process_count);
    for (int i = 0; i < n; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    for (int i = 0; i < n; i++)
        keys[i] = page->processes[first + (uint32_t)i].key;
}

static int forks_two(void *unused)
{
    (void)unused;
    uint64_t keys[2];
    keys_of_children(2, keys);
    return keys[0] != keys[1] ? 0 : 1;
}

static void every_process_has_a_slot_and_a_key(void **state)
{
    (void)state;
    uint64_t keys[3];
    keys_of_children(3, keys);
    assert_true(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    assert_int_equal(in_child(forks_two, NULL), 0);
}

static int child_of_a_child(void *unused)
{
    (void)unused;
    uint64_t key;
    keys_of_children(1, &key);
    return (int)(key & 0x7f);
}

/* The same place in two processes with different pids: equal if made from places, different if from pids. */
static void a_key_does_not_depend_on_the_pid(void **state)
{
    (void)state;
    uint32_t first = atomic_load(&page->process_count);
    in_child(child_of_a_child, NULL);
    in_child(child_of_a_child, NULL);
    struct control_process *p = &page->processes[first];
    assert_int_equal(p[0].parent_pid, getpid());
    assert_int_equal(p[1].parent_pid, atomic_load(&p[0].pid));
    assert_int_equal(p[2].parent_pid, getpid());
    assert_true(p[0].key != p[2].key);
    assert_true(p[1].key != p[3].key); /* other parents, other keys */
}

static int flock_twice(void *fd)
{
    int first = flock(*(int *)fd, LOCK_SH), second = flock(*(int *)fd, LOCK_SH);
    return (first != 0) * 2 + (second != 0);
}

static void counters_are_shared_over_a_fork(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("flock:nth=3:errno=EINTR");
    int before = flock(fd, LOCK_SH);
    int status = in_child(flock_twice, &fd); /* calls 2 and 3 */
    int behind = flock(fd, LOCK_SH);
    disarm();
    close(fd);
    assert_int_equal(before, 0);
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_int_equal(behind, 0);
}

static void *many_flocks(void *fd)
{
    intptr_t failed = 0;
    for (int i = 0; i < 1000; i++)
        failed += flock(*(int *)fd, LOCK_SH) != 0;
    return (void *)failed;
}

static void threads_share_a_counter_and_lose_nothing(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    int fd = temporary_file();
    pthread_t threads[THREADS];
    intptr_t failed = 0;
    int index = arm("flock:nth=10+10:errno=EINTR");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, many_flocks, &fd);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed += (intptr_t)result;
    }
    uint64_t matched = atomic_load(&page->rules[index].matched),
             fired = atomic_load(&page->rules[index].fired);
    disarm();
    close(fd);
    assert_int_equal(matched, 4000);
    assert_int_equal(fired, 400);
    assert_int_equal(failed, 400);
}

static int handler_fd;
static volatile sig_atomic_t handler_result, handler_errno;

static void flock_in_handler(int signal_number)
{
    (void)signal_number;
    int saved_errno = errno;
    handler_result = flock(handler_fd, LOCK_SH);
    handler_errno = errno;
    errno = saved_errno;
}

/* The rule's own signal interrupts a hook; the handler's call is hooked like any other, and errno survives.
 */
static void a_handler_inside_a_hook_is_hooked_too(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = flock_in_handler};
    sigaction(SIGUSR2, &action, NULL);
    handler_fd = temporary_file();
    handler_result = 0;
    arm("fsync:signal=USR2");
    arm("flock:errno=ENOLCK");
    errno = 55;
    int result = fsync(handler_fd), errno_after = errno;
    disarm();
    close(handler_fd);
    assert_int_equal(result, 0);
    assert_int_equal(errno_after, 55);
    assert_int_equal(handler_result, -1);
    assert_int_equal(handler_errno, ENOLCK);
}

static int storm_fd;
static void flock_in_storm(int signal_number)
{
    (void)signal_number;
    int saved_errno = errno;
    flock(storm_fd, LOCK_SH);
    errno = saved_errno;
}

static void *send_storm(void *thread)
{
    for (int i = 0; i < 2000; i++)
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
    return NULL;
}

/* Signals at any moment of a hook: nothing hangs, and the main thread's calls are all counted. */
static void hooks_survive_a_storm_of_signals(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = flock_in_storm, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    storm_fd = temporary_file();
    int index = arm("lseek:nth=2+2:errno=EINVAL");
    arm("flock:p=0.5:errno=EINTR");
    pthread_t self_thread = pthread_self(), sender;
    int failed = 0;
    pthread_create(&sender, NULL, send_storm, &self_thread);
    for (int i = 0; i < 20000; i++)
        failed += lseek(storm_fd, 0, SEEK_SET) < 0;
    pthread_join(sender, NULL);
    uint64_t matched = atomic_load(&page->rules[index].matched);
    disarm();
    signal(SIGUSR1, SIG_DFL);
    close(storm_fd);
    assert_int_equal(matched, 20000);
    assert_int_equal(failed, 10000);
}

/* The rule allocates nothing, so a failing allocator does not stop it; and what it calls itself is not
 * hooked. */
static void the_shim_needs_no_memory(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("malloc|calloc|realloc|mmap:errno=ENOMEM");
    arm("flock:caller=test_identity:*:errno=EINTR");
    int result = flock(fd, LOCK_SH), err = errno;
    void *volatile block = malloc(10);
    disarm();
    free(block);
    close(fd);
    assert_null(block);
    assert_int_equal(result, -1);
    assert_int_equal(err, EINTR);
}

static void *do_nothing(void *unused)
{
    return unused;
}

/* What the shim and glibc allocate to make a thread is not a call of the target's. */
static void the_shims_own_calls_are_not_hooked(void **state)
{
    (void)state;
    pthread_t thread;
    int index = arm("malloc|calloc|realloc|mmap|mprotect:nth=1000000:errno=ENOMEM");
    int created = pthread_create(&thread, NULL, do_nothing, NULL);
    pthread_join(thread, NULL);
    uint64_t matched = atomic_load(&page->rules[index].matched);
    disarm();
    assert_int_equal(created, 0);
    assert_int_equal(matched, 0);
}

static int failing_create(void *unused)
{
    (void)unused;
    pthread_t thread;
    int fd = 0;
    return pthread_create(&thread, NULL, many_flocks, &fd);
}

static void creation_of_threads_and_processes_can_fail(void **state)
{
    (void)state;
    arm("pthread_create:errno=EAGAIN");
    int created = failing_create(NULL);
    disarm();
    arm("fork:nth=1:errno=ENOMEM");
    pid_t child = fork();
    int err = errno;
    disarm();
    assert_int_equal(created, EAGAIN);
    assert_int_equal(child, -1);
    assert_int_equal(err, ENOMEM);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_process_has_a_slot_and_a_key),
        cmocka_unit_test(a_key_does_not_depend_on_the_pid),
        cmocka_unit_test(counters_are_shared_over_a_fork),
        cmocka_unit_test(threads_share_a_counter_and_lose_nothing),
        cmocka_unit_test(a_handler_inside_a_hook_is_hooked_too),
        cmocka_unit_test(hooks_survive_a_storm_of_signals),
        cmocka_unit_test(the_shim_needs_no_memory),
        cmocka_unit_test(the_shims_own_calls_are_not_hooked),
        cmocka_unit_test(creation_of_threads_and_processes_can_fail),
    };
    return run_under_shim(argc, argv, tests, LENGTH(tests));
}
