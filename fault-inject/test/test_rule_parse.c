/* The rule language: what each field compiles to, and for each mistake the column and the words of the error.
 */
#include "fault-inject/rule/number.h"
#include "fault-inject/rule/plan.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct control_page *page;
static struct diagnostics errors;
static struct rule_notes notes;

static int set_up(void **state)
{
    (void)state;
    page = aligned_alloc(_Alignof(struct control_page), sizeof *page);
    if (page != NULL)
        memset(page, 0, sizeof *page);
    errors.count = 0;
    return page != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(page);
    return 0;
}

static bool parse(const char *text, struct rule *rule)
{
    struct source_line line = {"-f", 1, true, span_of(text)};
    errors.count = 0;
    return rule_parse(&line, line.text, page, rule, &notes, &errors);
}

static struct rule good(const char *text)
{
    struct rule rule;
    if (!parse(text, &rule)) {
        diagnostics_print(&errors, stderr, false);
        fail_msg("refused: %s", text);
    }
    assert_int_equal(errors.count, 0);
    return rule;
}

static int count_hooks(const struct rule *rule)
{
    int count = 0;
    for (int i = 0; i < HOOK_COUNT; i++)
        count += hook_set_has(rule->hooks, i);
    return count;
}

static void a_rule_names_its_call(void **state)
{
    (void)state;
    struct rule rule = good("flock:nth=2:errno=EINTR");
    assert_int_equal(count_hooks(&rule), 1);
    assert_true(hook_set_has(rule.hooks, HOOK_flock));
    assert_int_equal(rule.conditions, WHEN_NTH);
    assert_int_equal(rule.actions, THEN_ERRNO);
    assert_int_equal(rule.err, EINTR);
    assert_string_equal(rule.text, "flock:nth=2:errno=EINTR");
}

static void other_names_and_several_calls(void **state)
{
    (void)state;
    struct rule rule = good("open64|mmap64|__read_chk:delay=1us");
    assert_int_equal(count_hooks(&rule), 3);
    assert_true(hook_set_has(rule.hooks, HOOK_open));
    assert_true(hook_set_has(rule.hooks, HOOK_mmap));
    assert_true(hook_set_has(rule.hooks, HOOK_read));
}

static void a_family_is_narrowed_to_what_suits(void **state)
{
    (void)state;
    struct rule rule = good("@lock:fd=file:errno=ENOLCK");
    assert_int_equal(count_hooks(&rule), 3);
    rule = good("@file:short=1");
    for (int i = 0; i < HOOK_COUNT; i++)
        assert_true(hook_set_has(rule.hooks, i) ==
                    (hook_table[i].family == FAMILY_FILE && hook_table[i].shortness != SHORTNESS_NONE));
    assert_true(hook_set_has(notes.narrowed, HOOK_fsync));
    assert_false(hook_set_has(notes.narrowed, HOOK_read));
}

static void a_family_and_a_call_of_another(void **state)
{
    (void)state;
    struct rule rule = good("@time|fork:delay=1ms");
    assert_true(hook_set_has(rule.hooks, HOOK_fork));
    assert_true(hook_set_has(rule.hooks, HOOK_sleep));
}

static void assert_nth(const char *text, uint64_t first, uint64_t step, uint64_t last)
{
    struct rule rule = good(text);
    assert_int_equal(rule.nth_first, first);
    assert_int_equal(rule.nth_step, step);
    assert_int_equal(rule.nth_last, last);
}

static void nth_in_all_forms(void **state)
{
    (void)state;
    assert_nth("read:nth=3:die", 3, 0, 3);
    assert_nth("read:nth=3+2:die", 3, 2, UINT64_MAX);
    assert_nth("read:nth=3+2..9:die", 3, 2, 9);
    assert_nth("read:nth=3..9:die", 3, 1, 9);
    assert_nth("read:nth=4..4:die", 4, 0, 4);
    assert_nth("read:nth=1+1:die", 1, 1, UINT64_MAX);
}

static void chances(void **state)
{
    (void)state;
    assert_int_equal(good("read:p=0.5:die").p_threshold, UINT64_C(1) << 63);
    assert_int_equal(good("read:p=50%:die").p_threshold, UINT64_C(1) << 63);
    assert_int_equal(good("read:p=1:die").p_threshold, UINT64_MAX);
    assert_int_equal(good("read:p=100%:die").p_threshold, UINT64_MAX);
    assert_int_equal(good("read:p=0:die").p_threshold, 0);
    assert_true(good("read:p=1e-3:die").p_threshold == good("read:p=0.1%:die").p_threshold);
}

static void sizes_and_comparisons(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t op;
        uint64_t bytes;
    } cases[] = {{"mmap:size>=2M:oom", SIZE_GE, 2 << 20},
                 {"mmap:size=4096:oom", SIZE_EQ, 4096},
                 {"mmap:size<1K:oom", SIZE_LT, 1024},
                 {"mmap:size<=1G:oom", SIZE_LE, 1 << 30},
                 {"mmap:size>0:oom", SIZE_GT, 0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct rule rule = good(cases[i].text);
        assert_int_equal(rule.size_op, cases[i].op);
        assert_int_equal(rule.size_bytes, cases[i].bytes);
        assert_int_equal(rule.err, ENOMEM);
    }
}

static void other_conditions(void **state)
{
    (void)state;
    struct rule rule = good("read:fd=socket,pipe:path=/run/*.sock:thread=3:proc=2:times=5:errno=EIO");
    assert_int_equal(rule.fd_kinds, FD_KIND_SOCKET | FD_KIND_PIPE);
    assert_string_equal(rule.path_glob, "/run/*.sock");
    assert_int_equal(rule.thread, 3);
    assert_int_equal(rule.proc, 2);
    assert_int_equal(rule.times_max, 5);
    rule = good("pthread_mutex_lock:shared:robust:errno=EOWNERDEAD");
    assert_int_equal(rule.conditions, WHEN_SHARED | WHEN_ROBUST);
    assert_int_equal(rule.err, EOWNERDEAD);
}

static void a_path_may_have_quoted_colons(void **state)
{
    (void)state;
    assert_string_equal(good("open:path=/a\\:b/c\\\\d:errno=EIO").path_glob, "/a:b/c\\d");
}

static void a_caller_has_two_globs(void **state)
{
    (void)state;
    struct rule rule = good("malloc:caller=libphp*:zend_*:oom");
    assert_string_equal(rule.caller_library, "libphp*");
    assert_string_equal(rule.caller_function, "zend_*");
    rule = good("malloc:caller=*:main:oom");
    assert_string_equal(rule.caller_library, "");
    assert_string_equal(rule.caller_function, "main");
    rule = good("malloc:caller=libc.so.6::oom");
    assert_string_equal(rule.caller_library, "libc.so.6");
    assert_string_equal(rule.caller_function, "");
}

static void actions_with_values(void **state)
{
    (void)state;
    assert_int_equal(good("read:delay=1.5ms").delay_ns, 1500000);
    assert_int_equal(good("read:delay=2s").delay_ns, 2000000000);
    assert_int_equal(good("read:short=1K").short_bytes, 1024);
    assert_int_equal(good("read:exit").exit_status, 1);
    assert_int_equal(good("read:exit=0").exit_status, 0);
    assert_int_equal(good("read:signal=TERM").signal_number, SIGTERM);
    assert_int_equal(good("read:signal=SIGUSR1").signal_number, SIGUSR1);
    assert_int_equal(good("read:signal=9").signal_number, 9);
    assert_int_equal(good("clock_gettime:skew=+5s").skew_ns, INT64_C(5000000000));
    assert_int_equal(good("time:skew=-200ms").skew_ns, -200000000);
    assert_int_equal(good("gettimeofday:skew=1ns").skew_ns, 1);
    assert_int_equal(good("write:drop").actions, THEN_DROP);
}

static void marks_and_rendezvous_are_entered_once(void **state)
{
    (void)state;
    struct rule first = good("read:pause=there/500ms:mark=ready:nth=1:die");
    struct rule second = good("write:after=ready:wake=there");
    assert_int_equal(first.pause_point, second.wake_point);
    assert_int_equal(first.mark, second.after_mark);
    assert_int_equal(first.pause_timeout_ns, 500000000);
    assert_int_equal(atomic_load(&page->mark_count), 1);
    assert_int_equal(atomic_load(&page->rendezvous_count), 1);
    assert_string_equal(page->marks[0].name, "ready");
    assert_string_equal(page->rendezvous[0].name, "there");
}

static void a_refused_rule_enters_no_names(void **state)
{
    (void)state;
    struct rule rule;
    assert_false(parse("read:mark=a:pause=b:nth=0", &rule));
    assert_int_equal(atomic_load(&page->mark_count), 0);
    assert_int_equal(atomic_load(&page->rendezvous_count), 0);
}

static void an_errno_can_be_forced(void **state)
{
    (void)state;
    struct rule rule = good("flock:errno=EIO!");
    assert_int_equal(rule.err, EIO);
    rule = good("getaddrinfo:errno=EAI_AGAIN");
    assert_true(rule.err < 0);
}

static void blanks_around_the_parts(void **state)
{
    (void)state;
    struct rule rule = good("  flock | lockf : nth = 2 : errno = EINTR  ");
    assert_int_equal(count_hooks(&rule), 2);
    assert_int_equal(rule.nth_first, 2);
}

/* ---- mistakes ---- */

static const struct {
    const char *text;
    size_t column;
    const char *words;
} mistakes[] = {
    {"flok:die", 1, "unknown call 'flok'; did you mean flock?"},
    {"xyzzyplugh:die", 1, "`ordeal hooks` lists them"},
    {"read|raed:die", 6, "did you mean read?"},
    {"open|open64:die", 6, "open is named twice (this is another name of it)"},
    {"@lokc:die", 1, "did you mean @lock?"},
    {"@zzz:die", 1, "expected @file, @socket"},
    {"@lock|@lock:die", 7, "@lock is named twice"},
    {"read|:die", 6, "a call is missing here"},
    {":die", 1, "a call is missing here"},
    {"", 1, "a call is missing here"},
    {"read", 5, "an action is missing"},
    {"read:nth=1", 11, "an action is missing"},
    {"read::die", 6, "a field is missing here"},
    {"read:die:", 10, "a field is missing here"},
    {"read:nht=1:die", 6, "unknown field 'nht'; did you mean nth?"},
    {"read:!:die", 6, "unknown field '!'"},
    {"read:banana:die", 6, "unknown field 'banana'; expected a condition such as nth=2"},
    {"read:nth=1:nth=2:die", 12, "nth is given twice"},
    {"mmap:oom:errno=ENOMEM", 10, "oom is errno=ENOMEM"},
    {"read:nth:die", 9, "nth wants =a count from 1"},
    {"read:nth=:die", 10, "nth wants =a count from 1"},
    {"read:nth=0:die", 10, "not '0'"},
    {"read:nth=3+0:die", 10, "not '3+0'"},
    {"read:nth=3+:die", 10, "not '3+'"},
    {"read:nth=9..3:die", 10, "not '9..3'"},
    {"read:nth=3.5:die", 10, "not '3.5'"},
    {"read:nth=-1:die", 10, "not '-1'"},
    {"read:nth=99999999999999999999:die", 10, "not '99999999999999999999'"},
    {"read:p=1.5:die", 8, "a chance from 0 to 1"},
    {"read:p=-0.1:die", 8, "a chance from 0 to 1"},
    {"read:p=101%:die", 8, "a chance from 0 to 1"},
    {"read:p=0x1p-3:die", 8, "a chance from 0 to 1"},
    {"read:p=nan:die", 8, "a chance from 0 to 1"},
    {"read:p=1e-30:die", 8, "a chance from 0 to 1"},
    {"read:times=0:die", 12, "times wants a count from 1"},
    {"read:fd=sock:die", 9, "one or more of file, socket, pipe, other"},
    {"read:fd=socket,socket:die", 9, "one or more of file, socket"},
    {"mmap:fd=file:oom", 6, "fd needs a call on a descriptor, which mmap is not"},
    {"mmap:path=/x:oom", 6, "path needs a call on a path or a descriptor, which mmap is not"},
    {"read:path=:die", 11, "path wants =a pattern"},
    {"flock:size>=1:die", 7, "size needs a call with a number of bytes, which flock is not"},
    {"read:size:die", 10, "a comparison"},
    {"read:size=>1:die", 10, "a comparison"},
    {"read:size>=2X:die", 10, "a comparison"},
    {"read:size>=9223372036854775808:die", 10, "a comparison"},
    {"read:shared:die", 6, "shared needs a call on a mapping or a mutex, which read is not"},
    {"mmap:robust:oom", 6, "robust needs a call on a mutex, which mmap is not"},
    {"read:shared=1:die", 12, "shared takes no value"},
    {"malloc:caller=libc", 15, "caller wants LIBRARY:FUNCTION"},
    {"malloc:caller=libc:oom", 23, "caller= took 'oom' as the function"},
    {"malloc:caller=libc:errno=ENOMEM", 20, "stands where caller= wants a function"},
    {"malloc:caller=*:*:oom", 15, "two globs"},
    {"read:thread=0:die", 13, "the ordinal of a thread"},
    {"read:proc=99999:die", 11, "the ordinal of a process"},
    {"read:after=a b:die", 12, "the name of a mark"},
    {"read:errno=EINTTR", 12, "unknown errno 'EINTTR'; did you mean EINTR?"},
    {"read:errno=", 12, "the name of an error"},
    {"read:errno=EPIPE", 6, "read does not fail with EPIPE, only with EAGAIN EBADF EINTR"},
    {"flock|read:errno=ENOLCK", 12, "read does not fail with ENOLCK"},
    {"getaddrinfo:errno=EINTR!", 13, "getaddrinfo reports EAI_ codes"},
    {"read:errno=EAI_AGAIN!", 6, "read reports errnos"},
    {"read:oom|write", 9, "oom takes no value"},
    {"flock:oom", 7, "flock does not fail with ENOMEM"},
    {"read:short=0", 12, "a number of bytes from 1"},
    {"fsync:short=1", 7, "short needs a call that may do less than it was asked for, which fsync is not"},
    {"read:delay=5", 12, "with its unit"},
    {"read:delay=0ms", 12, "a time up to 1 hour"},
    {"read:delay=2000s:nth=1:delay=1s", 24, "delay is given twice"},
    {"read:delay=3601s", 12, "a time up to 1 hour"},
    {"read:delay=1.5ns", 12, "a time up to 1 hour"},
    {"read:exit=256", 11, "a status from 0 to 255"},
    {"read:die=1", 9, "die takes no value"},
    {"read:pause=", 12, "the name of a rendezvous"},
    {"read:pause=a/5", 12, "the name of a rendezvous"},
    {"read:pause=a:wake=a", 14, "the call would only wake itself"},
    {"read:signal=TREM", 13, "unknown signal 'TREM'; did you mean TERM?"},
    {"read:signal=65", 13, "a signal such as TERM"},
    {"read:drop", 6, "drop needs a call whose success can be pretended, which read is not"},
    {"read:skew=1s", 6, "skew needs clock_gettime, gettimeofday or time, which read is not"},
    {"time:skew=±5s", 11, "write skew=+5s or skew=-5s"},
    {"time:skew=0s", 11, "a time with its unit"},
    {"read:errno=EIO:short=1", 16, "errno and short contradict each other"},
    {"write:errno=EIO:drop", 17, "errno and drop contradict each other"},
    {"write:drop:short=1", 12, "contradict each other"},
    {"read:die:exit", 10, "a process ends once"},
    {"read:die:errno=EIO", 10, "nobody is left to see"},
    {"read:exit:signal=TERM", 11, "a process that exits gets no signal"},
    {"@time:fd=file:delay=1s", 1, "no call of @time suits"},
    {"read:\001:die", 6, "a control character (0x01)"},
};

static void each_mistake_has_its_column_and_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(mistakes); i++) {
        struct rule rule;
        if (parse(mistakes[i].text, &rule))
            fail_msg("not refused: %s", mistakes[i].text);
        bool found = false;
        for (size_t j = 0; j < errors.count; j++)
            found = found || (errors.items[j].column == mistakes[i].column &&
                              strstr(errors.items[j].message, mistakes[i].words) != NULL);
        if (!found) {
            diagnostics_print(&errors, stderr, false);
            fail_msg("%s: expected in column %zu: %s", mistakes[i].text, mistakes[i].column,
                     mistakes[i].words);
        }
    }
}

static void all_mistakes_of_a_rule_are_reported(void **state)
{
    (void)state;
    struct rule rule;
    assert_false(parse("flok|raed:nht=1:p=7:errno=EFOOBAR:signal=TREM", &rule));
    assert_int_equal(errors.count, 6);
}

static void a_rule_may_not_be_too_long(void **state)
{
    (void)state;
    char text[400];
    struct rule rule;
    memset(text, 'a', sizeof text);
    memcpy(text, "open:errno=EIO:path=", 20);
    text[255] = '\0';
    assert_false(parse(text, &rule)); /* the glob is too long, the rule is not */
    assert_non_null(strstr(errors.items[0].message, "1 to 127 bytes"));
    text[255] = 'a';
    text[256] = '\0';
    assert_false(parse(text, &rule));
    assert_int_equal(errors.items[0].column, 256);
    assert_non_null(strstr(errors.items[0].message, "255 bytes long, this one has 256"));
}

static void there_may_be_so_many_marks(void **state)
{
    (void)state;
    char text[64];
    struct rule rule;
    for (int i = 0; i < CONTROL_MARKS_MAX; i++) {
        snprintf(text, sizeof text, "read:mark=m%d", i);
        good(text);
    }
    assert_false(parse("read:mark=more", &rule));
    assert_non_null(strstr(errors.items[0].message, "no room for a mark more (there may be 64)"));
}

/* ---- how errors look ---- */

static char *printed(void)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    diagnostics_print(&errors, out, false);
    fclose(out);
    return text;
}

static void the_caret_stands_under_the_column(void **state)
{
    (void)state;
    struct rule rule;
    assert_false(parse("open:path=/ä:errno=EINTTR", &rule));
    char *text = printed();
    assert_string_equal(text, "-f 1:21: unknown errno 'EINTTR'; did you mean EINTR?\n"
                              "    open:path=/ä:errno=EINTTR\n"
                              "                       ^\n");
    free(text);
}

static void a_terminal_is_not_commanded(void **state)
{
    (void)state;
    struct rule rule;
    assert_false(parse("read:\033[31m", &rule));
    char *text = printed();
    assert_null(strchr(text, '\033'));
    free(text);
}

/* ---- plans ---- */

static struct plan *plan_of(const char *text)
{
    struct plan *plan = calloc(1, sizeof *plan);
    plan->page = page;
    plan->errors = &errors;
    errors.count = 0;
    plan_add_text(plan, "t.plan", span_of(text));
    return plan;
}

static void a_plan_has_rules_directives_and_comments(void **state)
{
    (void)state;
    struct plan *plan = plan_of("\xef\xbb\xbf# a comment\r\n"
                                "\r\n"
                                "seed 42\r\n"
                                "  swarm 50%   # half of them\r\n"
                                "only php-fpm8.2\n"
                                "\tflock:errno=EINTR # interrupted\n"
                                "open:path=*#1:errno=EIO");
    assert_int_equal(errors.count, 0);
    assert_int_equal(atomic_load(&page->rule_count), 2);
    assert_int_equal(plan->seed, 42);
    assert_true(plan->swarm == 0.5);
    assert_string_equal(plan->only, "php-fpm8.2");
    assert_string_equal(page->rules[0].text, "flock:errno=EINTR");
    assert_string_equal(page->rules[1].path_glob, "*#1");
    free(plan);
}

static void every_line_of_a_plan_is_checked(void **state)
{
    (void)state;
    free(plan_of("sed 42\n"
                 "seed x\n"
                 "  flok:die\n"
                 "read:die\n"
                 "swarm 0\n"
                 "only a/b\n"
                 "seed 1\nseed 2\n"));
    static const char *const where[] = {"t.plan:1:1", "t.plan:2:6", "t.plan:3:3",
                                        "t.plan:5:7", "t.plan:6:6", "t.plan:8:6"};
    assert_int_equal(errors.count, LENGTH(where));
    for (size_t i = 0; i < LENGTH(where); i++)
        assert_string_equal(errors.items[i].where, where[i]);
    assert_non_null(strstr(errors.items[0].message, "unknown directive 'sed'; did you mean seed?"));
    assert_int_equal(atomic_load(&page->rule_count), 1);
}

static void there_may_be_so_many_rules(void **state)
{
    (void)state;
    char *text = calloc(CONTROL_RULES_MAX + 1, sizeof "read:die\n");
    for (int i = 0; i <= CONTROL_RULES_MAX; i++)
        strcat(text, "read:die\n");
    free(plan_of(text));
    free(text);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.items[0].where, "t.plan:257:1");
    assert_non_null(strstr(errors.items[0].message, "too many rules: a run may have 256"));
}

static void many_errors_are_counted(void **state)
{
    (void)state;
    char *text = calloc(201, sizeof "?\n");
    for (int i = 0; i < 200; i++)
        strcat(text, "?\n");
    free(plan_of(text));
    free(text);
    assert_true(errors.count >= 200);
    char *shown = printed();
    assert_non_null(strstr(shown, "more errors"));
    free(shown);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_rule_names_its_call),
        TEST(other_names_and_several_calls),
        TEST(a_family_is_narrowed_to_what_suits),
        TEST(a_family_and_a_call_of_another),
        TEST(nth_in_all_forms),
        TEST(chances),
        TEST(sizes_and_comparisons),
        TEST(other_conditions),
        TEST(a_path_may_have_quoted_colons),
        TEST(a_caller_has_two_globs),
        TEST(actions_with_values),
        TEST(marks_and_rendezvous_are_entered_once),
        TEST(a_refused_rule_enters_no_names),
        TEST(an_errno_can_be_forced),
        TEST(blanks_around_the_parts),
        TEST(each_mistake_has_its_column_and_words),
        TEST(all_mistakes_of_a_rule_are_reported),
        TEST(a_rule_may_not_be_too_long),
        TEST(there_may_be_so_many_marks),
        TEST(the_caret_stands_under_the_column),
        TEST(a_terminal_is_not_commanded),
        TEST(a_plan_has_rules_directives_and_comments),
        TEST(every_line_of_a_plan_is_checked),
        TEST(there_may_be_so_many_rules),
        TEST(many_errors_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
