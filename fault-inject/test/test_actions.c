/* What a rule does: one test an action; whatever ends the process happens in a child. */
#include "fault-inject/test/support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void ordeal_mark(const char *name) __attribute__((weak));

static int two_flocks(void *fd)
{
    flock(*(int *)fd, LOCK_SH);
    flock(*(int *)fd, LOCK_SH);
    return 7;
}

static int status_under(const char *rule)
{
    int fd = temporary_file();
    arm(rule);
    int status = in_child(two_flocks, &fd);
    disarm();
    close(fd);
    return status;
}

static void die_is_sigkill(void **state)
{
    (void)state;
    int status = status_under("flock:nth=2:die");
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void exit_has_a_status(void **state)
{
    (void)state;
    int status = status_under("flock:nth=2:exit=33");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 33);
}

static void signal_reaches_the_calling_thread(void **state)
{
    (void)state;
    int status = status_under("flock:nth=1:signal=TERM");
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    assert_int_equal(WEXITSTATUS(status_under("flock:nth=3:signal=TERM")), 7);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void delay_is_at_least_what_it_says(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("flock:nth=1:delay=20ms");
    int64_t start_ns = now_ns();
    int result = flock(fd, LOCK_SH);
    int64_t elapsed_ns = now_ns() - start_ns;
    disarm();
    close(fd);
    assert_int_equal(result, 0);
    assert_true(elapsed_ns >= 20000000);
}

static void a_delayed_call_can_still_fail(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("flock:errno=ENOLCK");
    arm("flock:delay=1ms");
    int result = flock(fd, LOCK_SH), err = errno;
    uint64_t delayed = atomic_load(&page->rules[1].fired);
    disarm();
    close(fd);
    assert_int_equal(result, -1);
    assert_int_equal(err, ENOLCK);
    assert_int_equal(delayed, 1);
}

static void dropped_bytes_never_arrive(void **state)
{
    (void)state;
    int pair[2];
    char got[16] = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    arm("write:nth=1:drop");
    ssize_t first = write(pair[0], "lost", 4), second = write(pair[0], "kept", 4);
    disarm();
    ssize_t received = read(pair[1], got, sizeof got);
    close(pair[0]);
    close(pair[1]);
    assert_int_equal(first, 4);
    assert_int_equal(second, 4);
    assert_int_equal(received, 4);
    assert_string_equal(got, "kept");
}

static void a_dropped_close_keeps_the_descriptor(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("close:nth=1:drop");
    int result = close(fd);
    disarm();
    assert_int_equal(result, 0);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    close(fd);
}

static void oom_is_enomem(void **state)
{
    (void)state;
    int index = arm("malloc:size=12345:oom");
    void *volatile block = malloc(12345); /* volatile: the compiler may not leave the pair out */
    int err = errno;
    uint64_t fired = atomic_load(&page->rules[index].fired);
    disarm();
    free(block);
    assert_null(block);
    assert_int_equal(err, ENOMEM);
    assert_int_equal(fired, 1);
}

static void skew_moves_every_clock_call(void **state)
{
    (void)state;
    struct timespec before, skewed;
    struct timeval skewed_tv;
    clock_gettime(CLOCK_REALTIME, &before);
    arm("clock_gettime|gettimeofday|time:skew=-3600s");
    clock_gettime(CLOCK_REALTIME, &skewed);
    gettimeofday(&skewed_tv, NULL);
    time_t skewed_s = time(NULL);
    disarm();
    assert_true(skewed.tv_sec < before.tv_sec - 3000);
    assert_true(skewed.tv_nsec >= 0 && skewed.tv_nsec < 1000000000);
    assert_true(skewed_tv.tv_sec < before.tv_sec - 3000);
    assert_true(skewed_s < before.tv_sec - 3000);
}

static void a_rule_can_reach_a_mark_for_another(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("flock:nth=2:mark=locked");
    arm("lseek:after=locked:errno=EINVAL");
    off_t early = lseek(fd, 0, SEEK_SET);
    flock(fd, LOCK_SH);
    flock(fd, LOCK_SH);
    off_t late = lseek(fd, 0, SEEK_SET);
    disarm();
    close(fd);
    assert_int_equal(early, 0);
    assert_int_equal(late, -1);
}

static void a_disarmed_or_inactive_rule_is_quiet(void **state)
{
    (void)state;
    int fd = temporary_file();
    int index = arm("flock:errno=EINTR");
    atomic_store(&page->rules[index].armed, 0);
    int disarmed = flock(fd, LOCK_SH);
    atomic_store(&page->rules[index].armed, 1);
    page->rules[index].active = 0;
    int inactive = flock(fd, LOCK_SH);
    page->rules[index].active = 1;
    int armed = flock(fd, LOCK_SH);
    disarm();
    close(fd);
    assert_int_equal(disarmed, 0);
    assert_int_equal(inactive, 0);
    assert_int_equal(armed, -1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(die_is_sigkill),
        cmocka_unit_test(exit_has_a_status),
        cmocka_unit_test(signal_reaches_the_calling_thread),
        cmocka_unit_test(delay_is_at_least_what_it_says),
        cmocka_unit_test(a_delayed_call_can_still_fail),
        cmocka_unit_test(dropped_bytes_never_arrive),
        cmocka_unit_test(a_dropped_close_keeps_the_descriptor),
        cmocka_unit_test(oom_is_enomem),
        cmocka_unit_test(skew_moves_every_clock_call),
        cmocka_unit_test(a_rule_can_reach_a_mark_for_another),
        cmocka_unit_test(a_disarmed_or_inactive_rule_is_quiet),
    };
    return run_under_shim(argc, argv, tests, LENGTH(tests));
}
