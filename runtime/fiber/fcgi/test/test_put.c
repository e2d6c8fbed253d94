/* What the encoders write is read back by a decoder of its own; what does not fit changes nothing. */
#include "runtime/fiber/fcgi/frames.h"
#include "runtime/fiber/fcgi/test/decoder.h"
#include "runtime/fiber/fcgi/test/dice.h"
#include "runtime/fiber/fcgi/test/text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LIMIT = 4 << 20, STDOUT = 6, STDERR = 7 };

static uint64_t seed;
static struct fcgi_buffer out;

static int start(void **state)
{
    (void)state;
    fcgi_buffer_init(&out, LIMIT);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    fcgi_buffer_free(&out);
    return 0;
}

static struct decoded next_record(void)
{
    struct decoded record = {0};
    assert_true(decode_record(fcgi_buffer_front(&out), out.count, &record));
    return record;
}

static void expect_bytes(const char *bytes, size_t count)
{
    assert_int_equal(out.count, count);
    assert_memory_equal(fcgi_buffer_front(&out), bytes, count);
}

static void test_the_exchange_of_the_header(void **state)
{
    (void)state;
    static const char exchange[] = "\x01\x06\x00\x01\x00\x14\x04\x00"
                                   "Status: 200 OK\r\n\r\nhi\x00\x00\x00\x00"
                                   "\x01\x06\x00\x01\x00\x00\x00\x00"
                                   "\x01\x03\x00\x01\x00\x08\x00\x00"
                                   "\x00\x00\x00\x00\x00\x00\x00\x00";
    assert_true(fcgi_put_stream(&out, FCGI_STDOUT, 1, "Status: 200 OK\r\n\r\nhi", 20));
    assert_true(fcgi_put_stream(&out, FCGI_STDOUT, 1, "", 0));
    assert_true(fcgi_put_stream_end(&out, FCGI_STDOUT, 1));
    assert_true(fcgi_put_end(&out, 1, 0, FCGI_REQUEST_COMPLETE));
    expect_bytes(exchange, sizeof exchange - 1);
}

static void test_end_request(void **state)
{
    (void)state;
    assert_true(fcgi_put_end(&out, 0xfedc, 0x81020304, FCGI_UNKNOWN_ROLE));
    struct decoded record = next_record();
    assert_int_equal(record.type, 3);
    assert_int_equal(record.id, 0xfedc);
    assert_int_equal(record.count, 8);
    assert_memory_equal(record.content, "\x81\x02\x03\x04\x03\0\0\0", 8);
}

static void test_unknown_type(void **state)
{
    (void)state;
    assert_true(fcgi_put_unknown_type(&out, 200));
    expect_bytes("\1\13\0\0\0\10\0\0\310\0\0\0\0\0\0\0", 16);
}

static void expect_values(unsigned asked, const char *content)
{
    const struct fcgi_values values = {.max_conns = 4294967295u, .max_reqs = 7};
    assert_true(fcgi_put_values_result(&out, asked, &values));
    struct decoded record = next_record();
    assert_int_equal(record.type, 10);
    assert_int_equal(record.id, 0);
    assert_int_equal(record.count, strlen(content));
    assert_memory_equal(record.content, content, record.count);
    fcgi_buffer_drop(&out, decoded_bytes(&record));
    assert_int_equal(out.count, 0);
}

static void test_values_result(void **state)
{
    (void)state;
    expect_values(0, "");
    expect_values(FCGI_MAX_REQS, "\x0d\1FCGI_MAX_REQS7");
    expect_values(FCGI_MAX_CONNS | FCGI_MAX_REQS | FCGI_MPXS_CONNS, "\x0e\x0a"
                                                                    "FCGI_MAX_CONNS4294967295"
                                                                    "\x0d\1FCGI_MAX_REQS7"
                                                                    "\x0f\1"
                                                                    "FCGI_MPXS_CONNS0");
    expect_values(0xff00, "");
}

static unsigned char *random_bytes(struct dice *dice, size_t count)
{
    unsigned char *bytes = text_allocate(NULL, count);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)dice_roll(dice, 256);
    return bytes;
}

/* Takes the stream out of the records at the front of `bytes`, which must all be its own, and well made. */
static struct text joined(const unsigned char *bytes, size_t count, unsigned type, unsigned id)
{
    struct text stream = {0};
    for (size_t done = 0; done < count;) {
        struct decoded record = {0};
        assert_true(decode_record(bytes + done, count - done, &record));
        assert_int_equal(record.type, type);
        assert_int_equal(record.id, id);
        assert_int_not_equal(record.count, 0);
        assert_int_equal(decoded_bytes(&record) % 8, 0);
        assert_in_range(record.padding, 0, 7);
        for (size_t i = 0; i < record.padding; i++)
            assert_int_equal(record.content[record.count + i], 0);
        text_add(&stream, record.content, record.count);
        done += decoded_bytes(&record);
    }
    return stream;
}

static const size_t sizes[] = {1,     7,      8,      9,      65527,  65528,   65529,   65535,
                               65536, 131055, 131056, 131057, 200000, 1048448, 1048449, 3000000};

static void test_streams_of_any_size(void **state)
{
    (void)state;
    struct dice dice = {seed};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *bytes = random_bytes(&dice, sizes[i]);
        assert_true(fcgi_put_stream(&out, FCGI_STDERR, 300, bytes, sizes[i]));
        struct text stream = joined(fcgi_buffer_front(&out), out.count, STDERR, 300);
        assert_int_equal(stream.count, sizes[i]);
        assert_memory_equal(stream.bytes, bytes, sizes[i]);
        fcgi_buffer_drop(&out, out.count);
        text_free(&stream);
        free(bytes);
    }
}

/* The largest piece that has room has room, and not a byte more. */
static void test_room_is_exact(void **state)
{
    (void)state;
    struct dice dice = {seed};
    unsigned char *bytes = random_bytes(&dice, 300000);
    for (int i = 0; i < 400; i++) {
        fcgi_buffer_free(&out);
        fcgi_buffer_init(&out, i < 60 ? (size_t)i : dice_roll(&dice, 200000));
        size_t room = fcgi_stream_room(&out);
        assert_false(fcgi_put_stream(&out, FCGI_STDOUT, 1, bytes, room + 1));
        assert_int_equal(out.count, 0);
        assert_true(fcgi_put_stream(&out, FCGI_STDOUT, 1, bytes, room));
        assert_in_range(out.count, 0, out.limit);
        assert_true(out.limit - out.count < 16);
    }
    free(bytes);
}

static void test_full_buffer_refuses_and_is_unchanged(void **state)
{
    (void)state;
    fcgi_buffer_init(&out, 31);
    assert_true(fcgi_put_end(&out, 1, 0, FCGI_REQUEST_COMPLETE));
    assert_false(fcgi_put_end(&out, 2, 0, FCGI_REQUEST_COMPLETE));
    assert_false(fcgi_put_unknown_type(&out, 99));
    assert_false(fcgi_put_values_result(&out, 7, &(struct fcgi_values){1, 1}));
    assert_false(fcgi_put_stream(&out, FCGI_STDOUT, 1, "123456789", 9));
    assert_false(fcgi_put_stream(&out, FCGI_STDOUT, 1, "", SIZE_MAX));
    size_t wraps_to_one_byte = ((size_t)FCGI_STREAM_BYTES_MAX << 48) + 1; /* with the heads: 2^64 + 9 */
    fcgi_buffer_drop(&out, out.count);
    assert_false(fcgi_put_stream(&out, FCGI_STDOUT, 1, "", wraps_to_one_byte));
    assert_true(fcgi_put_end(&out, 1, 0, FCGI_REQUEST_COMPLETE));
    assert_true(fcgi_put_stream_end(&out, FCGI_STDOUT, 1));
    assert_false(fcgi_put_stream_end(&out, FCGI_STDOUT, 1));
    expect_bytes("\1\3\0\1\0\10\0\0\0\0\0\0\0\0\0\0\1\6\0\1\0\0\0\0", 24);
}

/* As writev would: takes at most `most` bytes of the parts. */
static void send_parts(struct text *to, struct fcgi_frames *frames, size_t most)
{
    const struct iovec *parts = fcgi_frames_parts(frames);
    size_t sent = 0;
    for (int i = 0; i < fcgi_frames_count(frames) && sent < most; i++) {
        size_t count = parts[i].iov_len < most - sent ? parts[i].iov_len : most - sent;
        text_add(to, parts[i].iov_base, count);
        sent += count;
    }
    fcgi_frames_drop(frames, sent);
}

static void test_frames_are_the_same_bytes(void **state)
{
    (void)state;
    struct dice dice = {seed};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *bytes = random_bytes(&dice, sizes[i]);
        struct text sent = {0};
        struct fcgi_frames frames;
        for (size_t done = 0; done < sizes[i];) {
            done += fcgi_frames_set(&frames, FCGI_STDOUT, 5, bytes + done, sizes[i] - done);
            while (!fcgi_frames_are_sent(&frames))
                send_parts(&sent, &frames, 1 + dice_roll(&dice, 100000));
        }
        struct text stream = joined((const unsigned char *)sent.bytes, sent.count, STDOUT, 5);
        assert_int_equal(stream.count, sizes[i]);
        assert_memory_equal(stream.bytes, bytes, sizes[i]);
        assert_true(fcgi_put_stream(&out, FCGI_STDOUT, 5, bytes, sizes[i]));
        expect_bytes(sent.bytes, sent.count);
        fcgi_buffer_drop(&out, out.count);
        text_free(&stream);
        text_free(&sent);
        free(bytes);
    }
}

static void test_frames_do_not_copy(void **state)
{
    (void)state;
    struct fcgi_frames frames;
    static const unsigned char bytes[70000];
    assert_int_equal(fcgi_frames_set(&frames, FCGI_STDOUT, 5, bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(fcgi_frames_count(&frames), 4); /* 70,000 = 65,528 + 4,472: no padding */
    assert_ptr_equal(fcgi_frames_parts(&frames)[1].iov_base, bytes);
    assert_ptr_equal(fcgi_frames_parts(&frames)[3].iov_base, bytes + 65528);
    assert_int_equal(fcgi_frames_set(&frames, FCGI_STDOUT, 5, bytes, 0), 0);
    assert_true(fcgi_frames_are_sent(&frames));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_exchange_of_the_header),
        TEST(test_end_request),
        TEST(test_unknown_type),
        TEST(test_values_result),
        TEST(test_streams_of_any_size),
        TEST(test_room_is_exact),
        TEST(test_full_buffer_refuses_and_is_unchanged),
        TEST(test_frames_are_the_same_bytes),
        TEST(test_frames_do_not_copy),
    };
    seed = dice_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
