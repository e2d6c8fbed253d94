#include "fault-inject/launcher/trace_print.h"

#include "fault-inject/launcher/say.h"

#include <inttypes.h>
#include <jansson.h>

bool trace_is_shown(const struct trace_event *event, bool faults_only)
{
    return faults_only ? event->from_log : !event->covered;
}

static void print_line(const struct trace_reader *reader, const struct trace_event *event, bool colour,
                       FILE *out)
{
    char object[40], injected[INJECTED_TEXT_MAX], call[96], result[64] = "";
    const char *error = trace_errno_text(reader, event);
    trace_object_text(reader, event, object);
    trace_injected_text(reader, event, injected);
    snprintf(call, sizeof call, "%.40s(%s)", trace_call_name(reader, event), object);
    int row = trace_call_row(reader, event);
    bool pointer =
        row >= 0 && (hook_table[row].fail == FAIL_NULL_PTR || hook_table[row].fail == FAIL_MAP_FAIL);
    /* A fault is logged before its call is made: what that returned is not known, unless it was not made. */
    if (!event->from_log || error != NULL)
        snprintf(result, sizeof result, pointer ? "= %#" PRIx64 "%s%s" : "= %" PRId64 "%s%s",
                 trace_result(reader, event), error != NULL ? " " : "", error != NULL ? error : "");
    double since_s = (double)trace_since_start_ns(reader, event) / 1e9;
    fprintf(out, "%12.6f  %2" PRIu32 ".%-3" PRIu32 " %-42s %-20s %s%s%s%s\n", since_s, event->proc,
            event->thread, call, result, colour && *injected != '\0' ? "\033[31m" : "",
            *injected != '\0' ? "<- " : "", injected, colour && *injected != '\0' ? "\033[0m" : "");
}

static void print_head(const struct trace_reader *reader, FILE *out)
{
    const struct trace_header *header = reader->header;
    uint64_t lost = atomic_load(&header->faults_lost);
    uint32_t unrecorded = atomic_load(&header->threads_unrecorded);
    fputs("# ", out);
    for (size_t i = 0; i < sizeof header->command && header->command[i] != '\0'; i++)
        fputc((unsigned char)header->command[i] < 0x20 || header->command[i] == 0x7f ? '?'
                                                                                     : header->command[i],
              out);
    fprintf(out, "\n# seed %" PRIu64 ", %zu faults\n", header->seed, reader->fault_count);
    if (lost > 0)
        fprintf(out, "# %" PRIu64 " faults more found no room\n", lost);
    if (unrecorded > 0)
        fprintf(out, "# the calls of %" PRIu32 " threads were not recorded (see --trace-rings)\n",
                unrecorded);
    if (reader->unfinished > 0)
        fprintf(out, "# %zu records were never finished\n", reader->unfinished);
    fputs("#   time, s  proc.thread call(object)                       result               injected\n", out);
}

void trace_print_text(const struct trace_reader *reader, bool faults_only, FILE *out)
{
    bool colour = wants_colour(out);
    print_head(reader, out);
    for (size_t i = 0; i < reader->count; i++)
        if (trace_is_shown(&reader->events[i], faults_only))
            print_line(reader, &reader->events[i], colour, out);
}

static json_t *text_or_null(const char *text)
{
    json_t *value = text != NULL && *text != '\0' ? json_string(text) : NULL;
    return value != NULL ? value : json_null();
}

static json_t *event_json(const struct trace_reader *reader, const struct trace_event *event)
{
    char object[40], injected[INJECTED_TEXT_MAX], key[20];
    trace_object_text(reader, event, object);
    trace_injected_text(reader, event, injected);
    /* As text: JSON numbers do not hold 64 bits everywhere. */
    snprintf(key, sizeof key, "%016llx", (unsigned long long)event->thread_key);
    return json_pack(
        "{s:s, s:I, s:I, s:i, s:i, s:I, s:I, s:o, s:o, s:I, s:o, s:i, s:o, s:I, s:o}", "key", key, "seq",
        (json_int_t)event->sequence, "t_ns", (json_int_t)event->time_ns, "pid", (int)event->pid, "tid",
        (int)event->tid, "proc", (json_int_t)event->proc, "thread", (json_int_t)event->thread, "call",
        text_or_null(trace_call_name(reader, event)), "object", text_or_null(object), "result",
        (json_int_t)trace_result(reader, event), "errno", text_or_null(trace_errno_text(reader, event)),
        "rule", event->rule == TRACE_RULE_SCRIPT ? -1 : (int)event->rule, "injected", text_or_null(injected),
        "index", (json_int_t)event->index, "logged", json_boolean(event->from_log));
}

void trace_print_json(const struct trace_reader *reader, bool faults_only, FILE *out)
{
    for (size_t i = 0; i < reader->count; i++) {
        if (!trace_is_shown(&reader->events[i], faults_only))
            continue;
        json_t *line = event_json(reader, &reader->events[i]);
        json_dumpf(line, out, JSON_COMPACT);
        fputc('\n', out);
        json_decref(line);
    }
}
