/* `die` on a robust lock happens once the lock is held: the next owner is told, and what it makes of that
 * decides whether the lock lives on. Each is repeated, since a death that only sometimes leaves the lock held
 * is no test. */
#include "fault-inject/test/support.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEATS = 100 };

static pthread_mutex_t *robust_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t *mutex =
        mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &attributes);
    return mutex;
}

/* Locks and unlocks five times; never gets there when a rule ends it. */
static int five_rounds(void *mutex)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    return 0;
}

static pthread_mutex_t *mutex_of_a_dead_owner(void)
{
    pthread_mutex_t *mutex = robust_mutex();
    arm("pthread_mutex_lock:robust:nth=3:die");
    int status = in_child(five_rounds, mutex);
    disarm();
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return mutex;
}

static void the_next_owner_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < REPEATS; i++) {
        pthread_mutex_t *mutex = mutex_of_a_dead_owner();
        assert_int_equal(pthread_mutex_lock(mutex), EOWNERDEAD);
        assert_int_equal(pthread_mutex_consistent(mutex), 0);
        assert_int_equal(pthread_mutex_unlock(mutex), 0);
        assert_int_equal(pthread_mutex_lock(mutex), 0);
        assert_int_equal(pthread_mutex_unlock(mutex), 0);
        munmap(mutex, sizeof *mutex);
    }
}

static void a_lock_not_made_consistent_is_lost(void **state)
{
    (void)state;
    for (int i = 0; i < REPEATS; i++) {
        pthread_mutex_t *mutex = mutex_of_a_dead_owner();
        assert_int_equal(pthread_mutex_lock(mutex), EOWNERDEAD);
        assert_int_equal(pthread_mutex_unlock(mutex), 0);
        assert_int_equal(pthread_mutex_lock(mutex), ENOTRECOVERABLE);
        munmap(mutex, sizeof *mutex);
    }
}

/* nth counts acquisitions, also those that came with EOWNERDEAD. */
static void acquisitions_are_counted_over_deaths(void **state)
{
    (void)state;
    pthread_mutex_t *mutex = robust_mutex();
    int index = arm("pthread_mutex_lock:robust:nth=1+1..3:die");
    for (int death = 0; death < 3; death++) {
        int status = in_child(five_rounds, mutex);
        if (!WIFSIGNALED(status)) {
            disarm();
            fail_msg("child %d was not killed", death);
        }
    }
    int last = pthread_mutex_lock(mutex);
    uint64_t matched = atomic_load(&page->rules[index].matched);
    disarm();
    pthread_mutex_consistent(mutex);
    pthread_mutex_unlock(mutex);
    munmap(mutex, sizeof *mutex);
    assert_int_equal(last, EOWNERDEAD);
    assert_int_equal(matched, 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_owner_is_told),
        cmocka_unit_test(a_lock_not_made_consistent_is_lost),
        cmocka_unit_test(acquisitions_are_counted_over_deaths),
    };
    return run_under_shim(argc, argv, tests, LENGTH(tests));
}
