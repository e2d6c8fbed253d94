/* How latencies are written, for people (1.25 ms) and in JSON (microseconds). */
#ifndef ORDEAL_LOAD_UNITS_H
#define ORDEAL_LOAD_UNITS_H

#include "harness/load/histogram.h"
#include "harness/load/json_out.h"

/* "870 us", "1.25 ms", "3.2 s" */
void units_duration(char *out, size_t size, uint64_t duration_us);

/* "p50_us": ... "max_us": into the object that is open: the fields of a live line. */
void units_latency_json(struct json *json, const struct histogram *histogram);

#endif
