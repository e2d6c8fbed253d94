/* The end of a run: the summary as text and as JSON. */
#ifndef ORDEAL_LOAD_REPORT_H
#define ORDEAL_LOAD_REPORT_H

#include "harness/load/engine.h"

#include <stdio.h>

void report_text(FILE *file, const struct engine *engine);
void report_json(FILE *file, const struct engine *engine);

#endif
