/* The trace file (trace.h): making it for a run. */
#ifndef ORDEAL_LAUNCHER_TRACE_FILE_H
#define ORDEAL_LAUNCHER_TRACE_FILE_H

#include "fault-inject/trace.h"

struct trace_plan {
    const char *path; /* absolute */
    uint32_t rings;
    enum trace_mode mode;
    uint64_t seed;
    const char *only;
    char *const *argv; /* the command, for the reader */
};

/* Creates or replaces the file, all of it allocated; says why not. */
bool trace_create(const struct trace_plan *plan);

#endif
