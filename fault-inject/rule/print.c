#include "fault-inject/rule/check.h"
#include "fault-inject/rule/fields.h"

/* A family stands for its calls when the rule has all of them that it could have, and they are many. */
enum { FAMILY_SHORTENS_FROM = 4 };

static bool family_is_complete(const struct rule *rule, int family)
{
    bool any_errno = (rule->actions & THEN_ERRNO) != 0 && rule_forces_errno(rule);
    int count = 0;
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        if ((int)hook_table[hook].family != family)
            continue;
        bool has = hook_set_has(rule->hooks, hook);
        if (has != rule_suits(rule, any_errno, hook))
            return false;
        count += has ? 1 : 0;
    }
    return count >= FAMILY_SHORTENS_FROM;
}

static void print_calls(struct writer *writer, const struct rule *rule)
{
    bool complete[FAMILY_COUNT];
    const char *before = "";
    for (int family = 0; family < FAMILY_COUNT; family++) {
        complete[family] = family_is_complete(rule, family);
        if (complete[family]) {
            writer_add(writer, "%s@%s", before, hook_family_name[family]);
            before = "|";
        }
    }
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        if (hook_set_has(rule->hooks, hook) && !complete[hook_table[hook].family]) {
            writer_add(writer, "%s%s", before, hook_table[hook].name);
            before = "|";
        }
}

size_t rule_print(const struct rule *rule, const struct control_page *page, char *out, size_t out_size)
{
    struct writer writer = {out, out_size, 0};
    if (out_size > 0)
        out[0] = '\0';
    print_calls(&writer, rule);
    for (size_t i = 0; i < rule_field_count; i++)
        if (rule_fields[i].print != NULL && field_is_in(&rule_fields[i], rule))
            rule_fields[i].print(&writer, rule, page);
    return writer.length;
}
