/* The fields that say what happens: reading and printing. */
#include "fault-inject/rule/fields.h"
#include "fault-inject/rule/names.h"
#include "fault-inject/rule/number.h"
#include "fault-inject/rule/words.h"

#include <errno.h>
#include <inttypes.h>

#define NS_PER_S INT64_C(1000000000)

bool parse_errno(struct draft *draft, struct span value)
{
    draft->any_errno = value.length > 1 && value.at[value.length - 1] == '!';
    if (draft->any_errno)
        value.length--;
    draft->rule->err = hook_errno_number(value.at, value.length);
    if (draft->rule->err != 0)
        return true;
    const char *near = errno_nearest(value, -1);
    if (near != NULL)
        diagnose(draft->errors, draft->line, value.at, "unknown errno '%.*s'; did you mean %s?", SPAN(value),
                 near);
    return false;
}

bool rule_forces_errno(const struct rule *rule)
{
    for (int i = 0; i < HOOK_COUNT; i++)
        if (hook_set_has(rule->hooks, i) && !hook_may_fail_with(i, rule->err))
            return true;
    return false;
}

void print_errno(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    writer_add(writer, ":errno=%s%s", errno_word(rule->err), rule_forces_errno(rule) ? "!" : "");
}

bool parse_oom(struct draft *draft, struct span value)
{
    (void)value;
    draft->rule->err = ENOMEM;
    return true;
}

bool parse_short(struct draft *draft, struct span value)
{
    return number_size(value, &draft->rule->short_bytes) && draft->rule->short_bytes > 0;
}

void print_short(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    char text[NUMBER_TEXT_MAX];
    number_print_size(rule->short_bytes, text);
    writer_add(writer, ":short=%s", text);
}

bool parse_delay(struct draft *draft, struct span value)
{
    return number_duration_ns(value, &draft->rule->delay_ns) && draft->rule->delay_ns > 0 &&
           draft->rule->delay_ns <= DELAY_NS_MAX_S * NS_PER_S;
}

void print_delay(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    char text[NUMBER_TEXT_MAX];
    number_print_duration_ns(rule->delay_ns, text);
    writer_add(writer, ":delay=%s", text);
}

void print_die(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)rule, (void)page;
    writer_add(writer, ":die");
}

bool parse_exit(struct draft *draft, struct span value)
{
    uint64_t status = EXIT_STATUS_DEFAULT;
    bool good = value.at == NULL || (number_count(value, &status) && status <= 255);
    draft->rule->exit_status = (int32_t)status;
    return good;
}

void print_exit(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    writer_add(writer, ":exit");
    if (rule->exit_status != EXIT_STATUS_DEFAULT)
        writer_add(writer, "=%" PRId32, rule->exit_status);
}

static bool enter_rendezvous(struct draft *draft, struct span name, int32_t *index)
{
    if (!name_is_valid(name))
        return false;
    *index = rendezvous_enter(draft->page, name);
    if (*index >= 0)
        return true;
    diagnose(draft->errors, draft->line, name.at, "no room for a rendezvous more (there may be %d)",
             CONTROL_RENDEZVOUS_MAX);
    return false;
}

bool parse_pause(struct draft *draft, struct span value)
{
    size_t slash = span_find(value, '/');
    int64_t timeout_ns = PAUSE_DEFAULT_S * NS_PER_S;
    if (slash < value.length && (!number_duration_ns(span_from(value, slash + 1), &timeout_ns) ||
                                 timeout_ns <= 0 || timeout_ns > DELAY_NS_MAX_S * NS_PER_S))
        return false;
    draft->rule->pause_timeout_ns = (uint64_t)timeout_ns;
    return enter_rendezvous(draft, (struct span){value.at, slash}, &draft->rule->pause_point);
}

void print_pause(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    writer_add(writer, ":pause=%s", page->rendezvous[rule->pause_point].name);
    if (rule->pause_timeout_ns == (uint64_t)(PAUSE_DEFAULT_S * NS_PER_S))
        return;
    char text[NUMBER_TEXT_MAX];
    number_print_duration_ns((int64_t)rule->pause_timeout_ns, text);
    writer_add(writer, "/%s", text);
}

bool parse_wake(struct draft *draft, struct span value)
{
    return enter_rendezvous(draft, value, &draft->rule->wake_point);
}

void print_wake(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    writer_add(writer, ":wake=%s", page->rendezvous[rule->wake_point].name);
}

bool parse_mark(struct draft *draft, struct span value)
{
    if (!name_is_valid(value))
        return false;
    draft->rule->mark = mark_enter(draft->page, value);
    if (draft->rule->mark >= 0)
        return true;
    diagnose(draft->errors, draft->line, value.at, "no room for a mark more (there may be %d)",
             CONTROL_MARKS_MAX);
    return false;
}

void print_mark(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    writer_add(writer, ":mark=%s", page->marks[rule->mark].name);
}

bool parse_signal(struct draft *draft, struct span value)
{
    draft->rule->signal_number = signal_find(value);
    if (draft->rule->signal_number != 0)
        return true;
    const char *near = signal_nearest(value);
    if (near != NULL)
        diagnose(draft->errors, draft->line, value.at, "unknown signal '%.*s'; did you mean %s?", SPAN(value),
                 near);
    return false;
}

void print_signal(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    const char *name = signal_word(rule->signal_number);
    if (name != NULL)
        writer_add(writer, ":signal=%s", name);
    else
        writer_add(writer, ":signal=%" PRId32, rule->signal_number);
}

void print_drop(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)rule, (void)page;
    writer_add(writer, ":drop");
}

static size_t sign_length(struct span value)
{
    if (value.length > 0 && (value.at[0] == '+' || value.at[0] == '-'))
        return 1;
    static const char plus_minus[] = "±";
    size_t length = sizeof plus_minus - 1;
    return value.length > length && memcmp(value.at, plus_minus, length) == 0 ? SIZE_MAX : 0;
}

bool parse_skew(struct draft *draft, struct span value)
{
    size_t sign = sign_length(value);
    if (sign == SIZE_MAX) {
        diagnose(draft->errors, draft->line, value.at, "skew goes one way: write skew=+5s or skew=-5s");
        return false;
    }
    if (!number_duration_ns(span_from(value, sign), &draft->rule->skew_ns) || draft->rule->skew_ns == 0)
        return false;
    if (value.at[0] == '-')
        draft->rule->skew_ns = -draft->rule->skew_ns;
    return true;
}

void print_skew(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    bool back = rule->skew_ns < 0;
    char text[NUMBER_TEXT_MAX];
    number_print_duration_ns(back ? -rule->skew_ns : rule->skew_ns, text);
    writer_add(writer, ":skew=%c%s", back ? '-' : '+', text);
}
