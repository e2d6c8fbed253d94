/* The three forms in which `ordeal trace` shows a trace. */
#ifndef ORDEAL_LAUNCHER_TRACE_PRINT_H
#define ORDEAL_LAUNCHER_TRACE_PRINT_H

#include "fault-inject/launcher/trace_reader.h"

#include <stdio.h>

/* Which events: all (faults that stand with their call told once), or the fault log alone. */
bool trace_is_shown(const struct trace_event *event, bool faults_only);

void trace_print_text(const struct trace_reader *reader, bool faults_only, FILE *out);
void trace_print_json(const struct trace_reader *reader, bool faults_only, FILE *out);
void trace_print_chrome(const struct trace_reader *reader, bool faults_only, FILE *out);

#endif
