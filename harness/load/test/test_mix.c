#include "harness/load/mix.h"
#include "harness/load/test/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct mix mix;
static char error[MIX_ERROR_BYTES];
static const char marker[MARKER_BYTES + 1] = "4f6cdd1d-00000000ff";

static const char *expanded(const struct template *template, uint64_t number)
{
    static char text[4096];
    struct template_values values = {.seed = 7, .number = number, .marker = marker};
    char *end = template_expand(template, &values, text);
    assert_true((size_t)(end - text) <= template->bytes_max);
    *end = '\0';
    return text;
}

static void test_a_whole_mix(void **state)
{
    (void)state;
    static const char text[] = "# a shop\n"
                               "\n"
                               "40 GET /hello.php   # the front page\n"
                               "  2 GET /fatal.php expect=500 marker=off name=fatal\r\n"
                               " 1 POST /up.php?a=1&b=2 body=8M marker=body\n"
                               "1 POST /index.php/a/b?x body=text:n={n} \"header:Cookie=a=1; b={n}\"\n";
    assert_true(mix_read_text(&mix, "shop.mix", text, error));
    assert_int_equal(mix.count, 4);
    assert_int_equal(mix.weight_sum, 44);
    assert_string_equal(mix.lines[0].method, "GET");
    assert_string_equal(mix.lines[0].target, "/hello.php");
    assert_int_equal(mix.lines[0].expect, 200);
    assert_int_equal(mix.lines[1].expect, 500);
    assert_int_equal(mix.lines[1].marker, MARKER_OFF);
    assert_string_equal(mix.lines[1].name, "fatal");
    assert_int_equal(mix.lines[2].body_bytes, 8 << 20);
    assert_int_equal(mix.lines[2].marker, MARKER_BODY);
    assert_string_equal(expanded(&mix.lines[2].query, 1), "a=1&b=2");
    assert_string_equal(expanded(&mix.lines[3].script, 1), "/index.php");
    assert_string_equal(expanded(&mix.lines[3].path_info, 1), "/a/b");
    assert_string_equal(expanded(&mix.lines[3].body_text, 12), "n=12");
    assert_string_equal(mix.lines[3].headers[0].name, "Cookie");
    assert_string_equal(expanded(&mix.lines[3].headers[0].value, 12), "a=1; b=12");
    mix_free(&mix);
}

static void test_placeholders(void **state)
{
    (void)state;
    assert_true(mix_read_text(&mix, "m", "1 GET /a?n={n}&m={marker}&s={sid:4}&r={random:10}\n", error));
    const struct template *query = &mix.lines[0].query;
    char first[4096];
    snprintf(first, sizeof first, "%s", expanded(query, 99));
    assert_string_equal(first, expanded(query, 99)); /* the same request, the same values */
    assert_non_null(strstr(first, "n=99&m=4f6cdd1d-00000000ff&s="));
    mix_free(&mix);
}

static void test_sid_takes_exactly_its_number_of_values(void **state)
{
    (void)state;
    char seen[5][64];
    size_t count = 0;
    assert_true(mix_read_text(&mix, "m", "1 GET /a?{sid:5}\n", error));
    for (uint64_t number = 0; number < 2000; number++) {
        const char *sid = expanded(&mix.lines[0].query, number);
        assert_int_equal(strlen(sid), 32);
        size_t i = 0;
        while (i < count && strcmp(seen[i], sid) != 0)
            i++;
        if (i == count) {
            assert_true(count < 5);
            snprintf(seen[count++], 64, "%s", sid);
        }
    }
    assert_int_equal(count, 5);
    mix_free(&mix);
}

static void test_lines_are_chosen_by_weight(void **state)
{
    (void)state;
    struct dice dice = dice_new();
    uint64_t counts[3] = {0};
    assert_true(mix_read_text(&mix, "m", "6 GET /a\n3 GET /b\n1 GET /c\n", error));
    for (uint64_t number = 0; number < 100000; number++)
        counts[mix_choose(&mix, dice.seed, number) - mix.lines]++;
    assert_in_range(counts[0], 59000, 61000);
    assert_in_range(counts[1], 29000, 31000);
    assert_in_range(counts[2], 9000, 11000);
    mix_free(&mix);
}

/* Each bad text, and what its message must say: where, what was expected, the word that was meant. */
static const struct {
    const char *text, *says;
} bad[] = {
    {"", "m:1:1: no request in it, expected a line such as: 1 GET /hello.php"},
    {"# only a comment\n", "m:1:1: no request"},
    {"x GET /a", "m:1:1: weight 'x', expected a whole number of 1 to 1000000"},
    {"0 GET /a", "m:1:1: weight '0', expected"},
    {"1", "m:1:2: line ends, expected a method"},
    {"1 GET", "m:1:6: line ends, expected a target"},
    {"1 GTE /a", "m:1:3: unknown method 'GTE', expected one of GET, POST"},
    {"1 GTE /a", "did you mean 'GET'?"},
    {"1 GET a", "m:1:7: target 'a' does not begin with '/'"},
    {"1 GET \"/a b\"", "m:1:10: a target has no spaces"},
    {"1 GET /a\n 1  GET /b  expct=200", "m:2:13: unknown option 'expct='"},
    {"1 GET /b expct=200", "did you mean 'expect='?"},
    {"1 GET /b expect=20", "m:1:17: expect='20', expected a status"},
    {"1 GET /b expect=600", "m:1:17: expect='600'"},
    {"1 GET /b marker=boddy",
     "m:1:17: unknown marker mode 'boddy', expected one of header, body, off; did you mean 'body'?"},
    {"1 GET /b body=8X", "m:1:15: body='8X', expected a size"},
    {"1 GET /b body=2G", "m:1:15: body='2G', expected a size up to 1G"},
    {"1 GET /b body=1 body=2", "m:1:22: a second body="},
    {"1 GET /b body=@/no/such/file", "m:1:15: cannot read /no/such/file: No such file"},
    {"1 GET /b name=", "m:1:15: name= is empty"},
    {"1 GET /b header:X", "m:1:17: header:X has no value"},
    {"1 GET /b header:X:Y=1", "m:1:17: 'X:Y' is not a header name"},
    {"1 GET /b \"header:X=1", "m:1:10: '\"' without a closing"},
    {"1 GET /b?x={sdi:3}", "m:1:12: unknown placeholder '{sdi}', expected {n}, {marker}, {sid:COUNT}"},
    {"1 GET /b?x={sdi:3}", "did you mean 'sid'?"},
    {"1 GET /b?x={sid}", "m:1:12: {sid} needs a count"},
    {"1 GET /b?x={sid:0}", "m:1:12: {sid} needs a count"},
    {"1 GET /b?x={n:3}", "m:1:12: {n} takes no count"},
    {"1 GET /b?x={n", "m:1:12: '{' without '}'"},
};

static void test_each_error_says_where_and_what(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error[0] = '\0';
        if (mix_read_text(&mix, "m", bad[i].text, error) || strstr(error, bad[i].says) == NULL)
            fail_msg("'%s': expected '%s', got '%s'", bad[i].text, bad[i].says, error);
        mix_free(&mix);
    }
}

static void test_too_much_is_refused(void **state)
{
    (void)state;
    static char text[MIX_LINE_BYTES_MAX + 64];
    static char many[(MIX_LINES_MAX + 1) * 9 + 1];
    memset(text, 'a', sizeof text - 1);
    memcpy(text, "1 GET /", 7);
    assert_false(mix_read_text(&mix, "m", text, error));
    assert_non_null(strstr(error, "m:1:1: line longer than 4096 bytes"));
    mix_free(&mix);
    for (size_t i = 0; i <= MIX_LINES_MAX; i++)
        memcpy(many + i * 9, "1 GET /a\n", 9);
    assert_false(mix_read_text(&mix, "m", many, error));
    assert_non_null(strstr(error, "m:257:1: too many kinds of request"));
    mix_free(&mix);
}

static void test_random_text_never_breaks_the_reader(void **state)
{
    (void)state;
    static const char *const scraps[] = {"1",       " ",     "GET",  "/a",      "{",     "}",       "{n}",
                                         "body=",   "8M",    "\"",   "#",       "\n",    "header:", "=",
                                         "expect=", "text:", "\x80", "{sid:2}", ".php/", "?"};
    struct dice dice = dice_new();
    for (int round = 0; round < 20000; round++) {
        char text[256] = "";
        for (uint64_t i = dice_roll(&dice, 20); i > 0; i--)
            strcat(text, scraps[dice_roll(&dice, sizeof scraps / sizeof scraps[0])]);
        error[0] = '\0';
        bool good = mix_read_text(&mix, "m", text, error);
        assert_true(good == (error[0] == '\0'));
        mix_free(&mix);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_mix),
        cmocka_unit_test(test_placeholders),
        cmocka_unit_test(test_sid_takes_exactly_its_number_of_values),
        cmocka_unit_test(test_lines_are_chosen_by_weight),
        cmocka_unit_test(test_each_error_says_where_and_what),
        cmocka_unit_test(test_too_much_is_refused),
        cmocka_unit_test(test_random_text_never_breaks_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
