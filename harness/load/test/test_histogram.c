#include "harness/load/histogram.h"
#include "harness/load/test/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define VALUES 20000

static struct histogram first, second, whole;

/* A value of any magnitude: its number of bits is random. */
static uint64_t random_value(struct dice *dice)
{
    uint64_t value = dice_roll(dice, 2ull << dice_roll(dice, 26));
    return value <= HISTOGRAM_VALUE_US_MAX ? value : HISTOGRAM_VALUE_US_MAX;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void test_every_step_is_within_three_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < histogram_index(HISTOGRAM_VALUE_US_MAX); i++) {
        uint64_t low = histogram_lowest_us(i), high = histogram_highest_us(i);
        assert_true(low <= high);
        assert_true((high - low) * 1000 <= low);
        assert_int_equal(histogram_index(low), i);
        assert_int_equal(histogram_index(high), i);
        assert_int_equal(histogram_lowest_us(i + 1), high + 1);
    }
}

static void test_random_values_keep_three_digits(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    for (int i = 0; i < VALUES; i++) {
        uint64_t value = random_value(&dice);
        size_t index = histogram_index(value);
        assert_true(index < HISTOGRAM_COUNTERS);
        assert_in_range(value, histogram_lowest_us(index), histogram_highest_us(index));
    }
}

static void test_percentiles_agree_with_a_sorted_array(void **state)
{
    (void)state;
    static uint64_t values[VALUES];
    static const double percents[] = {0, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100};
    struct dice dice = dice_new();
    histogram_reset(&whole);
    for (int i = 0; i < VALUES; i++) {
        values[i] = random_value(&dice);
        histogram_record(&whole, values[i]);
    }
    qsort(values, VALUES, sizeof values[0], compare);
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        double exact = percents[i] / 100 * VALUES;
        size_t rank = (size_t)exact + ((double)(size_t)exact < exact - 1e-6);
        uint64_t value = values[rank > 0 ? rank - 1 : 0];
        uint64_t found = histogram_percentile(&whole, percents[i]);
        assert_int_equal(histogram_index(found), histogram_index(value));
        assert_true(found >= value);
    }
    assert_int_equal(histogram_percentile(&whole, 100), values[VALUES - 1]);
    assert_int_equal(whole.min_us, values[0]);
    assert_int_equal(whole.max_us, values[VALUES - 1]);
}

static void test_merged_is_the_same_as_recorded_together(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    histogram_reset(&first);
    histogram_reset(&second);
    histogram_reset(&whole);
    for (int i = 0; i < VALUES; i++) {
        uint64_t value = random_value(&dice);
        histogram_record(dice_roll(&dice, 2) != 0 ? &first : &second, value);
        histogram_record(&whole, value);
    }
    histogram_merge(&first, &second);
    assert_memory_equal(&first, &whole, sizeof whole);
}

static void test_merging_an_empty_one_changes_nothing(void **state)
{
    (void)state;
    histogram_reset(&first);
    histogram_reset(&second);
    histogram_record(&first, 17);
    whole = first;
    histogram_merge(&first, &second);
    assert_memory_equal(&first, &whole, sizeof whole);
}

static void test_values_over_the_range_are_counted_as_its_end_and_said(void **state)
{
    (void)state;
    histogram_reset(&first);
    histogram_record(&first, 1);
    histogram_record(&first, 5ull * HISTOGRAM_VALUE_US_MAX);
    assert_int_equal(first.count, 2);
    assert_int_equal(first.over, 1);
    assert_int_equal(first.max_us, 5ull * HISTOGRAM_VALUE_US_MAX);
    uint64_t top = histogram_percentile(&first, 100);
    assert_int_equal(histogram_index(top), histogram_index(HISTOGRAM_VALUE_US_MAX));
}

static void test_an_empty_histogram_says_zero(void **state)
{
    (void)state;
    histogram_reset(&first);
    assert_int_equal(histogram_percentile(&first, 99), 0);
    assert_true(histogram_mean_us(&first) == 0.0);
}

static void test_the_mean_is_exact(void **state)
{
    (void)state;
    histogram_reset(&first);
    histogram_record(&first, 3000001);
    histogram_record(&first, 3000004);
    assert_true(histogram_mean_us(&first) == 3000002.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_step_is_within_three_digits),
        cmocka_unit_test(test_random_values_keep_three_digits),
        cmocka_unit_test(test_percentiles_agree_with_a_sorted_array),
        cmocka_unit_test(test_merged_is_the_same_as_recorded_together),
        cmocka_unit_test(test_merging_an_empty_one_changes_nothing),
        cmocka_unit_test(test_values_over_the_range_are_counted_as_its_end_and_said),
        cmocka_unit_test(test_an_empty_histogram_says_zero),
        cmocka_unit_test(test_the_mean_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
