#include "fault-inject/rule/plan.h"

#include "fault-inject/rule/nearest.h"
#include "fault-inject/rule/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

void plan_add_rule(struct plan *plan, const struct source_line *line, struct span text)
{
    uint32_t count = atomic_load(&plan->page->rule_count);
    if (count == CONTROL_RULES_MAX) {
        diagnose(plan->errors, line, text.at, "too many rules: a run may have %d", CONTROL_RULES_MAX);
        return;
    }
    if (rule_parse(line, text, plan->page, &plan->page->rules[count], &plan->notes[count], plan->errors))
        atomic_store(&plan->page->rule_count, count + 1);
}

static const char *set_seed(struct plan *plan, struct span value)
{
    if (plan->has_seed)
        return "seed is given twice";
    plan->has_seed = number_count(value, &plan->seed) && plan->seed <= INT64_MAX;
    return plan->has_seed ? NULL : "seed wants a number from 0 to 9223372036854775807";
}

static const char *set_swarm(struct plan *plan, struct span value)
{
    uint64_t threshold;
    if (plan->has_swarm)
        return "swarm is given twice";
    plan->has_swarm = number_chance(value, &threshold) && threshold > 0;
    if (!plan->has_swarm)
        return "swarm wants a chance above 0, up to 1, such as 0.5 or 50%";
    plan->swarm = threshold == UINT64_MAX ? 1.0 : ldexp((double)threshold, -64);
    return NULL;
}

static const char *set_only(struct plan *plan, struct span value)
{
    if (plan->only[0] != '\0')
        return "only is given twice";
    if (value.length == 0 || value.length >= sizeof plan->only || memchr(value.at, '/', value.length) != NULL)
        return "only wants the file name of an executable, without a folder, such as php-fpm8.2";
    memcpy(plan->only, value.at, value.length);
    plan->only[value.length] = '\0';
    return NULL;
}

static const struct directive {
    const char *name;
    const char *(*set)(struct plan *plan, struct span value); /* NULL, or what is wrong */
} directives[] = {{"seed", set_seed}, {"swarm", set_swarm}, {"only", set_only}};

/* A directive is a word followed by a blank and a value; a rule's first word is followed by ':' or '|'. */
static bool add_directive(struct plan *plan, const struct source_line *line, struct span text)
{
    size_t length = 0;
    while (length < text.length && memchr(" \t:|@", text.at[length], 5) == NULL)
        length++;
    struct span word = {text.at, length}, value = span_trim(span_from(text, length));
    bool is_rule = value.length > 0 && (value.at[0] == ':' || value.at[0] == '|' || value.at[0] == '@');
    struct nearest near = nearest_to(word);
    for (size_t i = 0; i < LENGTH(directives) && !is_rule; i++) {
        nearest_offer(&near, directives[i].name);
        if (!span_is(word, directives[i].name))
            continue;
        const char *wrong = directives[i].set(plan, value);
        if (wrong != NULL)
            diagnose(plan->errors, line, value.at, "%s", wrong);
        return true;
    }
    if (is_rule || near.best == NULL || value.length == 0)
        return false;
    diagnose(plan->errors, line, word.at, "unknown directive '%.*s'; did you mean %s?", SPAN(word),
             near.best);
    return true;
}

static struct span without_comment(struct span line)
{
    for (size_t i = 0; i < line.length; i++)
        if (line.at[i] == '#' && (i == 0 || line.at[i - 1] == ' ' || line.at[i - 1] == '\t'))
            return (struct span){line.at, i};
    return line;
}

static void add_line(struct plan *plan, const struct source_line *line)
{
    struct span text = span_trim(without_comment(line->text));
    if (text.length > 0 && !add_directive(plan, line, text))
        plan_add_rule(plan, line, text);
}

static struct span without_bom(struct span text)
{
    return text.length >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0 ? span_from(text, 3) : text;
}

void plan_add_text(struct plan *plan, const char *name, struct span text)
{
    struct source_line line = {.origin = name, .number = 0, .is_option = false};
    for (text = without_bom(text); text.length > 0;) {
        size_t length = span_find(text, '\n');
        line.number++;
        line.text = (struct span){text.at, length};
        if (length > 0 && text.at[length - 1] == '\r')
            line.text.length--;
        add_line(plan, &line);
        text = span_from(text, length < text.length ? length + 1 : length);
    }
}

bool plan_add_file(struct plan *plan, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (file == NULL)
        return false;
    char *text = malloc(PLAN_BYTES_MAX + 1);
    size_t length = text != NULL ? fread(text, 1, PLAN_BYTES_MAX + 1, file) : 0;
    int error = text == NULL ? ENOMEM : ferror(file) ? errno : length > PLAN_BYTES_MAX ? EFBIG : 0;
    if (file != stdin)
        fclose(file);
    if (error == 0)
        plan_add_text(plan, path, (struct span){text, length});
    free(text);
    errno = error;
    return error == 0;
}
