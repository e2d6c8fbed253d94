/* What the reader tells for what a web server sends: the exchange of fcgi.h, and each rule of its table. */
#include "runtime/fiber/fcgi/test/client.h"
#include "runtime/fiber/fcgi/test/transcript.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { BEGIN = 1, ABORT, END, PARAMS, STDIN, STDOUT, STDERR, DATA, GET_VALUES };

static struct text sent;
static struct transcript seen;

static int start(void **state)
{
    (void)state;
    transcript_start(&seen, &fcgi_limits_default, ENDS_AT_INPUT_END);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    transcript_free(&seen);
    text_free(&sent);
    return 0;
}

/* Feeds what was written since the last time; the transcript since then must be this. */
static void expect(const char *transcript)
{
    seen.text.count = 0;
    text_add_string(&seen.text, "");
    transcript_feed(&seen, sent.bytes, sent.count);
    sent.count = 0;
    assert_string_equal(seen.text.bytes, transcript);
}

static void send_params(unsigned id, const char *name, const char *value)
{
    struct text content = {0};
    client_pair(&content, name, value);
    client_record(&sent, PARAMS, id, content.bytes, content.count);
    text_free(&content);
}

static void send_get(unsigned id)
{
    client_begin(&sent, id, 1, 1);
    send_params(id, "A", "b");
    client_end_stream(&sent, PARAMS, id);
    client_end_stream(&sent, STDIN, id);
}

static void test_the_exchange_of_the_header(void **state)
{
    (void)state;
    static const char exchange[] = "\x01\x01\x00\x01\x00\x08\x00\x00"
                                   "\x00\x01\x01\x00\x00\x00\x00\x00"
                                   "\x01\x04\x00\x01\x00\x14\x04\x00"
                                   "\x0e\x04REQUEST_METHODPOST\x00\x00\x00\x00"
                                   "\x01\x04\x00\x01\x00\x00\x00\x00"
                                   "\x01\x05\x00\x01\x00\x02\x06\x00"
                                   "hi\x00\x00\x00\x00\x00\x00"
                                   "\x01\x05\x00\x01\x00\x00\x00\x00";
    text_add(&sent, exchange, sizeof exchange - 1);
    expect("begin 1 keep|param 1 REQUEST_METHOD=POST|params_end 1|input 1 hi|input_end 1|ended 1|");
    assert_true(fcgi_reader_is_idle(&seen.reader));
}

static void test_kept_connection(void **state)
{
    (void)state;
    send_get(1);
    send_get(1);
    send_get(65535);
    expect("begin 1 keep|param 1 A=b|params_end 1|input_end 1|ended 1|"
           "begin 1 keep|param 1 A=b|params_end 1|input_end 1|ended 1|"
           "begin 65535 keep|param 65535 A=b|params_end 65535|input_end 65535|ended 65535|");
}

static void test_keep_flag_is_one_bit(void **state)
{
    (void)state;
    seen.ends = ENDS_AT_BEGIN;
    client_begin(&sent, 1, 1, 0);
    client_begin(&sent, 2, 1, 0xfe);
    client_begin(&sent, 3, 1, 0xff);
    expect("begin 1|ended 1|begin 2|ended 2|begin 3 keep|ended 3|");
}

static void test_second_request_is_rejected_and_the_first_goes_on(void **state)
{
    (void)state;
    client_begin(&sent, 1, 1, 1);
    send_params(1, "A", "b");
    send_get(2);
    client_begin(&sent, 3, 1, 0);
    client_begin(&sent, 4, 2, 1); /* an open request is the first reason */
    send_params(1, "C", "d");
    client_end_stream(&sent, PARAMS, 1);
    client_end_stream(&sent, STDIN, 1);
    send_get(2);
    expect("begin 1 keep|param 1 A=b|reject 2 status 1 keep|reject 3 status 1|reject 4 status 1 keep|"
           "param 1 C=d|params_end 1|input_end 1|ended 1|"
           "begin 2 keep|param 2 A=b|params_end 2|input_end 2|ended 2|");
}

static void test_other_roles_are_rejected(void **state)
{
    (void)state;
    static const unsigned roles[] = {2, 3, 0, 4, 257};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        client_begin(&sent, 9, roles[i], 1);
        send_params(9, "A", "b");
        client_end_stream(&sent, PARAMS, 9);
        client_end_stream(&sent, STDIN, 9);
        client_record(&sent, DATA, 9, "x", 1);
        expect("reject 9 status 3 keep|");
    }
    send_get(9);
    expect("begin 9 keep|param 9 A=b|params_end 9|input_end 9|ended 9|");
}

static void test_get_values(void **state)
{
    (void)state;
    struct text names = {0};
    client_pair(&names, "FCGI_MPXS_CONNS", "");
    client_pair(&names, "FCGI_MAX_CONN", "");
    client_pair(&names, "", "");
    client_pair(&names, "FCGI_MAX_CONNS", "");
    client_record(&sent, GET_VALUES, 0, names.bytes, names.count);
    client_record(&sent, GET_VALUES, 0, NULL, 0);
    client_pair(&names, "FCGI_MAX_REQS", "");
    client_record(&sent, GET_VALUES, 0, names.bytes, names.count);
    text_free(&names);
    client_record(&sent, GET_VALUES, 0, "\x0d\0FCGI_MAX_CONN\x0f\0FCGI_MAX_CONNSX\0\0", 34);
    expect("get_values 5|get_values 0|get_values 7|get_values 0|");
}

static void test_management_inside_a_parameter(void **state)
{
    (void)state;
    client_begin(&sent, 1, 1, 0);
    client_record(&sent, PARAMS, 1, "\x04\x05NA", 4);
    client_record(&sent, GET_VALUES, 0,
                  "\x0e\x00"
                  "FCGI_MAX_CONNS",
                  16);
    client_record(&sent, 77, 0, "whatever", 8);
    client_record(&sent, PARAMS, 1, "MEval", 5);
    client_record(&sent, PARAMS, 1, "ue", 2);
    expect("begin 1|get_values 1|unknown_type 77|param 1 NAME=value|");
}

static void test_unknown_management_types(void **state)
{
    (void)state;
    static const unsigned types[] = {0, 12, 255};
    for (size_t i = 0; i < 3; i++)
        client_send(&sent, (struct client_record){1, types[i], 0, 7, "x", 1});
    expect("unknown_type 0|unknown_type 12|unknown_type 255|");
}

static void test_records_of_other_ids_are_ignored(void **state)
{
    (void)state;
    for (unsigned type = 2; type < 20; type++)
        client_record(&sent, type, 5, "\xff\xff\xff\xff", 4);
    expect("");
    client_begin(&sent, 1, 1, 0);
    for (unsigned type = 2; type < 20; type++)
        client_record(&sent, type, 5, "\xff\xff\xff\xff", 4);
    client_end_stream(&sent, PARAMS, 5);
    client_end_stream(&sent, PARAMS, 1);
    expect("begin 1|params_end 1|");
}

static void test_body_of_an_answered_request_is_ignored(void **state)
{
    (void)state;
    seen.ends = ENDS_AT_PARAMS_END;
    client_begin(&sent, 1, 1, 1);
    client_end_stream(&sent, PARAMS, 1);
    client_record(&sent, STDIN, 1, "body", 4);
    client_end_stream(&sent, STDIN, 1);
    client_begin(&sent, 1, 1, 1);
    expect("begin 1 keep|params_end 1|ended 1|begin 1 keep|");
}

static void test_request_ended_inside_a_record(void **state)
{
    (void)state;
    seen.ends = ENDS_NEVER;
    client_begin(&sent, 1, 1, 1);
    client_end_stream(&sent, PARAMS, 1);
    client_send(&sent, (struct client_record){1, STDIN, 1, 3, "half of it", 10});
    size_t rest = 8;
    sent.count -= rest;
    expect("begin 1 keep|params_end 1|input 1 half ");
    fcgi_reader_request_ended(&seen.reader);
    assert_false(fcgi_reader_is_idle(&seen.reader));
    seen.in_input = false;
    text_add(&sent, "of it\0\0\0", rest);
    expect("");
    assert_true(fcgi_reader_is_idle(&seen.reader));
    send_get(1);
    expect("begin 1 keep|param 1 A=b|params_end 1|input_end 1|");
}

static void test_request_ended_inside_a_parameter(void **state)
{
    (void)state;
    seen.ends = ENDS_NEVER;
    client_begin(&sent, 1, 1, 1);
    client_record(&sent, PARAMS, 1, "\x04\x05NAMEvalue\1\1ab", 15);
    size_t rest = 10;
    sent.count -= rest;
    expect("begin 1 keep|");
    fcgi_reader_request_ended(&seen.reader);
    text_add(&sent, &"MEvalue\1\1ab"[1], rest);
    client_begin(&sent, 2, 1, 1);
    client_record(&sent, PARAMS, 2, "\x01\x01xy", 4);
    client_end_stream(&sent, PARAMS, 2);
    expect("begin 2 keep|param 2 x=y|params_end 2|");
}

static void test_abort(void **state)
{
    (void)state;
    client_begin(&sent, 1, 1, 1);
    client_record(&sent, PARAMS, 1, "\x04\x05NAM", 5);
    client_record(&sent, ABORT, 1, NULL, 0);
    send_get(1);
    expect("begin 1 keep|abort 1|ended 1|begin 1 keep|param 1 A=b|params_end 1|input_end 1|ended 1|");
}

static void test_nothing_of_a_request_after_its_abort(void **state)
{
    (void)state;
    seen.slow_abort = true;
    client_begin(&sent, 1, 1, 1);
    client_end_stream(&sent, PARAMS, 1);
    client_record(&sent, ABORT, 1, NULL, 0);
    expect("begin 1 keep|params_end 1|abort 1|");
    client_record(&sent, STDIN, 1, "body", 4);
    client_end_stream(&sent, STDIN, 1);
    client_record(&sent, ABORT, 1, NULL, 0);
    client_begin(&sent, 2, 1, 1);
    expect("reject 2 status 1 keep|");
    fcgi_reader_request_ended(&seen.reader);
    client_begin(&sent, 1, 1, 1);
    expect("begin 1 keep|");
}

static void test_abort_of_an_unknown_request_is_ignored(void **state)
{
    (void)state;
    client_record(&sent, ABORT, 1, NULL, 0);
    expect("");
}

/* Every way to write the lengths, cut at every place into two records. */
static void test_parameters_cut_anywhere(void **state)
{
    (void)state;
    seen.ends = ENDS_AT_PARAMS_END;
    for (int form = 0; form < 4; form++) {
        struct text content = {0};
        for (int pair = 0; pair < 2; pair++) {
            client_length(&content, 3, form & 1);
            client_length(&content, 2, form & 2);
            text_add_string(&content, "abcde");
        }
        for (size_t cut = 1; cut < content.count; cut++) {
            client_begin(&sent, 1, 1, 0);
            client_send(&sent, (struct client_record){1, PARAMS, 1, 5, content.bytes, cut});
            client_record(&sent, PARAMS, 1, content.bytes + cut, content.count - cut);
            client_end_stream(&sent, PARAMS, 1);
            expect("begin 1|param 1 abc=de|param 1 abc=de|params_end 1|ended 1|");
        }
        text_free(&content);
    }
}

static void test_empty_names_and_values(void **state)
{
    (void)state;
    client_begin(&sent, 1, 1, 0);
    client_record(&sent, PARAMS, 1, "\0\0\1\0A\0\1b\x80\0\0\0\x80\0\0\0", 16);
    client_end_stream(&sent, PARAMS, 1);
    expect("begin 1|param 1 =|param 1 A=|param 1 =b|param 1 =|params_end 1|");
}

/* The text of a pair that lies in the bytes given is not copied, nor is the body. */
static const char *param_at;
static const unsigned char *input_at;

static void note_param(void *context, uint16_t id, const char *name, size_t name_bytes, const char *value,
                       size_t value_bytes)
{
    (void)context, (void)id, (void)name_bytes, (void)value, (void)value_bytes;
    param_at = name;
}

static void note_input(void *context, uint16_t id, const unsigned char *bytes, size_t count)
{
    (void)context, (void)id, (void)count;
    input_at = bytes;
}

static void test_nothing_whole_is_copied(void **state)
{
    (void)state;
    struct fcgi_handler handler = transcript_handler;
    handler.param = note_param;
    handler.input = note_input;
    client_begin(&sent, 1, 1, 0);
    send_params(1, "NAME", "value");
    client_end_stream(&sent, PARAMS, 1);
    client_record(&sent, STDIN, 1, "body", 4);
    assert_int_equal(fcgi_reader_feed(&seen.reader, sent.bytes, sent.count, &handler), sent.count);
    assert_ptr_equal(param_at, sent.bytes + 16 + 8 + 2);
    assert_ptr_equal(input_at, sent.bytes + sent.count - 4);
}

static void test_pause(void **state)
{
    (void)state;
    seen.pauses = true;
    client_begin(&sent, 1, 1, 1);
    client_record(&sent, PARAMS, 1, "\1\1ab\1\1cd", 8);
    size_t first = fcgi_reader_feed(&seen.reader, sent.bytes, sent.count, &transcript_handler);
    assert_int_equal(first, 16); /* BEGIN_REQUEST */
    size_t second =
        fcgi_reader_feed(&seen.reader, sent.bytes + first, sent.count - first, &transcript_handler);
    assert_int_equal(second, 8 + 4); /* the head of PARAMS, and the first pair */
    first += second;
    assert_int_equal(
        fcgi_reader_feed(&seen.reader, sent.bytes + first, sent.count - first, &transcript_handler), 4);
    assert_string_equal(seen.text.bytes, "begin 1 keep|param 1 a=b|param 1 c=d|");
}

static void test_idle(void **state)
{
    (void)state;
    assert_true(fcgi_reader_is_idle(&seen.reader));
    send_get(1);
    size_t whole = sent.count;
    for (size_t i = 0; i < whole; i++) {
        fcgi_reader_feed(&seen.reader, sent.bytes + i, 1, &transcript_handler);
        assert_int_equal(fcgi_reader_is_idle(&seen.reader), i == whole - 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_exchange_of_the_header),
        TEST(test_kept_connection),
        TEST(test_keep_flag_is_one_bit),
        TEST(test_second_request_is_rejected_and_the_first_goes_on),
        TEST(test_other_roles_are_rejected),
        TEST(test_get_values),
        TEST(test_management_inside_a_parameter),
        TEST(test_unknown_management_types),
        TEST(test_records_of_other_ids_are_ignored),
        TEST(test_body_of_an_answered_request_is_ignored),
        TEST(test_request_ended_inside_a_record),
        TEST(test_request_ended_inside_a_parameter),
        TEST(test_abort),
        TEST(test_nothing_of_a_request_after_its_abort),
        TEST(test_abort_of_an_unknown_request_is_ignored),
        TEST(test_parameters_cut_anywhere),
        TEST(test_empty_names_and_values),
        TEST(test_nothing_whole_is_copied),
        TEST(test_pause),
        TEST(test_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
