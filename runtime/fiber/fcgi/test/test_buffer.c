/* The buffer against a plain queue: random appends and drops, never above its limit. */
#include "runtime/fiber/fcgi/buffer.h"
#include "runtime/fiber/fcgi/test/dice.h"
#include "runtime/fiber/fcgi/test/text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t seed;

static void take_front(struct text *queue, size_t count)
{
    memmove(queue->bytes, queue->bytes + count, queue->count - count);
    queue->count -= count;
}

static void one_history(struct dice *dice, size_t limit, size_t largest)
{
    struct fcgi_buffer buffer;
    struct text queue = {0};
    unsigned char bytes[3000];
    text_add_string(&queue, "");
    fcgi_buffer_init(&buffer, limit);
    for (int i = 0; i < 300; i++) {
        size_t count = dice_roll(dice, largest);
        memset(bytes, (int)dice_roll(dice, 256), count);
        bool fits = count <= limit - queue.count;
        assert_int_equal(fcgi_buffer_append(&buffer, bytes, count), fits);
        if (fits)
            text_add(&queue, bytes, count);
        count = dice_chance(dice, 10) ? queue.count : dice_roll(dice, queue.count + 1);
        if (dice_chance(dice, 60)) {
            fcgi_buffer_drop(&buffer, count);
            take_front(&queue, count);
        }
        assert_int_equal(buffer.count, queue.count);
        assert_int_equal(fcgi_buffer_room(&buffer), limit - queue.count);
        assert_true(buffer.capacity <= limit);
        assert_memory_equal(fcgi_buffer_front(&buffer), queue.bytes, queue.count);
    }
    fcgi_buffer_free(&buffer);
    text_free(&queue);
}

static void test_it_is_a_queue(void **state)
{
    (void)state;
    struct dice dice = {seed};
    for (int i = 0; i < 300; i++)
        one_history(&dice, dice_roll(&dice, i % 2 ? 400 : 100000), 1 + dice_roll(&dice, 2999));
}

static void test_an_emptied_buffer_gives_back_large_memory(void **state)
{
    (void)state;
    struct fcgi_buffer buffer;
    fcgi_buffer_init(&buffer, 1 << 20);
    assert_non_null(fcgi_buffer_extend(&buffer, 100));
    fcgi_buffer_drop(&buffer, 100);
    assert_int_equal(buffer.capacity, FCGI_BUFFER_FIRST_BYTES);
    assert_non_null(fcgi_buffer_extend(&buffer, 1 << 20));
    assert_null(fcgi_buffer_extend(&buffer, 1));
    fcgi_buffer_drop(&buffer, (1 << 20) - 1);
    assert_int_equal(buffer.capacity, 1 << 20);
    fcgi_buffer_drop(&buffer, 1);
    assert_int_equal(buffer.capacity, 0);
    fcgi_buffer_free(&buffer);
}

/* In a sanitized build malloc, too, is to return NULL. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* The memory that does not exist is refused, like that which is not allowed. */
static void test_no_memory(void **state)
{
    (void)state;
    struct fcgi_buffer buffer;
    fcgi_buffer_init(&buffer, SIZE_MAX);
    assert_true(fcgi_buffer_append(&buffer, "kept", 4));
    assert_null(fcgi_buffer_extend(&buffer, SIZE_MAX / 2 - 4));
    assert_null(fcgi_buffer_extend(&buffer, SIZE_MAX));
    assert_int_equal(buffer.count, 4);
    assert_memory_equal(fcgi_buffer_front(&buffer), "kept", 4);
    fcgi_buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_a_queue),
        cmocka_unit_test(test_an_emptied_buffer_gives_back_large_memory),
        cmocka_unit_test(test_no_memory),
    };
    seed = dice_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
