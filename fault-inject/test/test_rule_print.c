/* parse(print(parse(x))) is parse(x), for rules made at random; and garbage is refused without harm.
 *
 * The seed is ORDEAL_SEED or a fixed one, and stands in every failure. */
#include "fault-inject/rule/fields.h"
#include "fault-inject/rule/number.h"
#include "fault-inject/rule/words.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum { RULES_TRIED = 10000, GARBAGE_TRIED = 15000 };

static struct control_page *page;
static struct diagnostics errors;
static uint64_t seed, state_of_draws;

static uint64_t draw(uint64_t below)
{
    uint64_t z = state_of_draws += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (z ^ (z >> 31)) % below;
}

static const char *pick(const char *const *words, size_t count)
{
    return words[draw(count)];
}

static bool parse(const char *text, struct rule *rule)
{
    struct source_line line = {"-f", 1, true, span_of(text)};
    errors.count = 0;
    return rule_parse(&line, line.text, page, rule, NULL, &errors);
}

static const char *const when_parts[] = {
    ":nth=3",         ":nth=3+2",    ":nth=3..9",  ":nth=1+7..1000", ":p=0.013",     ":p=33%",
    ":p=1e-7",        ":times=4",    ":fd=socket", ":fd=pipe,file",  ":path=/tmp/*", ":path=a\\:b",
    ":size>=2M",      ":size<17",    ":size=1025", ":shared",        ":robust",      ":caller=lib*:f?",
    ":caller=*:main", ":caller=x:*", ":thread=2",  ":proc=16384",    ":after=m1"};
static const char *const then_parts[] = {
    ":errno=EINTR", ":errno=EIO!",     ":errno=ENOMEM", ":errno=EAGAIN", ":oom",
    ":short=1",     ":short=3K",       ":delay=1.5ms",  ":delay=90s",    ":die",
    ":exit",        ":exit=0",         ":pause=r1",     ":pause=r2/5ms", ":wake=r3",
    ":mark=m2",     ":signal=TERM",    ":signal=34",    ":drop",         ":skew=-1.25s",
    ":skew=+3600s", ":errno=EAI_AGAIN"};

static void random_rule(char *text, size_t size)
{
    struct writer writer = {text, size, 0};
    for (uint64_t i = 0, calls = 1 + draw(3); i < calls; i++)
        if (draw(4) == 0)
            writer_add(&writer, "%s@%s", i > 0 ? "|" : "", hook_family_name[draw(FAMILY_COUNT)]);
        else
            writer_add(&writer, "%s%s", i > 0 ? "|" : "", hook_table[draw(HOOK_COUNT)].name);
    for (uint64_t i = draw(3); i > 0; i--)
        writer_add(&writer, "%s", pick(when_parts, LENGTH(when_parts)));
    for (uint64_t i = 1 + draw(2); i > 0; i--)
        writer_add(&writer, "%s", pick(then_parts, LENGTH(then_parts)));
}

/* Everything but the text as it was written. */
static bool same(struct rule *a, struct rule *b)
{
    memset(a->text, 0, sizeof a->text);
    memset(b->text, 0, sizeof b->text);
    return memcmp(a, b, sizeof *a) == 0;
}

/* Returns whether the text was a rule at all. */
static bool goes_round(const char *text)
{
    struct rule first, second;
    char printed[1024], again[1024];
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    if (!parse(text, &first))
        return false;
    size_t length = rule_print(&first, page, printed, sizeof printed);
    assert_true(length < sizeof printed);
    if (length >= CONTROL_RULE_TEXT_MAX)
        return true; /* longer than a rule may be: many calls of several families */
    if (!parse(printed, &second)) {
        diagnostics_print(&errors, stderr, false);
        fail_msg("seed %" PRIu64 ": %s is printed as %s, which is refused", seed, text, printed);
    }
    if (!same(&first, &second))
        fail_msg("seed %" PRIu64 ": %s is printed as %s, which is another rule", seed, text, printed);
    rule_print(&second, page, again, sizeof again);
    assert_string_equal(printed, again);
    return true;
}

static void random_rules_go_round(void **state)
{
    (void)state;
    char text[512];
    size_t good = 0;
    for (int i = 0; i < RULES_TRIED; i++) {
        random_rule(text, sizeof text);
        good += goes_round(text);
    }
    if (good < RULES_TRIED / 20)
        fail_msg("seed %" PRIu64 ": only %zu of %d random rules were good", seed, good, RULES_TRIED);
}

static void canonical(const char *text, const char *expected)
{
    struct rule rule;
    char printed[1024];
    if (!parse(text, &rule)) {
        diagnostics_print(&errors, stderr, false);
        fail_msg("refused: %s", text);
    }
    rule_print(&rule, page, printed, sizeof printed);
    assert_string_equal(printed, expected);
}

static void the_canonical_text(void **state)
{
    (void)state;
    canonical(" open64 : errno=EIO : nth=3..3 ", "open:nth=3:errno=EIO");
    canonical("write|read:delay=1000ms:p=1%", "read|write:p=0.01:delay=1s");
    canonical("mmap:oom:size>=2048K", "mmap:size>=2M:errno=ENOMEM");
    canonical("flock:errno=EWOULDBLOCK", "flock:errno=EAGAIN");
    canonical("flock:errno=EINTR!", "flock:errno=EINTR");
    canonical("flock:errno=EIO!", "flock:errno=EIO!");
    canonical("@file:errno=EIO!", "@file:errno=EIO!");
    canonical("@socket:fd=socket:short=1", "@socket:fd=socket:short=1");
    canonical("@lock|@time:delay=1us", "@time|flock|fcntl|lockf:delay=1us");
    canonical("read:pause=a/10s:exit=1:wake=b", "read:exit:pause=a:wake=b");
    canonical("read:fd=pipe,socket:signal=15", "read:fd=socket,pipe:signal=TERM");
    canonical("time:skew=5s", "time:skew=+5s");
    canonical("malloc:caller=*:main:oom", "malloc:caller=*:main:errno=ENOMEM");
    canonical("malloc:caller=libc::oom", "malloc:caller=libc:*:errno=ENOMEM");
    canonical("open:path=a\\:b\\c:die", "open:path=a\\:b\\\\c:die");
}

static void printing_says_how_much_room_it_needs(void **state)
{
    (void)state;
    struct rule rule;
    char small[8], large[64];
    assert_true(parse("flock:nth=2:errno=EINTR", &rule));
    assert_int_equal(rule_print(&rule, page, small, sizeof small), 23);
    assert_string_equal(small, "flock:n");
    assert_int_equal(rule_print(&rule, page, NULL, 0), 23);
    assert_int_equal(rule_print(&rule, page, large, sizeof large), 23);
}

static void numbers_are_read_as_printed(void **state)
{
    (void)state;
    char text[NUMBER_TEXT_MAX];
    for (int i = 0; i < RULES_TRIED; i++) {
        uint64_t size = draw(UINT64_MAX) >> (1 + draw(63)), size_back = ~size;
        number_print_size(size, text);
        assert_true(number_size(span_of(text), &size_back));
        assert_int_equal(size, size_back);
        int64_t time_ns = (int64_t)(draw((uint64_t)DURATION_NS_MAX) >> draw(61)), time_back = -1;
        number_print_duration_ns(time_ns, text);
        assert_true(number_duration_ns(span_of(text), &time_back));
        assert_int_equal(time_ns, time_back);
        uint64_t chance = number_chance_threshold((double)draw(1000000) / 1e6), chance_back = ~chance;
        number_print_chance(chance, text);
        assert_true(number_chance(span_of(text), &chance_back));
        assert_int_equal(chance, chance_back);
    }
}

/* Rules with bytes changed, dropped and doubled: most are wrong, none may do harm. */
static void garbage_is_refused_without_harm(void **state)
{
    (void)state;
    char text[512];
    for (int i = 0; i < GARBAGE_TRIED; i++) {
        random_rule(text, sizeof text);
        size_t length = strlen(text);
        for (uint64_t changes = 1 + draw(6); changes > 0; changes--)
            text[draw(length)] = "=:|@\\.+-!%/#,<> \t0K9aE\x01\xff"[draw(24)];
        goes_round(text);
    }
    for (int i = 0; i < GARBAGE_TRIED; i++) {
        size_t length = draw(sizeof text - 1);
        for (size_t at = 0; at < length; at++)
            text[at] = (char)(1 + draw(255));
        text[length] = '\0';
        goes_round(text);
    }
}

static int set_up(void **state)
{
    (void)state;
    const char *given = getenv("ORDEAL_SEED");
    seed = given != NULL ? strtoull(given, NULL, 10) : 1;
    state_of_draws = seed;
    page = aligned_alloc(_Alignof(struct control_page), sizeof *page);
    if (page != NULL)
        memset(page, 0, sizeof *page);
    return page != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(page);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_rules_go_round),           TEST(the_canonical_text),
        TEST(numbers_are_read_as_printed),     TEST(printing_says_how_much_room_it_needs),
        TEST(garbage_is_refused_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
