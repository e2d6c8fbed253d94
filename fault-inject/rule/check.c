#include "fault-inject/rule/check.h"

#include "fault-inject/rule/words.h"

#include <stdarg.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Two things that cannot both happen to one call. */
static const struct {
    uint32_t first, second;
    const char *why;
} contradictions[] = {
    {THEN_ERRNO, THEN_SHORT, "a call that fails is not short"},
    {THEN_ERRNO, THEN_DROP, "a dropped call succeeds"},
    {THEN_ERRNO, THEN_SKEW, "a clock that fails tells no time"},
    {THEN_SHORT, THEN_DROP, "a dropped call is not made, so there is nothing to shorten"},
    {THEN_DIE, THEN_EXIT, "a process ends once"},
    {THEN_DIE, THEN_SIGNAL, "a process that dies gets no signal"},
    {THEN_EXIT, THEN_SIGNAL, "a process that exits gets no signal"},
    {THEN_DIE, THEN_ERRNO, "nobody is left to see the outcome of the call"},
    {THEN_DIE, THEN_SHORT, "nobody is left to see the outcome of the call"},
    {THEN_DIE, THEN_DROP, "nobody is left to see the outcome of the call"},
    {THEN_DIE, THEN_SKEW, "nobody is left to see the outcome of the call"},
    {THEN_EXIT, THEN_ERRNO, "nobody is left to see the outcome of the call"},
    {THEN_EXIT, THEN_SHORT, "nobody is left to see the outcome of the call"},
    {THEN_EXIT, THEN_DROP, "nobody is left to see the outcome of the call"},
    {THEN_EXIT, THEN_SKEW, "nobody is left to see the outcome of the call"},
};

static const char *place_of(const struct draft *draft, uint32_t action, const char **name)
{
    for (size_t i = 0; i < rule_field_count; i++)
        if (draft->field_at[i] != NULL && (rule_fields[i].action & action) != 0) {
            *name = rule_fields[i].name;
            return draft->field_at[i];
        }
    return NULL;
}

static void check_contradictions(struct draft *draft)
{
    for (size_t i = 0; i < LENGTH(contradictions); i++) {
        const char *first_name, *second_name;
        const char *first = place_of(draft, contradictions[i].first, &first_name);
        const char *second = place_of(draft, contradictions[i].second, &second_name);
        if (first != NULL && second != NULL)
            diagnose(draft->errors, draft->line, first > second ? first : second,
                     "%s and %s contradict each other: %s", first_name, second_name, contradictions[i].why);
    }
    const char *name;
    const char *wake = place_of(draft, THEN_WAKE, &name);
    if (wake != NULL && place_of(draft, THEN_PAUSE, &name) != NULL &&
        draft->rule->pause_point == draft->rule->wake_point)
        diagnose(draft->errors, draft->line, wake,
                 "pause and wake of the same rendezvous in one rule: the call would only wake itself");
}

static void list_errnos(int hook, char *out, size_t size)
{
    struct writer writer = {out, size, 0};
    for (const int *err = hook_table[hook].errnos; *err != 0; err++)
        writer_add(&writer, "%s%s", err == hook_table[hook].errnos ? "" : " ", hook_errno_name(hook, *err));
}

static void report_errno(struct draft *draft, const char *at, int hook)
{
    const struct hook_info *info = &hook_table[hook];
    if (draft->any_errno) {
        diagnose(draft->errors, draft->line, at, "%s reports %s, which %s is not", info->name,
                 info->fail == FAIL_EAI ? "EAI_ codes" : "errnos", errno_word(draft->rule->err));
        return;
    }
    char legal[400];
    list_errnos(hook, legal, sizeof legal);
    diagnose(draft->errors, draft->line, at, "%s does not fail with %s, only with %s%s", info->name,
             errno_word(draft->rule->err), legal,
             (draft->rule->err < 0) == (info->fail == FAIL_EAI) ? " (a '!' behind the errno forces it)" : "");
}

static void report_unsuited(struct draft *draft, size_t field, int hook)
{
    const char *at = draft->field_at[field];
    if (rule_fields[field].needs == NULL)
        report_errno(draft, at, hook);
    else
        diagnose(draft->errors, draft->line, at, "%s needs %s, which %s is not", rule_fields[field].name,
                 rule_fields[field].needs, hook_table[hook].name);
}

static void check_named_calls(struct draft *draft)
{
    for (size_t field = 0; field < rule_field_count; field++) {
        bool read_well = draft->field_at[field] != NULL && field_is_in(&rule_fields[field], draft->rule);
        if (!read_well || rule_fields[field].suits == NULL)
            continue;
        for (int hook = 0; hook < HOOK_COUNT; hook++)
            if (hook_set_has(draft->named, hook) &&
                !rule_fields[field].suits(draft->rule, draft->any_errno, hook))
                report_unsuited(draft, field, hook);
    }
}

bool rule_suits(const struct rule *rule, bool any_errno, int hook)
{
    for (size_t i = 0; i < rule_field_count; i++)
        if (rule_fields[i].suits != NULL && field_is_in(&rule_fields[i], rule) &&
            !rule_fields[i].suits(rule, any_errno, hook))
            return false;
    return true;
}

static void add_family(struct draft *draft, int family, struct rule_notes *notes)
{
    bool any = false;
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        if ((int)hook_table[hook].family != family)
            continue;
        if (rule_suits(draft->rule, draft->any_errno, hook)) {
            hook_set_add(draft->rule->hooks, hook);
            any = true;
        } else if (notes != NULL && !hook_set_has(draft->named, hook)) {
            hook_set_add(notes->narrowed, hook);
        }
    }
    if (!any)
        diagnose(draft->errors, draft->line, draft->family_at[family],
                 "no call of @%s suits all fields of this rule (see `ordeal hooks @%s`)",
                 hook_family_name[family], hook_family_name[family]);
}

static void report_no_action(struct draft *draft, const char *end)
{
    const char *function = draft->rule->caller_function;
    diagnose(draft->errors, draft->line, end,
             "nothing is to happen: an action is missing, such as errno=EINTR, delay=5ms or die%s%s%s",
             *function != '\0' ? " (caller= took '" : "", function,
             *function != '\0' ? "' as the function)" : "");
}

void rule_check(struct draft *draft, const char *end, struct rule_notes *notes)
{
    if (!draft->fields_are_wrong && draft->rule->actions == 0)
        report_no_action(draft, end);
    check_contradictions(draft);
    check_named_calls(draft);
    memcpy(draft->rule->hooks, draft->named, sizeof draft->rule->hooks);
    for (int family = 0; family < FAMILY_COUNT && !draft->fields_are_wrong; family++)
        if (draft->family_at[family] != NULL)
            add_family(draft, family, notes);
}
