/* Each kind of hostile record, alone: the reason names the offset, what was there and what was expected;
 * after it the reader takes nothing and calls nobody. And each limit, at its last right value and one beyond.
 */
#include "runtime/fiber/fcgi/test/client.h"
#include "runtime/fiber/fcgi/test/transcript.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { BEGIN = 1, ABORT, END, PARAMS, STDIN, STDOUT, STDERR, DATA, GET_VALUES, RESULT, UNKNOWN };

#define BYTES(literal) literal, sizeof(literal) - 1

/* How far a request has come when the record arrives: where that is in the connection. */
enum before { NOTHING = 0, BEGUN = 16, PARAMS_ENDED = 24, INPUT_ENDED = 32 };

static const struct {
    enum before before;
    struct client_record record;
    const char *reason;
} hostile[] = {
    {NOTHING, {0, BEGIN, 1, 0, NULL, 0}, "byte 0, type 1 (BEGIN_REQUEST), id 1: version 0, expected 1"},
    {NOTHING,
     {'P', 'O', 'S' << 8 | 'T', 0, NULL, 0},
     "byte 0, type 79 (unknown), id 21332: version 80, expected 1"},
    {BEGUN, {2, PARAMS, 9, 0, NULL, 0}, "byte 16, type 4 (PARAMS), id 9: version 2, expected 1"},

    {NOTHING,
     {1, BEGIN, 1, 0, BYTES("1234567")},
     "byte 4, type 1 (BEGIN_REQUEST), id 1: content of 7 bytes, expected 8"},
    {NOTHING,
     {1, BEGIN, 1, 0, BYTES("123456789")},
     "byte 4, type 1 (BEGIN_REQUEST), id 1: content of 9 bytes, expected 8"},
    {NOTHING,
     {1, BEGIN, 1, 0, NULL, 0},
     "byte 4, type 1 (BEGIN_REQUEST), id 1: content of 0 bytes, expected 8"},
    {BEGUN,
     {1, BEGIN, 1, 0, BYTES("\0\1\0\0\0\0\0\0")},
     "byte 18, type 1 (BEGIN_REQUEST), id 1: this id is open, expected another one"},

    {NOTHING,
     {1, BEGIN, 0, 0, BYTES("\0\1\0\0\0\0\0\0")},
     "byte 2, type 1 (BEGIN_REQUEST), id 0: a record of a request, expected an id above 0"},
    {NOTHING,
     {1, ABORT, 0, 0, NULL, 0},
     "byte 2, type 2 (ABORT_REQUEST), id 0: a record of a request, expected an id above 0"},
    {NOTHING,
     {1, END, 0, 0, NULL, 0},
     "byte 2, type 3 (END_REQUEST), id 0: a record of a request, expected an id above 0"},
    {BEGUN,
     {1, PARAMS, 0, 0, NULL, 0},
     "byte 18, type 4 (PARAMS), id 0: a record of a request, expected an id above 0"},
    {BEGUN,
     {1, STDIN, 0, 0, NULL, 0},
     "byte 18, type 5 (STDIN), id 0: a record of a request, expected an id above 0"},
    {BEGUN,
     {1, STDOUT, 0, 0, NULL, 0},
     "byte 18, type 6 (STDOUT), id 0: a record of a request, expected an id above 0"},
    {BEGUN,
     {1, STDERR, 0, 0, NULL, 0},
     "byte 18, type 7 (STDERR), id 0: a record of a request, expected an id above 0"},
    {BEGUN,
     {1, DATA, 0, 0, NULL, 0},
     "byte 18, type 8 (DATA), id 0: a record of a request, expected an id above 0"},

    {BEGUN,
     {1, GET_VALUES, 1, 0, NULL, 0},
     "byte 18, type 9 (GET_VALUES), id 1: a management record of a request, expected id 0"},
    {BEGUN,
     {1, RESULT, 1, 0, NULL, 0},
     "byte 18, type 10 (GET_VALUES_RESULT), id 1: a management record of a request, expected id 0"},
    {BEGUN,
     {1, UNKNOWN, 1, 0, NULL, 0},
     "byte 18, type 11 (UNKNOWN_TYPE), id 1: a management record of a request, expected id 0"},
    {NOTHING,
     {1, RESULT, 0, 0, NULL, 0},
     "byte 1, type 10 (GET_VALUES_RESULT), id 0: only an application sends this, expected GET_VALUES"},
    {NOTHING,
     {1, UNKNOWN, 0, 0, NULL, 0},
     "byte 1, type 11 (UNKNOWN_TYPE), id 0: only an application sends this, expected GET_VALUES"},

    {BEGUN,
     {1, END, 1, 0, BYTES("12345678")},
     "byte 17, type 3 (END_REQUEST), id 1: only an application sends this, expected PARAMS, STDIN or "
     "ABORT_REQUEST"},
    {BEGUN,
     {1, STDOUT, 1, 0, BYTES("x")},
     "byte 17, type 6 (STDOUT), id 1: only an application sends this, expected PARAMS, STDIN or "
     "ABORT_REQUEST"},
    {PARAMS_ENDED,
     {1, STDERR, 1, 0, BYTES("x")},
     "byte 25, type 7 (STDERR), id 1: only an application sends this, expected PARAMS, STDIN or "
     "ABORT_REQUEST"},
    {PARAMS_ENDED,
     {1, DATA, 1, 0, BYTES("x")},
     "byte 25, type 8 (DATA), id 1: only a FILTER gets this, expected PARAMS, STDIN or ABORT_REQUEST"},
    {BEGUN,
     {1, 0, 1, 0, NULL, 0},
     "byte 17, type 0 (unknown), id 1: expected PARAMS, STDIN or ABORT_REQUEST"},
    {BEGUN,
     {1, 12, 1, 0, NULL, 0},
     "byte 17, type 12 (unknown), id 1: expected PARAMS, STDIN or ABORT_REQUEST"},
    {BEGUN,
     {1, 255, 1, 0, NULL, 0},
     "byte 17, type 255 (unknown), id 1: expected PARAMS, STDIN or ABORT_REQUEST"},
    {BEGUN,
     {1, ABORT, 1, 0, BYTES("x")},
     "byte 20, type 2 (ABORT_REQUEST), id 1: content of 1 bytes, expected none"},

    {BEGUN,
     {1, STDIN, 1, 0, BYTES("x")},
     "byte 16, type 5 (STDIN), id 1: the parameters have not ended, expected an empty PARAMS first"},
    {BEGUN,
     {1, STDIN, 1, 0, NULL, 0},
     "byte 16, type 5 (STDIN), id 1: the parameters have not ended, expected an empty PARAMS first"},
    {PARAMS_ENDED,
     {1, PARAMS, 1, 0, BYTES("\1\1ab")},
     "byte 24, type 4 (PARAMS), id 1: the parameters have ended, expected STDIN or ABORT_REQUEST"},
    {PARAMS_ENDED,
     {1, PARAMS, 1, 0, NULL, 0},
     "byte 24, type 4 (PARAMS), id 1: the parameters have ended, expected STDIN or ABORT_REQUEST"},
    {INPUT_ENDED,
     {1, STDIN, 1, 0, BYTES("x")},
     "byte 32, type 5 (STDIN), id 1: the body has ended, expected ABORT_REQUEST or nothing"},
    {INPUT_ENDED,
     {1, STDIN, 1, 0, NULL, 0},
     "byte 32, type 5 (STDIN), id 1: the body has ended, expected ABORT_REQUEST or nothing"},

    {BEGUN,
     {1, PARAMS, 1, 0, BYTES("\1\1ab\x80\1\0\1\1")},
     "byte 28, type 4 (PARAMS), id 1: a name of 65537 bytes, expected at most 65536"},
    {BEGUN,
     {1, PARAMS, 1, 0, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff")},
     "byte 24, type 4 (PARAMS), id 1: a name of 2147483647 bytes, expected at most 65536"},
    {BEGUN,
     {1, PARAMS, 1, 0, BYTES("\1\xff\xff\xff\xff")},
     "byte 24, type 4 (PARAMS), id 1: a name and value of 2147483648 bytes, expected at most 1048576"},
    {NOTHING,
     {1, GET_VALUES, 0, 0, BYTES("\x0e\1FCGI_MAX_CONNS1")},
     "byte 8, type 9 (GET_VALUES), id 0: a value of 1 bytes, expected an empty one"},
    {NOTHING,
     {1, GET_VALUES, 0, 0, BYTES("\x0e\0FCGI_MAX_CONN")},
     "byte 8, type 9 (GET_VALUES), id 0: a name runs over the end of its record"},
    {NOTHING,
     {1, GET_VALUES, 0, 0, BYTES("\0\0\x80\0")},
     "byte 10, type 9 (GET_VALUES), id 0: a name runs over the end of its record"},
    {NOTHING,
     {1, GET_VALUES, 0, 0, BYTES("\xff\xff\xff\xff\0")},
     "byte 8, type 9 (GET_VALUES), id 0: a name of 2147483647 bytes, expected at most 65536"},
};

/* The transcript's error, without what came before it; NULL if there was none. */
static char *error_of(struct transcript *seen)
{
    char *error = seen->text.bytes != NULL ? strstr(seen->text.bytes, "error ") : NULL;
    if (error == NULL)
        return NULL;
    error += strlen("error ");
    assert_ptr_not_equal(strchr(error, '|'), NULL);
    *strchr(error, '|') = '\0';
    return error;
}

static void assert_refuses_more(struct transcript *seen)
{
    struct text more = {0};
    uint64_t calls = seen->calls;
    client_begin(&more, 7, 1, 0);
    assert_int_equal(fcgi_reader_feed(&seen->reader, more.bytes, more.count, &transcript_handler), 0);
    assert_int_equal(seen->calls, calls);
    assert_false(fcgi_reader_is_idle(&seen->reader));
    text_free(&more);
}

static void expect_error(const struct text *sent, const struct fcgi_limits *limits, const char *reason)
{
    struct transcript seen;
    transcript_start(&seen, limits, ENDS_NEVER);
    transcript_feed(&seen, sent->bytes, sent->count);
    const char *error = error_of(&seen);
    assert_string_equal(error != NULL ? error : "none", reason != NULL ? reason : "none");
    if (reason != NULL)
        assert_refuses_more(&seen);
    transcript_free(&seen);
}

static void come_so_far(struct text *to, enum before before)
{
    if (before >= BEGUN)
        client_begin(to, 1, 1, 0);
    if (before >= PARAMS_ENDED)
        client_end_stream(to, PARAMS, 1);
    if (before >= INPUT_ENDED)
        client_end_stream(to, STDIN, 1);
    assert_int_equal(to->count, before);
}

static void test_hostile_records(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        struct text sent = {0};
        come_so_far(&sent, hostile[i].before);
        client_send(&sent, hostile[i].record);
        client_begin(&sent, 7, 1, 0); /* which nobody may hear of */
        expect_error(&sent, &fcgi_limits_default, hostile[i].reason);
        text_free(&sent);
    }
}

static void test_parameters_end_inside_one(void **state)
{
    (void)state;
    static const char part[] = "\1\1ab\4\5NAM";
    for (size_t cut = 5; cut < sizeof part; cut++) {
        struct text sent = {0};
        char reason[128];
        client_begin(&sent, 1, 1, 0);
        client_record(&sent, PARAMS, 1, part, cut);
        snprintf(reason, sizeof reason,
                 "byte %zu, type 4 (PARAMS), id 1: the parameters end inside the one that began at byte 28",
                 sent.count);
        client_end_stream(&sent, PARAMS, 1);
        expect_error(&sent, &fcgi_limits_default, reason);
        text_free(&sent);
    }
}

/* ---- limits ---- */

static const struct fcgi_limits small = {
    .params_bytes = 64, .params_count = 3, .name_bytes = 10, .input_bytes = 20};

static void one_pair(struct text *to, size_t name_bytes, size_t value_bytes)
{
    static const char letters[100] =
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    struct text content = {0};
    client_length(&content, name_bytes, 0);
    client_length(&content, value_bytes, 0);
    text_add(&content, letters, name_bytes);
    text_add(&content, letters, value_bytes);
    client_record(to, PARAMS, 1, content.bytes, content.count);
    text_free(&content);
}

static void test_limit_of_a_name(void **state)
{
    (void)state;
    struct text sent = {0};
    client_begin(&sent, 1, 1, 0);
    one_pair(&sent, 10, 1);
    expect_error(&sent, &small, NULL);
    one_pair(&sent, 11, 1);
    expect_error(&sent, &small, "byte 45, type 4 (PARAMS), id 1: a name of 11 bytes, expected at most 10");
    text_free(&sent);
}

static void test_limit_of_params_count(void **state)
{
    (void)state;
    struct text sent = {0};
    client_begin(&sent, 1, 1, 0);
    for (int i = 0; i < 3; i++)
        one_pair(&sent, 0, 0);
    expect_error(&sent, &small, NULL);
    one_pair(&sent, 0, 0);
    expect_error(&sent, &small, "byte 54, type 4 (PARAMS), id 1: one more parameter, expected at most 3");
    text_free(&sent);
}

static void test_limit_of_params_bytes(void **state)
{
    (void)state;
    struct text sent = {0};
    client_begin(&sent, 1, 1, 0);
    one_pair(&sent, 10, 20);
    one_pair(&sent, 10, 20);
    expect_error(&sent, &small, NULL); /* 64 */
    client_record(&sent, PARAMS, 1, "x", 1);
    expect_error(
        &sent, &small,
        "byte 100, type 4 (PARAMS), id 1: 1 bytes of parameters after 64, expected at most 64 in all");
    text_free(&sent);
}

static void test_limit_of_announced_bytes(void **state)
{
    (void)state;
    struct text sent = {0};
    client_begin(&sent, 1, 1, 0);
    client_record(&sent, PARAMS, 1, "\1\x40", 2);
    expect_error(&sent, &small,
                 "byte 24, type 4 (PARAMS), id 1: a name and value of 65 bytes, expected at most 64");
    text_free(&sent);
}

static void test_limit_of_input(void **state)
{
    (void)state;
    struct text sent = {0};
    come_so_far(&sent, PARAMS_ENDED);
    client_record(&sent, STDIN, 1, "0123456789", 10);
    client_record(&sent, STDIN, 1, "0123456789", 10);
    client_end_stream(&sent, STDIN, 1);
    expect_error(&sent, &small, NULL);
    sent.count -= 8;
    client_record(&sent, STDIN, 1, "x", 1);
    expect_error(&sent, &small,
                 "byte 64, type 5 (STDIN), id 1: 1 bytes of body after 20, expected at most 20 in all");
    text_free(&sent);
}

/* They are each request's own. */
static void test_limits_begin_again(void **state)
{
    (void)state;
    struct transcript seen;
    transcript_start(&seen, &small, ENDS_AT_INPUT_END);
    for (int i = 0; i < 10; i++) {
        struct text sent = {0};
        client_begin(&sent, 1, 1, 1);
        one_pair(&sent, 10, 20);
        one_pair(&sent, 10, 18);
        one_pair(&sent, 0, 0);
        client_end_stream(&sent, PARAMS, 1);
        client_record(&sent, STDIN, 1, "01234567890123456789", 20);
        client_end_stream(&sent, STDIN, 1);
        transcript_feed(&seen, sent.bytes, sent.count);
        text_free(&sent);
    }
    assert_ptr_equal(error_of(&seen), NULL);
    transcript_free(&seen);
}

/* A name and value as large as the default limit allows, cut into records; and what was announced alone takes
 * no memory. */
static void test_largest_parameter(void **state)
{
    (void)state;
    struct text content = {0}, sent = {0};
    size_t bytes = (1 << 20) - 5;
    char *value = text_allocate(NULL, bytes);
    memset(value, 'v', bytes);
    client_length(&content, 0, 0);
    client_length(&content, bytes, 1);
    text_add(&content, value, bytes);
    assert_int_equal(content.count, 1 << 20);
    client_begin(&sent, 1, 1, 0);
    for (size_t done = 0, part; done < content.count; done += part) {
        part = content.count - done < 65535 ? content.count - done : 65535;
        client_record(&sent, PARAMS, 1, content.bytes + done, part);
    }
    struct transcript seen;
    transcript_start(&seen, &fcgi_limits_default, ENDS_NEVER);
    transcript_feed(&seen, sent.bytes, 16 + 8 + 100);
    assert_true(seen.reader.param.text.capacity <= FCGI_BUFFER_FIRST_BYTES);
    transcript_feed(&seen, sent.bytes + 16 + 8 + 100, sent.count - (16 + 8 + 100));
    assert_ptr_equal(error_of(&seen), NULL);
    assert_int_equal(seen.text.count, strlen("begin 1|param 1 =|") + bytes);
    assert_int_equal(seen.reader.param.text.capacity, 0); /* given back */
    transcript_free(&seen);
    free(value);
    text_free(&content);
    text_free(&sent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_records),       cmocka_unit_test(test_parameters_end_inside_one),
        cmocka_unit_test(test_limit_of_a_name),       cmocka_unit_test(test_limit_of_params_count),
        cmocka_unit_test(test_limit_of_params_bytes), cmocka_unit_test(test_limit_of_announced_bytes),
        cmocka_unit_test(test_limit_of_input),        cmocka_unit_test(test_limits_begin_again),
        cmocka_unit_test(test_largest_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
