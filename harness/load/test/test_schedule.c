#include "harness/load/clock.h"
#include "harness/load/schedule.h"
#include "harness/load/test/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define START (5 * NS_PER_S)

static struct schedule schedule;

static uint64_t take(uint64_t now_ns)
{
    uint64_t intended_ns;
    schedule_take(&schedule, now_ns, &intended_ns);
    return intended_ns;
}

static void test_intended_times_are_exact_multiples(void **state)
{
    (void)state;
    schedule_begin(&schedule, START, 3000, 0, 0); /* 3 a second: no whole number of nanoseconds */
    assert_int_equal(schedule_intended_ns(&schedule, 0), START);
    assert_int_equal(schedule_intended_ns(&schedule, 1), START + 333333333);
    assert_int_equal(schedule_intended_ns(&schedule, 3), START + NS_PER_S);
    /* After a hundred years of it, still no drift. */
    uint64_t number = 3ull * 3600 * 24 * 365 * 100;
    assert_int_equal(schedule_intended_ns(&schedule, number), START + 100ull * 365 * 24 * 3600 * NS_PER_S);
}

static void test_a_duration_holds_rate_times_duration_requests(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    for (int i = 0; i < 1000; i++) {
        uint64_t rate_millihertz = 1 + dice_roll(&dice, 100000000);
        uint64_t duration_ns = 1 + dice_roll(&dice, 100 * NS_PER_S);
        schedule_begin(&schedule, START, rate_millihertz, duration_ns, 0);
        assert_true(schedule.total >= 1);
        assert_true(schedule_intended_ns(&schedule, schedule.total - 1) < START + duration_ns);
        assert_true(schedule_intended_ns(&schedule, schedule.total) + 1 >= START + duration_ns);
    }
    schedule_begin(&schedule, START, 500000, 2 * NS_PER_S, 0);
    assert_int_equal(schedule.total, 1000);
}

static void test_requests_and_duration_the_smaller_counts(void **state)
{
    (void)state;
    schedule_begin(&schedule, START, 500000, 2 * NS_PER_S, 7);
    assert_int_equal(schedule.total, 7);
    schedule_begin(&schedule, START, 500000, 2 * NS_PER_S, 7000);
    assert_int_equal(schedule.total, 1000);
}

static void test_a_late_send_keeps_its_intended_time(void **state)
{
    (void)state;
    schedule_begin(&schedule, START, 1000000, NS_PER_S, 0); /* one a millisecond */
    assert_int_equal(take(START), START);
    assert_false(schedule_due(&schedule, START + NS_PER_MS - 1));
    /* Nothing could be sent for half a second: the intended times go on as if nothing had happened. */
    uint64_t late_ns = START + 500 * NS_PER_MS;
    for (uint64_t i = 1; i <= 500; i++) {
        assert_true(schedule_due(&schedule, late_ns));
        assert_int_equal(take(late_ns), START + i * NS_PER_MS);
    }
    assert_false(schedule_due(&schedule, late_ns));
    assert_int_equal(schedule.behind_ns_max, 499 * NS_PER_MS);
}

static void test_the_backlog_is_what_was_due(void **state)
{
    (void)state;
    schedule_begin(&schedule, START, 1000000, NS_PER_S, 0);
    assert_int_equal(schedule_backlog(&schedule, START), 0);
    assert_int_equal(schedule_backlog(&schedule, START + 10 * NS_PER_MS), 10);
    take(START + 10 * NS_PER_MS);
    assert_int_equal(schedule_backlog(&schedule, START + 10 * NS_PER_MS), 9);
    assert_int_equal(schedule_backlog(&schedule, START + 10 * NS_PER_S), 999);
}

static void test_closed_loop_is_due_until_the_end(void **state)
{
    (void)state;
    schedule_begin(&schedule, START, 0, NS_PER_S, 0);
    assert_true(schedule_due(&schedule, START));
    assert_int_equal(take(START + 5), START + 5);
    assert_int_equal(schedule.behind_ns_max, 0);
    assert_int_equal(schedule_backlog(&schedule, START + NS_PER_S), 0);
    assert_false(schedule_due(&schedule, START + NS_PER_S));
}

static void test_after_the_last_request_nothing_is_due(void **state)
{
    (void)state;
    schedule_begin(&schedule, START, 0, 0, 2);
    take(START);
    take(START);
    assert_false(schedule_due(&schedule, START + 1));
    assert_int_equal(schedule_next_ns(&schedule), SCHEDULE_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intended_times_are_exact_multiples),
        cmocka_unit_test(test_a_duration_holds_rate_times_duration_requests),
        cmocka_unit_test(test_requests_and_duration_the_smaller_counts),
        cmocka_unit_test(test_a_late_send_keeps_its_intended_time),
        cmocka_unit_test(test_the_backlog_is_what_was_due),
        cmocka_unit_test(test_closed_loop_is_due_until_the_end),
        cmocka_unit_test(test_after_the_last_request_nothing_is_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
