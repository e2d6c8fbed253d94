#include "harness/load/account.h"
#include "harness/load/test/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LINES 3

static struct account account;

static int open_account(void **state)
{
    (void)state;
    return account_open(&account, LINES) ? 0 : -1;
}

static int close_account(void **state)
{
    (void)state;
    account_close(&account);
    return 0;
}

static void test_any_order_of_events_adds_up(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    size_t flying[100];
    size_t count = 0;
    for (int i = 0; i < 20000; i++) {
        if (count < 100 && dice_roll(&dice, 2) == 0) {
            flying[count++] = (size_t)dice_roll(&dice, LINES);
            account_sent(&account, flying[count - 1]);
        } else if (count > 0) {
            size_t line = flying[--count];
            char reason[32];
            enum outcome outcome = (enum outcome)dice_roll(&dice, OUTCOMES);
            snprintf(reason, sizeof reason, "reason %llu", (unsigned long long)dice_roll(&dice, 5));
            if (outcome == OUTCOME_ANSWERED)
                account_answered(&account, line, 1000);
            else
                account_failed(&account, line, outcome, reason);
        }
        assert_true(account_balanced(&account));
        assert_int_equal(account.in_flight, count);
    }
}

static void test_a_wrong_sum_is_noticed(void **state)
{
    (void)state;
    account_sent(&account, 0);
    account_failed(&account, 0, OUTCOME_LOST, "timeout");
    assert_true(account_balanced(&account));
    account.ended[OUTCOME_LOST]++;
    assert_false(account_balanced(&account));
    account.ended[OUTCOME_LOST]--;
    account.reasons[OUTCOME_LOST]->count--;
    assert_false(account_balanced(&account));
    account.reasons[OUTCOME_LOST]->count++;
    account.lines[1].sent++;
    assert_false(account_balanced(&account));
}

static void test_reasons_are_counted_and_bounded(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * REASONS_MAX; i++) {
        char reason[32];
        snprintf(reason, sizeof reason, "malformed at byte %d", i);
        account_sent(&account, 0);
        account_failed(&account, 0, OUTCOME_LOST, reason);
    }
    assert_true(account_balanced(&account));
    assert_int_equal(HASH_COUNT(account.reasons[OUTCOME_LOST]), REASONS_MAX + 1);
    account_sort_reasons(&account);
    assert_string_equal(account.reasons[OUTCOME_LOST]->text, "other reasons");
    assert_int_equal(account.reasons[OUTCOME_LOST]->count, 2 * REASONS_MAX);
}

static void test_the_same_reason_is_one(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        account_sent(&account, 1);
        account_failed(&account, 1, OUTCOME_REFUSED, "status 503: busy");
    }
    assert_int_equal(HASH_COUNT(account.reasons[OUTCOME_REFUSED]), 1);
    assert_int_equal(account.reasons[OUTCOME_REFUSED]->count, 5);
    assert_int_equal(account.lines[1].ended[OUTCOME_REFUSED], 5);
}

static void test_latency_is_the_sum_over_the_lines(void **state)
{
    (void)state;
    static struct histogram sum;
    for (size_t line = 0; line < LINES; line++) {
        account_sent(&account, line);
        account_answered(&account, line, 100 * (line + 1));
    }
    account_latency(&account, &sum);
    assert_int_equal(sum.count, LINES);
    assert_int_equal(sum.min_us, 100);
    assert_int_equal(sum.max_us, 300);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_account, close_account)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_any_order_of_events_adds_up),       TEST(test_a_wrong_sum_is_noticed),
        TEST(test_reasons_are_counted_and_bounded),   TEST(test_the_same_reason_is_one),
        TEST(test_latency_is_the_sum_over_the_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
