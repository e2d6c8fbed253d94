/* One run of a command under the shim: the files are made, the environment is set, the command is supervised.
 */
#ifndef ORDEAL_LAUNCHER_LAUNCH_H
#define ORDEAL_LAUNCHER_LAUNCH_H

#include "fault-inject/launcher/control_file.h"
#include "fault-inject/launcher/supervise.h"
#include "fault-inject/launcher/trace_file.h"

struct launch {
    char *const *argv;
    struct control_page *draft; /* rules or script, seed; taken over by launch_prepare() */
    const char *control_path;   /* NULL: a temporary file */
    const char *trace_path;     /* NULL: no trace */
    enum trace_mode trace_mode;
    uint32_t trace_rings;
    const char *scratch; /* NULL: none */
    bool force;          /* go on although a preload cannot reach the program */

    struct supervise_job job;    /* for the caller: die_with_parent, timeout_ns, *_fd */
    struct control_file control; /* afterwards: the counters */
    struct supervise_result result;
};

/* A launch with its defaults: descriptors inherited, everything else off. */
void launch_begin(struct launch *launch, char *const *argv);

/* Everything up to the start; 0, or the exit status, having said why. */
int launch_prepare(struct launch *launch);

/* Runs it to its end. 0, or EXIT_LAUNCHER. launch_end() is needed in either case. */
int launch_run(struct launch *launch);

void launch_end(struct launch *launch);

#endif
