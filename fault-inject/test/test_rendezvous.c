/* pause=X waits for wake=X: between threads, between processes, whichever comes first, and not for ever. */
#include "fault-inject/test/support.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic int order;

static void *paused_thread(void *fd)
{
    flock(*(int *)fd, LOCK_SH); /* pauses */
    return (void *)(intptr_t)++order;
}

static void a_paused_thread_goes_on_after_the_wake(void **state)
{
    (void)state;
    int fd = temporary_file();
    pthread_t thread;
    void *position;
    order = 0;
    arm("flock:pause=gate");
    arm("lseek:wake=gate");
    pthread_create(&thread, NULL, paused_thread, &fd);
    while (atomic_load(&page->rendezvous[0].waiting) == 0)
        sched_yield();
    int before = ++order;
    lseek(fd, 0, SEEK_SET); /* wakes */
    pthread_join(thread, &position);
    disarm();
    close(fd);
    assert_int_equal(before, 1);
    assert_int_equal((intptr_t)position, 2);
}

static void a_wake_that_comes_first_is_kept(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("flock:pause=gate");
    int waker = arm("lseek:wake=gate");
    lseek(fd, 0, SEEK_SET);
    int result = flock(fd, LOCK_SH);
    uint64_t timeouts = atomic_load(&page->rules[0].pause_timeouts),
             woken = atomic_load(&page->rules[waker].fired);
    disarm();
    close(fd);
    assert_int_equal(result, 0);
    assert_int_equal(timeouts, 0);
    assert_int_equal(woken, 1);
}

static void an_unmet_pause_is_counted(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("flock:pause=gate/10ms");
    int result = flock(fd, LOCK_SH);
    uint64_t timeouts = atomic_load(&page->rules[0].pause_timeouts);
    disarm();
    close(fd);
    assert_int_equal(result, 0);
    assert_int_equal(timeouts, 1);
}

/* The classic: the child is held between its check and its act; the parent acts in between. */
static void processes_meet(void **state)
{
    (void)state;
    int fd = temporary_file();
    char seen[8] = {0};
    arm("fsync:pause=checked");
    arm("fdatasync:wake=checked");
    pid_t child = fork();
    if (child == 0) {
        fsync(fd);
        pwrite(fd, "child", 5, 0);
        _exit(0);
    }
    while (atomic_load(&page->rendezvous[0].waiting) == 0)
        sched_yield();
    pwrite(fd, "parent", 6, 0);
    fdatasync(fd);
    int status;
    waitpid(child, &status, 0);
    disarm();
    pread(fd, seen, 7, 0);
    close(fd);
    assert_int_equal(status, 0);
    assert_string_equal(seen, "childt");
}

static void ignore(int signal_number)
{
    (void)signal_number;
}

static void *paused_until_woken(void *fd)
{
    return (void *)(intptr_t)flock(*(int *)fd, LOCK_SH);
}

static void a_signal_does_not_end_a_pause(void **state)
{
    (void)state;
    int fd = temporary_file();
    pthread_t thread;
    void *result;
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGUSR1, &action, NULL);
    arm("flock:pause=gate");
    arm("lseek:wake=gate");
    pthread_create(&thread, NULL, paused_until_woken, &fd);
    while (atomic_load(&page->rendezvous[0].waiting) == 0)
        sched_yield();
    for (int i = 0; i < 100; i++)
        pthread_kill(thread, SIGUSR1);
    uint32_t still_waiting = atomic_load(&page->rendezvous[0].waiting);
    lseek(fd, 0, SEEK_SET);
    pthread_join(thread, &result);
    disarm();
    close(fd);
    assert_int_equal(still_waiting, 1);
    assert_int_equal((intptr_t)result, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_paused_thread_goes_on_after_the_wake),
        cmocka_unit_test(a_wake_that_comes_first_is_kept),
        cmocka_unit_test(an_unmet_pause_is_counted),
        cmocka_unit_test(processes_meet),
        cmocka_unit_test(a_signal_does_not_end_a_pause),
    };
    return run_under_shim(argc, argv, tests, LENGTH(tests));
}
