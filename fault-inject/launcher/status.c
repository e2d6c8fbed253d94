#include "fault-inject/launcher/status.h"

#include <inttypes.h>
#include <string.h>

static uint32_t rule_count(const struct control_page *page)
{
    uint32_t count = atomic_load(&page->rule_count);
    return count < CONTROL_RULES_MAX ? count : CONTROL_RULES_MAX;
}

static uint32_t process_count(const struct control_page *page)
{
    uint32_t count = atomic_load(&page->process_count);
    return count < CONTROL_PROCESSES_MAX ? count : CONTROL_PROCESSES_MAX;
}

json_t *status_rules(const struct control_page *page)
{
    json_t *rules = json_array();
    for (uint32_t i = 0; i < rule_count(page); i++) {
        const struct rule *rule = &page->rules[i];
        json_array_append_new(rules,
                              json_pack("{s:I, s:s, s:b, s:b, s:I, s:I, s:I}", "id", (json_int_t)i + 1,
                                        "text", rule->text, "armed", atomic_load(&rule->armed) != 0, "active",
                                        rule->active != 0, "matched", (json_int_t)atomic_load(&rule->matched),
                                        "fired", (json_int_t)atomic_load(&rule->fired), "pause_timeouts",
                                        (json_int_t)atomic_load(&rule->pause_timeouts)));
    }
    return rules;
}

json_t *status_unmatched(const struct control_page *page)
{
    json_t *ids = json_array();
    for (uint32_t i = 0; i < rule_count(page); i++)
        if (page->rules[i].active && atomic_load(&page->rules[i].matched) == 0)
            json_array_append_new(ids, json_integer((json_int_t)i + 1));
    return ids;
}

static json_t *marks(const struct control_page *page)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < atomic_load(&page->mark_count) && i < CONTROL_MARKS_MAX; i++)
        json_array_append_new(list, json_pack("{s:s, s:I}", "name", page->marks[i].name, "hits",
                                              (json_int_t)atomic_load(&page->marks[i].hits)));
    return list;
}

static json_t *rendezvous(const struct control_page *page)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < atomic_load(&page->rendezvous_count) && i < CONTROL_RENDEZVOUS_MAX; i++) {
        const struct control_rendezvous *point = &page->rendezvous[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I}", "name", point->name, "waiting",
                                              (json_int_t)atomic_load(&point->waiting), "tokens",
                                              (json_int_t)atomic_load(&point->tokens), "arrivals",
                                              (json_int_t)atomic_load(&point->arrivals)));
    }
    return list;
}

/* The name comes from the target's side and may be cut in the middle of a character. */
static json_t *process_name(const struct control_process *process)
{
    char name[sizeof process->name + 1];
    memcpy(name, process->name, sizeof process->name);
    name[sizeof process->name] = '\0';
    json_t *text = json_string(name);
    return text != NULL ? text : json_string("?");
}

static json_t *processes(const struct control_page *page)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < process_count(page); i++) {
        const struct control_process *process = &page->processes[i];
        if (atomic_load(&process->pid) != 0)
            json_array_append_new(list, json_pack("{s:i, s:I, s:o}", "pid", (int)atomic_load(&process->pid),
                                                  "ordinal", (json_int_t)process->ordinal, "name",
                                                  process_name(process)));
    }
    return list;
}

static json_t *calls(const struct control_page *page)
{
    json_t *counts = json_object();
    for (int i = 0; i < HOOK_COUNT; i++)
        if (atomic_load(&page->calls[i]) > 0)
            json_object_set_new(counts, hook_table[i].name,
                                json_integer((json_int_t)atomic_load(&page->calls[i])));
    return counts;
}

json_t *status_json(const struct control_page *page)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "version", 1, "seed",
                     json_integer((json_int_t)page->seed), "rules", status_rules(page), "marks", marks(page),
                     "rendezvous", rendezvous(page), "processes", processes(page), "calls", calls(page),
                     "injected", (json_int_t)atomic_load(&page->injected), "refused",
                     (json_int_t)atomic_load(&page->refused));
}

static const char *remark_on(const struct rule *rule)
{
    if (!rule->active)
        return "not active in this run";
    if (!atomic_load(&rule->armed))
        return "disarmed";
    if (atomic_load(&rule->matched) == 0)
        return "never matched";
    if (atomic_load(&rule->pause_timeouts) > 0)
        return "waited in vain";
    return "";
}

static int text_width(const struct control_page *page)
{
    int width = 0;
    for (uint32_t i = 0; i < rule_count(page); i++) {
        int length = (int)strnlen(page->rules[i].text, 60);
        width = length > width ? length : width;
    }
    return width;
}

void status_print_rules(const struct control_page *page, FILE *out, bool colour)
{
    int width = text_width(page);
    for (uint32_t i = 0; i < rule_count(page); i++) {
        const struct rule *rule = &page->rules[i];
        const char *remark = remark_on(rule);
        fprintf(out, "  %3" PRIu32 "  %-*s  matched %-8" PRIu64 " fired %-8" PRIu64 "%s%s%s\n", i + 1, width,
                rule->text, atomic_load(&rule->matched), atomic_load(&rule->fired),
                colour && *remark != '\0' ? "\033[33m" : "", remark,
                colour && *remark != '\0' ? "\033[0m" : "");
    }
}

static void print_points(const struct control_page *page, FILE *out)
{
    for (uint32_t i = 0; i < atomic_load(&page->mark_count) && i < CONTROL_MARKS_MAX; i++)
        fprintf(out, "  mark %-30s  hits %" PRIu64 "\n", page->marks[i].name,
                atomic_load(&page->marks[i].hits));
    for (uint32_t i = 0; i < atomic_load(&page->rendezvous_count) && i < CONTROL_RENDEZVOUS_MAX; i++)
        fprintf(out, "  rendezvous %-24s  waiting %" PRIu32 "  tokens %" PRIu32 "  arrivals %" PRIu64 "\n",
                page->rendezvous[i].name, atomic_load(&page->rendezvous[i].waiting),
                atomic_load(&page->rendezvous[i].tokens), atomic_load(&page->rendezvous[i].arrivals));
}

void status_print(const struct control_page *page, FILE *out, bool colour)
{
    fprintf(out, "seed %" PRIu64 ", %" PRIu32 " processes seen, %" PRIu64 " faults injected\n", page->seed,
            process_count(page), atomic_load(&page->injected));
    status_print_rules(page, out, colour);
    print_points(page, out);
    for (int i = 0; i < HOOK_COUNT; i++)
        if (atomic_load(&page->calls[i]) > 0)
            fprintf(out, "  calls %-29s  %" PRIu64 "\n", hook_table[i].name, atomic_load(&page->calls[i]));
}
