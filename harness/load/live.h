/* What is told while the load runs: a JSON line and a line on the terminal each second, and each loss. */
#ifndef ORDEAL_LOAD_LIVE_H
#define ORDEAL_LOAD_LIVE_H

#include "harness/load/engine.h"

#include <stdio.h>

struct live {
    struct observer observer; /* first: the engine's handle */
    FILE *live;               /* --live, or NULL */
    FILE *losses;             /* --losses, or NULL */
    bool terminal;            /* stderr is one, and --quiet was not given */
    uint64_t last_ns, last_answered;
};

/* Opens the files. False with a message when one cannot be written. */
bool live_open(struct live *live, const struct options *options, char *error, size_t error_bytes);
/* Ends the terminal's line and closes the files; false when one could not be written in full. */
bool live_close(struct live *live);

#endif
