/* A trace's fault log as the script of a replay.
 *
 * A fault is found again by its place: the thread's key, the call, and how many calls of that kind the thread
 * had made. So a replay does in each thread what was done there, whatever the threads do among each other.
 */
#ifndef ORDEAL_LAUNCHER_SCRIPT_H
#define ORDEAL_LAUNCHER_SCRIPT_H

#include "fault-inject/control.h"
#include "fault-inject/launcher/trace_reader.h"

struct script {
    struct trace_event *events; /* in the order of page->script */
    uint32_t count;
    uint32_t marks; /* faults that only reached a mark: nothing to repeat */
};

/* Fills page->script and what goes with it. False, having said why, when the trace cannot be replayed. */
bool script_make(struct script *script, const struct trace_reader *reader, struct control_page *page,
                 const char *name);

/* Says which faults were not injected again; returns how many. At most `lines_max` of them by name. */
uint32_t script_report_missing(const struct script *script, const struct trace_reader *reader,
                               const struct control_page *page, uint32_t lines_max);

#endif
