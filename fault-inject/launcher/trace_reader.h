/* Reading a trace file, also one of a target that was killed, of a run that goes on, or one that was cut off.
 *
 *     struct trace_reader reader;
 *     if (trace_reader_open(&reader, "t.bin"))                     // says why not
 *         for (size_t i = 0; i < reader.count; i++)
 *             use(&reader.events[i]);                              // in the order in which things happened
 */
#ifndef ORDEAL_LAUNCHER_TRACE_READER_H
#define ORDEAL_LAUNCHER_TRACE_READER_H

#include "fault-inject/trace.h"

#include <stdbool.h>

enum { INJECTED_TEXT_MAX = 160 };

/* A record, copied out of the file. */
struct trace_event {
    uint64_t sequence;
    int64_t time_ns;
    uint64_t thread_key;
    int32_t pid, tid;
    uint32_t proc, thread;
    uint16_t call, rule;
    uint32_t index, actions;
    int32_t err;
    int64_t result;
    uint64_t object, argument;
    bool from_log; /* of the fault log: one action, written before it happened */
    bool covered;  /* a fault whose call stands in a ring as well, and is told there */
};

struct trace_reader {
    const struct trace_header *header;
    const unsigned char *bytes;
    uint64_t size;     /* of the file */
    bool cut_off;      /* it is shorter than it says */
    size_t unfinished; /* records whose writer did not get to the end */
    struct trace_event *events;
    size_t count, room;
    size_t fault_count; /* events of the fault log */
};

bool trace_reader_open(struct trace_reader *reader, const char *path);
void trace_reader_close(struct trace_reader *reader);

/* Nanoseconds from the start of the run; wraps around for times that no run has (a damaged file). */
int64_t trace_since_start_ns(const struct trace_reader *reader, const struct trace_event *event);

/* Joins calls in rings with their entries of the fault log: those become `covered`. */
void trace_reader_join(struct trace_reader *reader);

/* The name of an event's call as the trace's writer knew it, and its row here (-1: not known any more). */
const char *trace_call_name(const struct trace_reader *reader, const struct trace_event *event);
int trace_call_row(const struct trace_reader *reader, const struct trace_event *event);

/* "fd 3", "path #89ab…", "0x7f…", "" */
void trace_object_text(const struct trace_reader *reader, const struct trace_event *event, char out[40]);

/* "errno=EINTR by rule 1", "" for an ordinary call; with all actions of a call that was joined. */
void trace_injected_text(const struct trace_reader *reader, const struct trace_event *event,
                         char out[INJECTED_TEXT_MAX]);

/* "EINTR", or NULL when it succeeded. */
const char *trace_errno_text(const struct trace_reader *reader, const struct trace_event *event);

/* What the call returned; for an errno in the fault log, what it is about to return. */
int64_t trace_result(const struct trace_reader *reader, const struct trace_event *event);

#endif
