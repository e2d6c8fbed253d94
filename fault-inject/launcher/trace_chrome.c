/* The Trace Event format that Perfetto (ui.perfetto.dev) and chrome://tracing open: a track for each thread,
 * a mark for each call, faults in a category and a colour of their own. */
#include "fault-inject/launcher/trace_print.h"

#include <jansson.h>
#include <stdlib.h>

static void print_item(json_t *item, bool *first, FILE *out)
{
    fputs(*first ? "\n" : ",\n", out);
    *first = false;
    json_dumpf(item, out, JSON_COMPACT);
    json_decref(item);
}

static json_t *mark_of(const struct trace_reader *reader, const struct trace_event *event)
{
    char object[40], injected[INJECTED_TEXT_MAX];
    const char *error = trace_errno_text(reader, event);
    trace_object_text(reader, event, object);
    trace_injected_text(reader, event, injected);
    bool fault = event->actions != 0;
    json_t *arguments = json_pack(
        "{s:s, s:I, s:s, s:s, s:I}", "object", object, "result", (json_int_t)trace_result(reader, event),
        "errno", error != NULL ? error : "", "injected", injected, "seq", (json_int_t)event->sequence);
    double since_us = (double)trace_since_start_ns(reader, event) / 1e3;
    json_t *mark = json_pack("{s:s, s:s, s:s, s:s, s:f, s:i, s:i, s:o}", "name",
                             fault ? injected : trace_call_name(reader, event), "cat",
                             fault ? "fault" : "call", "ph", "i", "s", fault ? "p" : "t", "ts", since_us,
                             "pid", (int)event->pid, "tid", (int)event->tid, "args", arguments);
    if (mark != NULL && fault)
        json_object_set_new(mark, "cname", json_string("terrible"));
    return mark;
}

static int by_thread(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void print_name(const char *kind, const struct trace_event *event, const char *name, bool *first,
                       FILE *out)
{
    print_item(json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", kind, "ph", "M", "pid", (int)event->pid,
                         "tid", (int)event->tid, "args", "name", name),
               first, out);
}

/* The order in a thread is lost here, so this comes last. */
static void print_names(struct trace_event *events, size_t count, bool *first, FILE *out)
{
    char name[64];
    if (count > 0)
        qsort(events, count, sizeof *events, by_thread);
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = &events[i];
        if (i == 0 || events[i - 1].pid != event->pid) {
            snprintf(name, sizeof name, "process %u", event->proc);
            print_name("process_name", event, name, first, out);
        }
        if (i == 0 || by_thread(&events[i - 1], event) != 0) {
            snprintf(name, sizeof name, "thread %u.%u", event->proc, event->thread);
            print_name("thread_name", event, name, first, out);
        }
    }
}

void trace_print_chrome(const struct trace_reader *reader, bool faults_only, FILE *out)
{
    bool first = true;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    for (size_t i = 0; i < reader->count; i++)
        if (trace_is_shown(&reader->events[i], faults_only))
            print_item(mark_of(reader, &reader->events[i]), &first, out);
    print_names(reader->events, reader->count, &first, out);
    fputs("\n]}\n", out);
}
