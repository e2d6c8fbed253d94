#include "fault-inject/launcher/prepare.h"

#include "fault-inject/launcher/say.h"
#include "fault-inject/rule/number.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

/* Within 2^53, so that it survives every JSON reader. */
uint64_t random_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        seed = (uint64_t)now.tv_nsec * 2654435761u ^ (uint64_t)now.tv_sec;
    }
    return seed >> 32;
}

static uint64_t splitmix64(uint64_t state)
{
    uint64_t z = state + 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

void swarm_choose(struct control_page *page, double p)
{
    uint32_t count = atomic_load(&page->rule_count), active = 0;
    uint64_t threshold = number_chance_threshold(p);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t draw = splitmix64(splitmix64(page->seed) + i);
        page->rules[i].active = threshold == UINT64_MAX || draw < threshold;
        active += page->rules[i].active;
    }
    if (active == 0 && count > 0)
        page->rules[splitmix64(~page->seed) % count].active = 1;
}

static int read_sources(struct plan *plan, const struct option_list *list)
{
    int status = 0;
    struct source_line line = {.origin = "-f", .number = 0, .is_option = true};
    for (size_t i = 0; i < list->count; i++) {
        const char *value = list->items[i].value;
        if (list->items[i].letter == 'f') {
            line.number++;
            line.text = span_of(value);
            plan_add_rule(plan, &line, line.text);
        } else if (!plan_add_file(plan, value)) {
            status = refuse("the plan file %s cannot be read: %s", value, strerror(errno));
        }
    }
    return status;
}

static int take_over(const struct rule_options *options, const struct plan *plan, struct control_page *page)
{
    const char *only = options->only != NULL ? options->only : plan->only;
    if (strlen(only) >= sizeof page->only || strchr(only, '/') != NULL)
        return refuse("--only wants the file name of an executable, without a folder: '%s'", only);
    snprintf(page->only, sizeof page->only, "%s", only);
    page->seed = options->seed.given ? options->seed.value : plan->has_seed ? plan->seed : random_seed();
    swarm_choose(page, options->swarm.given ? options->swarm.value : plan->has_swarm ? plan->swarm : 1.0);
    uint32_t count = atomic_load(&page->rule_count);
    page->rule_count_at_start = count;
    for (uint32_t i = 0; i < count; i++)
        atomic_store(&page->rules[i].armed, options->disarmed ? 0 : 1);
    return 0;
}

int prepare_rules(const struct rule_options *options, struct control_page *page, struct rule_notes *notes)
{
    static struct diagnostics errors;
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return give_up("out of memory");
    errors.count = 0;
    plan->page = page;
    plan->errors = &errors;
    int status = read_sources(plan, &options->rules);
    if (errors.count > 0) {
        diagnostics_print(&errors, stderr, wants_colour(stderr));
        status =
            refuse("%zu error%s in the rules; nothing was started (`ordeal help rules` shows the language)",
                   errors.count, errors.count == 1 ? "" : "s");
    }
    if (status == 0)
        status = take_over(options, plan, page);
    if (status == 0 && notes != NULL)
        memcpy(notes, plan->notes, sizeof plan->notes);
    free(plan);
    return status;
}
