/* Both codecs: what they write, and what they make of good, cut, and hostile answers, in whatever pieces. */
#include "harness/load/protocol.h"
#include "harness/load/test/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(text) (text), sizeof(text) - 1

/* Records of an answer: type, content length, padding, request id 1. */
#define OUT(length, padding) "\x01\x06\x00\x01\x00" length padding "\x00"
#define ERR(length) "\x01\x07\x00\x01\x00" length "\x00\x00"
#define END "\x01\x03\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
#define END_STATUS(status) "\x01\x03\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00" status "\x00\x00\x00"
#define HELLO                                                                                                \
    OUT("\x16", "\x02")                                                                                      \
    "Status: 404 No\r\n\r\nbody"                                                                             \
    "??"

struct feed_case {
    const struct protocol *protocol;
    const char *bytes;
    size_t count;
    enum progress progress;
    int status;
    uint64_t body_bytes;
    const char *reason; /* PROGRESS_BAD: what the message begins with */
};

#define FCGI(text, ...)                                                                                      \
    {                                                                                                        \
        &protocol_fcgi, BYTES(text), __VA_ARGS__                                                             \
    }
#define HTTP(text, ...)                                                                                      \
    {                                                                                                        \
        &protocol_http, BYTES(text), __VA_ARGS__                                                             \
    }

static const struct feed_case cases[] = {
    FCGI(HELLO END, PROGRESS_DONE, 404, 4, NULL),
    FCGI(OUT("\x05", "\x00") "a: b\n" OUT("\x02", "\x00") "\nx" OUT("\x00", "\x00") END, PROGRESS_DONE, 200,
         1, NULL),
    FCGI(ERR("\x03") "oh\n" HELLO ERR("\x01") "!" END, PROGRESS_DONE, 404, 4, NULL),
    FCGI(OUT("\x02", "\xff") "\r\n", PROGRESS_MORE, 200, 0, NULL),
    FCGI(END_STATUS("\x02"), PROGRESS_DONE, 0, 0, NULL),
    FCGI(HELLO, PROGRESS_MORE, 404, 4, NULL),
    FCGI(HELLO "\x01\x03\x00\x01\x00\x08\x00\x00\x00", PROGRESS_MORE, 404, 4, NULL),
    FCGI("\x02\x06\x00\x01\x00\x00\x00\x00", PROGRESS_BAD, 0, 0,
         "malformed at byte 0: record version 2, expected 1"),
    FCGI("\x01\x06\x00\x02\x00\x00\x00\x00", PROGRESS_BAD, 0, 0,
         "malformed at byte 2: record of request id 2, expected 1"),
    FCGI("\x01\x0e\x00\x01\x00\x00\x00\x00", PROGRESS_BAD, 0, 0,
         "malformed at byte 1: record type 14, expected STDOUT (6), STDERR (7) or END_REQUEST (3)"),
    FCGI("\x01\x03\x00\x01\x00\x07\x00\x00", PROGRESS_BAD, 0, 0,
         "malformed at byte 4: END_REQUEST of 7 bytes, expected 8"),
    FCGI(HELLO END_STATUS("\x09"), PROGRESS_BAD, 404, 4,
         "malformed at byte 44: protocolStatus 9 in END_REQUEST"),
    FCGI(END, PROGRESS_BAD, 0, 0, "malformed at byte 0: END_REQUEST without any STDOUT"),
    FCGI(OUT("\x05", "\x00") "a: b\n" END, PROGRESS_BAD, 0, 0,
         "malformed at byte 13: END_REQUEST inside the header block"),
    FCGI(OUT("\x00", "\x00") HELLO, PROGRESS_BAD, 0, 0, "malformed at byte 9: STDOUT after its end"),
    FCGI(OUT("\x06", "\x00") "a: b\n\n" END "x", PROGRESS_BAD, 200, 0,
         "malformed at byte 30: more bytes after END_REQUEST"),
    FCGI(OUT("\x14", "\x00") "Content-Length: 5\n\nx" END, PROGRESS_BAD, 200, 1,
         "malformed at byte 28: END_REQUEST after 1 bytes of body, expected the 5 of Content-Length"),
    FCGI(OUT("\x0f", "\x00") "Status: hello\n\n" END, PROGRESS_BAD, 0, 0, "malformed at byte 16: bad Status"),
    FCGI(OUT("\x0d", "\x00") "no colon here\n", PROGRESS_MORE, 0, 0, NULL),
    FCGI(OUT("\x08", "\x00") "nothing\n", PROGRESS_BAD, 0, 0, "malformed at byte 15: bad header line"),
    FCGI(OUT("\x06", "\x00") "a: \x01\n\n", PROGRESS_BAD, 0, 0, "malformed at byte 11: control byte 0x01"),
    HTTP("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", PROGRESS_DONE, 200, 5, NULL),
    HTTP("HTTP/1.1 204 No Content\r\n\r\n", PROGRESS_DONE, 204, 0, NULL),
    HTTP("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", PROGRESS_DONE, 200, 0,
         NULL),
    HTTP("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: "
         "x\r\n\r\n",
         PROGRESS_DONE, 200, 13, NULL),
    HTTP("HTTP/1.0 200 OK\r\n\r\nuntil the end", PROGRESS_MORE, 200, 13, NULL),
    HTTP("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", PROGRESS_MORE, 200, 4, NULL),
    HTTP("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhello", PROGRESS_BAD, 200, 4,
         "malformed at byte 42: more bytes after the answer"),
    HTTP("HTTQ/1.1 200 OK\r\n", PROGRESS_BAD, 0, 0,
         "malformed at byte 3: bad status line, expected 'HTTP/1.1 200 ...'"),
    HTTP("HTTP/2.0 200 OK\r\n", PROGRESS_BAD, 0, 0, "malformed at byte 5: bad status line"),
    HTTP("HTTP/1.1 600 Huh\r\n", PROGRESS_BAD, 0, 0, "malformed at byte 9: bad status"),
    HTTP("HTTP/1.1 200 OK\n\n", PROGRESS_BAD, 0, 0, "malformed at byte 15: LF without CR"),
    HTTP("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", PROGRESS_BAD, 200, 0,
         "malformed at byte 64: Content-Length and Transfer-Encoding"),
    HTTP("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", PROGRESS_BAD, 200, 0,
         "malformed at byte 52: a second, different Content-Length"),
    HTTP("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", PROGRESS_BAD, 200, 0,
         "malformed at byte 33: bad Content-Length"),
    HTTP("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", PROGRESS_BAD, 200, 0,
         "malformed at byte 36: bad Transfer-Encoding, expected chunked"),
    HTTP("HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", PROGRESS_BAD, 200, 0,
         "malformed at byte 17: bad header line"),
    HTTP("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", PROGRESS_BAD, 200, 0,
         "malformed at byte 47: bad chunk size"),
    HTTP("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", PROGRESS_BAD, 200, 2,
         "malformed at byte 52: bytes after the chunk"),
    HTTP("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1234567890123\r\n", PROGRESS_BAD, 200, 0,
         "malformed at byte 59: chunk size over 12 digits"),
    HTTP("HTTP/1.1 200 OK\r\nX-Ordeal-Marker: a\r\nx-ordeal-marker: b\r\n\r\n", PROGRESS_BAD, 200, 0,
         "malformed at byte 54: a second X-Ordeal-Marker"),
};
#define CASES (sizeof cases / sizeof cases[0])

static struct decoder decoder;

/* Pieces of 1 .. piece_max bytes, each in memory of its own, so that a sanitizer sees a read past its end. */
static enum progress feed(const struct feed_case *feed_case, struct dice *dice, uint64_t piece_max)
{
    enum progress progress = PROGRESS_MORE;
    decoder_begin(&decoder, false, true);
    for (size_t at = 0; at < feed_case->count && progress != PROGRESS_BAD;) {
        size_t count = (size_t)(1 + dice_roll(dice, piece_max));
        if (count > feed_case->count - at)
            count = feed_case->count - at;
        char *piece = malloc(count);
        assert_non_null(piece);
        memcpy(piece, feed_case->bytes + at, count);
        progress = feed_case->protocol->feed(&decoder, piece, count);
        free(piece);
        at += count;
    }
    return progress;
}

static void check(const struct feed_case *feed_case, enum progress progress)
{
    const struct answer *answer = &decoder.answer;
    if (progress != feed_case->progress || answer->status != feed_case->status ||
        answer->body_bytes != feed_case->body_bytes)
        fail_msg("case %td (%s): progress %d, status %d, body %llu, reason '%s'", feed_case - cases,
                 feed_case->bytes, progress, answer->status, (unsigned long long)answer->body_bytes,
                 decoder.reason);
    if (feed_case->reason != NULL &&
        strncmp(decoder.reason, feed_case->reason, strlen(feed_case->reason)) != 0)
        fail_msg("case %td: expected '%s', got '%s'", feed_case - cases, feed_case->reason, decoder.reason);
}

static void test_answers_fed_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        decoder_begin(&decoder, false, true);
        check(&cases[i], cases[i].protocol->feed(&decoder, cases[i].bytes, cases[i].count));
    }
}

static void test_answers_fed_byte_by_byte(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    for (size_t i = 0; i < CASES; i++)
        check(&cases[i], feed(&cases[i], &dice, 1));
}

static void test_answers_fed_in_random_pieces(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    for (int round = 0; round < 300; round++) {
        for (size_t i = 0; i < CASES; i++)
            check(&cases[i], feed(&cases[i], &dice, 20));
    }
}

static void test_a_cut_answer_is_never_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        if (cases[i].progress != PROGRESS_DONE)
            continue;
        for (size_t count = 0; count < cases[i].count; count++) {
            decoder_begin(&decoder, false, true);
            assert_int_equal(cases[i].protocol->feed(&decoder, cases[i].bytes, count), PROGRESS_MORE);
            assert_int_equal(cases[i].protocol->closed(&decoder), PROGRESS_MORE);
        }
    }
}

static void test_closing_ends_only_an_http_answer_without_length(void **state)
{
    (void)state;
    decoder_begin(&decoder, false, false);
    assert_int_equal(protocol_http.feed(&decoder, BYTES("HTTP/1.1 200 OK\r\n\r\nabc")), PROGRESS_MORE);
    assert_int_equal(protocol_http.closed(&decoder), PROGRESS_DONE);
    assert_true(decoder.answer.will_close);
}

static void test_changed_bytes_never_break_the_decoders(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    for (int round = 0; round < 50000; round++) {
        struct feed_case changed = cases[dice_roll(&dice, CASES)];
        char bytes[256];
        memcpy(bytes, changed.bytes, changed.count);
        for (uint64_t i = dice_roll(&dice, 4); i > 0; i--)
            bytes[dice_roll(&dice, changed.count)] = (char)dice_roll(&dice, 256);
        changed.bytes = bytes;
        enum progress progress = feed(&changed, &dice, 40);
        assert_true((progress == PROGRESS_BAD) == (decoder.reason[0] != '\0'));
        assert_true(decoder.offset <= changed.count);
    }
}

static void test_the_last_bytes_of_a_body_are_kept(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    static char body[5000];
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (char)('a' + dice_roll(&dice, 26));
    for (int round = 0; round < 200; round++) {
        size_t total = (size_t)dice_roll(&dice, sizeof body);
        decoder_begin(&decoder, false, true);
        for (size_t at = 0, count; at < total; at += count) {
            count = (size_t)(1 + dice_roll(&dice, 300));
            if (count > total - at)
                count = total - at;
            decoder_body(&decoder, body + at, count);
        }
        size_t kept = total < ANSWER_TAIL_BYTES ? total : ANSWER_TAIL_BYTES;
        assert_int_equal(decoder.answer.tail_bytes, kept);
        assert_memory_equal(decoder.answer.tail, body + total - kept, kept);
        size_t head = total < ANSWER_HEAD_BYTES ? total : ANSWER_HEAD_BYTES;
        assert_memory_equal(decoder.answer.head, body, head);
    }
}

static void test_header_limits(void **state)
{
    (void)state;
    static char line[LINE_BYTES_MAX + 2];
    memset(line, 'a', sizeof line);
    decoder_begin(&decoder, false, false);
    protocol_http.feed(&decoder, BYTES("HTTP/1.1 200 OK\r\n"));
    assert_int_equal(protocol_http.feed(&decoder, line, sizeof line), PROGRESS_BAD);
    assert_non_null(strstr(decoder.reason, "malformed at byte 17: header line over 8192"));
    decoder_begin(&decoder, false, false);
    protocol_http.feed(&decoder, BYTES("HTTP/1.1 200 OK\r\n"));
    enum progress progress = PROGRESS_MORE;
    int lines = 0;
    while (progress == PROGRESS_MORE && lines++ < 100000)
        progress = protocol_http.feed(&decoder, BYTES("X-Again: and again\r\n"));
    assert_int_equal(progress, PROGRESS_BAD);
    assert_in_range(lines, HEADER_BYTES_MAX / 20 - 1, HEADER_BYTES_MAX / 20 + 1);
}

/* ---- writing ---- */

static struct mix mix;
static struct wire_plan plan;
static struct wire_settings settings = {
    .root = "/srv/www", .host = "localhost", .seed = 1, .keep_alive = true};
static unsigned char head[65536];

static size_t write_request(const struct protocol *protocol, const char *line, struct request *request)
{
    char error[MIX_ERROR_BYTES];
    assert_true(mix_read_text(&mix, "m", line, error));
    plan = (struct wire_plan){.line = &mix.lines[0]};
    assert_true(protocol->plan(&plan, &settings, error, sizeof error));
    *request = (struct request){
        .plan = &plan, .number = 255, .body = mix.lines[0].body, .body_bytes = mix.lines[0].body_bytes};
    marker_write(request->marker, 1, 255);
    size_t count = protocol->write_head(request, &settings, head);
    assert_true(count <= plan.head_bytes_max);
    return count;
}

static void free_request(void)
{
    free(plan.fixed);
    for (size_t i = 0; i < MIX_HEADERS_MAX; i++)
        free(plan.header_names[i]);
    mix_free(&mix);
}

static void test_an_http_request(void **state)
{
    (void)state;
    struct request request;
    size_t count = write_request(&protocol_http, "1 POST /a.php/b?n={n} body=5 header:X-A={n}", &request);
    static const char expected[] =
        "POST /a.php/b?n=255 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ordeal-load\r\n"
        "Content-Type: application/octet-stream\r\n"
        "X-Ordeal-Marker: bfa9b4d4-00000000ff\r\nX-A: 255\r\nContent-Length: 5\r\n\r\n";
    head[count] = '\0';
    char *marker = strstr((char *)head, "X-Ordeal-Marker: ");
    assert_non_null(marker);
    assert_memory_equal(marker + 17, request.marker, MARKER_BYTES);
    memcpy(marker + 17, "bfa9b4d4-00000000ff", MARKER_BYTES);
    assert_string_equal((char *)head, expected);
    free_request();
}

/* Reads a name-value length; moves *at. */
static size_t read_length(const unsigned char **at)
{
    size_t length = *(*at)++;
    if (length < 128)
        return length;
    length = (length & 127) << 24 | (size_t)(*at)[0] << 16 | (size_t)(*at)[1] << 8 | (*at)[2];
    *at += 3;
    return length;
}

static void find_param(const unsigned char *at, const unsigned char *end, const char *name, char *value)
{
    strcpy(value, "(not there)");
    while (at < end) {
        size_t name_bytes = read_length(&at), value_bytes = read_length(&at);
        assert_true(at + name_bytes + value_bytes <= end);
        if (name_bytes == strlen(name) && memcmp(at, name, name_bytes) == 0) {
            memcpy(value, at + name_bytes, value_bytes);
            value[value_bytes] = '\0';
        }
        at += name_bytes + value_bytes;
    }
    assert_ptr_equal(at, end);
}

static void test_a_fastcgi_request(void **state)
{
    (void)state;
    static const char *const params[][2] = {
        {"SCRIPT_FILENAME", "/srv/www/a.php"},
        {"SCRIPT_NAME", "/a.php"},
        {"PATH_INFO", "/b"},
        {"QUERY_STRING", "n=255"},
        {"REQUEST_URI", "/a.php/b?n=255"},
        {"REQUEST_METHOD", "GET"},
        {"HTTP_X_A", "255"},
        {"DOCUMENT_ROOT", "/srv/www"},
        {"CONTENT_LENGTH", ""},
        {"CONTENT_TYPE", "(not there)"},
    };
    struct request request;
    size_t count = write_request(&protocol_fcgi, "1 GET /a.php/b?n={n} header:X-A={n}", &request);
    static const unsigned char begin[16] = {1, 1, 0, 1, 0, 8, 0, 0, 0, 1, 1};
    assert_memory_equal(head, begin, sizeof begin);
    assert_int_equal(head[17], 4);
    const unsigned char *start = head + 24;
    const unsigned char *end = start + ((size_t)head[20] << 8 | head[21]);
    static const unsigned char ends[16] = {1, 4, 0, 1, 0, 0, 0, 0, 1, 5, 0, 1};
    assert_int_equal(head + count - end, sizeof ends);
    assert_memory_equal(end, ends, sizeof ends);
    char value[8192];
    for (size_t i = 0; i < sizeof params / sizeof params[0]; i++) {
        find_param(start, end, params[i][0], value);
        assert_string_equal(value, params[i][1]);
    }
    find_param(start, end, "HTTP_X_ORDEAL_MARKER", value);
    assert_memory_equal(value, request.marker, MARKER_BYTES);
    free_request();
}

static void test_long_parameters(void **state)
{
    (void)state;
    static char line[4000], value[8192];
    memset(line, 'q', sizeof line - 1);
    memcpy(line, "1 GET /a.php?", 13);
    struct request request;
    write_request(&protocol_fcgi, line, &request);
    const unsigned char *start = head + 24;
    find_param(start, start + ((size_t)head[20] << 8 | head[21]), "QUERY_STRING", value);
    assert_string_equal(value, line + 13);
    free_request();
}

/* Whatever the offset it is asked for, the wire form of a body is the same bytes. */
static void test_a_body_can_be_resumed_anywhere(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 7, 65527, 65528, 65529, 131056, 200000};
    const struct protocol *protocols[] = {&protocol_fcgi, &protocol_http};
    struct dice dice = dice_new();
    static unsigned char body[200000], whole[201000];
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (unsigned char)dice_roll(&dice, 256);
    for (size_t which = 0; which < 14; which++) {
        const struct protocol *protocol = protocols[which % 2];
        struct request request = {.body = body, .body_bytes = sizes[which / 2]};
        uint64_t total = protocol->body_wire_bytes(request.body_bytes);
        for (int round = 0; round < 50; round++) {
            uint64_t offset = 0;
            while (offset < total) {
                struct iovec iov[8];
                int pieces = protocol->body_pieces(&request, offset, iov, (int)(2 + dice_roll(&dice, 7)));
                assert_true(pieces > 0);
                uint64_t taken = dice_roll(&dice, 3) == 0 ? 1 + dice_roll(&dice, 70000) : UINT64_MAX;
                if (round > 0 && offset % 65536 < 20)
                    taken = 1; /* single steps over the headers */
                else if (round > 0 && taken > total - offset && total - offset > 20)
                    taken = total - offset - 20;
                else if (round > 0 && total - offset <= 20)
                    taken = 1;
                for (int i = 0; i < pieces && taken > 0; i++) {
                    size_t count = iov[i].iov_len < taken ? iov[i].iov_len : (size_t)taken;
                    assert_true(offset + count <= total);
                    if (round == 0)
                        memcpy(whole + offset, iov[i].iov_base, count);
                    assert_memory_equal(whole + offset, iov[i].iov_base, count);
                    offset += count;
                    taken -= count;
                }
            }
            assert_int_equal(offset, total);
        }
    }
}

static void test_a_fastcgi_body_is_records_and_an_empty_one(void **state)
{
    (void)state;
    static unsigned char body[70000];
    struct request request = {.body = body, .body_bytes = sizeof body};
    struct iovec iov[16];
    int pieces = protocol_fcgi.body_pieces(&request, 0, iov, 16);
    assert_int_equal(pieces, 5);
    const unsigned char first[8] = {1, 5, 0, 1, 0xff, 0xf8}, second[8] = {1, 5, 0, 1, 0x11, 0x78},
                        last[8] = {1, 5, 0, 1};
    assert_memory_equal(iov[0].iov_base, first, 8);
    assert_memory_equal(iov[2].iov_base, second, 8);
    assert_memory_equal(iov[4].iov_base, last, 8);
    assert_int_equal(protocol_fcgi.body_wire_bytes(sizeof body), sizeof body + 24);
    assert_int_equal(protocol_fcgi.body_wire_bytes(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_fed_whole),
        cmocka_unit_test(test_answers_fed_byte_by_byte),
        cmocka_unit_test(test_answers_fed_in_random_pieces),
        cmocka_unit_test(test_a_cut_answer_is_never_complete),
        cmocka_unit_test(test_closing_ends_only_an_http_answer_without_length),
        cmocka_unit_test(test_changed_bytes_never_break_the_decoders),
        cmocka_unit_test(test_the_last_bytes_of_a_body_are_kept),
        cmocka_unit_test(test_header_limits),
        cmocka_unit_test(test_an_http_request),
        cmocka_unit_test(test_a_fastcgi_request),
        cmocka_unit_test(test_long_parameters),
        cmocka_unit_test(test_a_body_can_be_resumed_anywhere),
        cmocka_unit_test(test_a_fastcgi_body_is_records_and_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
