/* What was injected, in words: each action as a rule would spell it. */
#include "fault-inject/control.h"
#include "fault-inject/launcher/trace_reader.h"
#include "fault-inject/rule/number.h"
#include "fault-inject/rule/words.h"

#include <inttypes.h>
#include <stdio.h>

static void errno_spelled(const struct trace_event *event, char *out, size_t size)
{
    const char *name = errno_word(event->err);
    if (name != NULL)
        snprintf(out, size, "=%s", name);
    else
        snprintf(out, size, "=%" PRId32, event->err);
}

static void count_spelled(const struct trace_event *event, char *out, size_t size)
{
    snprintf(out, size, "=%" PRIu64, event->argument);
}

static void time_spelled(const struct trace_event *event, char *out, size_t size)
{
    char text[NUMBER_TEXT_MAX];
    int64_t time_ns = (int64_t)event->argument;
    bool back = time_ns < 0 && time_ns != INT64_MIN;
    number_print_duration_ns(back ? -time_ns : time_ns, text);
    snprintf(out, size, "=%s%s", back ? "-" : "", text);
}

static void signal_spelled(const struct trace_event *event, char *out, size_t size)
{
    const char *name = signal_word((int)event->argument);
    if (name != NULL)
        snprintf(out, size, "=%s", name);
    else
        count_spelled(event, out, size);
}

static const struct {
    uint32_t action;
    const char *name;
    void (*spell)(const struct trace_event *event, char *out, size_t size);
} spellings[] = {
    {THEN_ERRNO, "errno", errno_spelled},
    {THEN_SHORT, "short", count_spelled},
    {THEN_DELAY, "delay", time_spelled},
    {THEN_DIE, "die", NULL},
    {THEN_EXIT, "exit", count_spelled},
    {THEN_PAUSE, "pause", NULL},
    {THEN_WAKE, "wake", NULL},
    {THEN_MARK, "mark", NULL},
    {THEN_SIGNAL, "signal", signal_spelled},
    {THEN_DROP, "drop", NULL},
    {THEN_SKEW, "skew", time_spelled},
};

static size_t room_left(size_t length)
{
    return length < INJECTED_TEXT_MAX ? INJECTED_TEXT_MAX - length : 0;
}

/* A joined call's argument belongs to its last action only, so the others go without. */
void trace_injected_text(const struct trace_reader *reader, const struct trace_event *event,
                         char out[INJECTED_TEXT_MAX])
{
    (void)reader;
    size_t length = 0;
    out[0] = '\0';
    bool single = (event->actions & (event->actions - 1)) == 0;
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        char value[64] = "";
        if ((event->actions & spellings[i].action) == 0)
            continue;
        if (spellings[i].spell != NULL && (single || spellings[i].action == THEN_ERRNO))
            spellings[i].spell(event, value, sizeof value);
        int added = snprintf(out + length, room_left(length), "%s%s%s", length > 0 ? "+" : "",
                             spellings[i].name, value);
        length += added > 0 ? (size_t)added : 0;
    }
    if (event->actions != 0 && event->rule == TRACE_RULE_SCRIPT && room_left(length) > 0)
        snprintf(out + length, room_left(length), " again");
    else if (event->actions != 0 && event->rule != 0 && room_left(length) > 0)
        snprintf(out + length, room_left(length), " by rule %" PRIu16, event->rule);
}
