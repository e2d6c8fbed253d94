#include "fault-inject/launcher/script.h"

#include "fault-inject/launcher/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As the shim searches: by thread, call, index; and what was done to one call in the order in which it was
 * done. */
static int by_place(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    if (x->thread_key != y->thread_key)
        return x->thread_key < y->thread_key ? -1 : 1;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static bool is_replayable(const struct trace_reader *reader, const char *name)
{
    uint64_t lost = atomic_load(&reader->header->faults_lost);
    if (reader->cut_off) {
        say("%s is cut off (%" PRIu64 " of %" PRIu64 " bytes): it cannot be replayed", name, reader->size,
            reader->header->file_size);
        return false;
    }
    if (lost > 0) {
        say("%s: %" PRIu64 " faults found no room in the log: it cannot be replayed", name, lost);
        return false;
    }
    if (reader->fault_count > CONTROL_SCRIPT_MAX) {
        say("%s holds %zu faults; a replay can inject %d", name, reader->fault_count, CONTROL_SCRIPT_MAX);
        return false;
    }
    return true;
}

static void set_arguments(struct control_script_entry *entry, const struct trace_event *event)
{
    switch (event->actions) {
    case THEN_SHORT:
        entry->short_bytes = event->argument;
        break;
    case THEN_DELAY:
        entry->delay_ns = (int64_t)event->argument;
        break;
    case THEN_SKEW:
        entry->skew_ns = (int64_t)event->argument;
        break;
    case THEN_EXIT:
        entry->exit_status = (int32_t)event->argument;
        break;
    case THEN_SIGNAL:
        entry->signal_number = (int32_t)event->argument;
        break;
    case THEN_PAUSE:
    case THEN_WAKE:
        entry->point = (int32_t)event->argument;
        break;
    default:
        break;
    }
}

/* Names are not in a trace; a rendezvous of a replay is called by its number. */
static bool has_point(struct control_page *page, int32_t point)
{
    if (point < 0 || point >= CONTROL_RENDEZVOUS_MAX)
        return false;
    for (uint32_t i = atomic_load(&page->rendezvous_count); i <= (uint32_t)point; i++) {
        snprintf(page->rendezvous[i].name, CONTROL_NAME_MAX, "rendezvous-%" PRIu32, i + 1);
        atomic_store(&page->rendezvous_count, i + 1);
    }
    return true;
}

static bool enter(struct control_page *page, const struct trace_reader *reader,
                  const struct trace_event *event, struct control_script_entry *entry)
{
    int row = trace_call_row(reader, event);
    if (row < 0) {
        say("the trace names the call %s, which this ordeal does not know", trace_call_name(reader, event));
        return false;
    }
    memset((void *)entry, 0, sizeof *entry);
    entry->thread_key = event->thread_key;
    entry->hook = (uint32_t)row;
    entry->index = event->index;
    entry->actions = event->actions;
    entry->err = event->err;
    entry->point = -1;
    set_arguments(entry, event);
    if ((event->actions & (THEN_PAUSE | THEN_WAKE)) != 0 && !has_point(page, entry->point)) {
        say("the trace names rendezvous %d, of which there cannot be so many", (int)entry->point);
        return false;
    }
    atomic_fetch_or(&page->armed[row], ARMED_SCRIPT | ARMED_COUNT);
    return true;
}

bool script_make(struct script *script, const struct trace_reader *reader, struct control_page *page,
                 const char *name)
{
    memset(script, 0, sizeof *script);
    if (!is_replayable(reader, name))
        return false;
    script->events = calloc(reader->fault_count + 1, sizeof *script->events);
    if (script->events == NULL) {
        say("out of memory");
        return false;
    }
    for (size_t i = 0; i < reader->count; i++)
        if (reader->events[i].from_log && reader->events[i].actions == THEN_MARK)
            script->marks++;
        else if (reader->events[i].from_log)
            script->events[script->count++] = reader->events[i];
    if (script->count > 0)
        qsort(script->events, script->count, sizeof *script->events, by_place);
    for (uint32_t i = 0; i < script->count; i++)
        if (!enter(page, reader, &script->events[i], &page->script[i]))
            return false;
    page->script_count = script->count;
    return true;
}

uint32_t script_report_missing(const struct script *script, const struct trace_reader *reader,
                               const struct control_page *page, uint32_t lines_max)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < script->count; i++) {
        const struct trace_event *event = &script->events[i];
        char injected[INJECTED_TEXT_MAX];
        if (atomic_load(&page->script[i].injected) > 0)
            continue;
        if (++missing > lines_max)
            continue;
        trace_injected_text(reader, event, injected);
        say("  not injected: %s, at the %" PRIu32 ". %s of thread %" PRIu32 ".%" PRIu32, injected,
            event->index, trace_call_name(reader, event), event->proc, event->thread);
    }
    if (missing > lines_max)
        say("  and %" PRIu32 " more", missing - lines_max);
    return missing;
}
