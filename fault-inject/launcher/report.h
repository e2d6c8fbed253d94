/* What is told when a run is over: a block on stderr, and the JSON file of --report. */
#ifndef ORDEAL_LAUNCHER_REPORT_H
#define ORDEAL_LAUNCHER_REPORT_H

#include "fault-inject/launcher/launch.h"

#include <stdio.h>

/* Leftovers are told even with --quiet: they are a finding. */
void report_leftovers(const struct supervise_result *result);

/* `ordeal_argv`: the launcher's own command line, from which the line that replays is made. */
void report_block(const struct launch *launch, char *const *ordeal_argv, bool seed_was_given);

/* Writes the file at once or not at all; false, having said why. */
bool report_write(const struct launch *launch, const char *path);

#endif
