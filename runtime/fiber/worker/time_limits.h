/* request_terminate_timeout and request_slowlog_timeout: of each request alone, whether it waits or computes.
 *
 * A request whose time is over is told so; its shutdown functions and destructors still run, and get the same
 * time once more. Then it is thrown away, and the worker is replaced when the others have ended. */
#ifndef ORDEAL_FIBER_WORKER_TIME_LIMITS_H
#define ORDEAL_FIBER_WORKER_TIME_LIMITS_H

#include "runtime/fiber/worker/exchange.h"

void time_limits_start(struct exchange *exchange);
void time_limits_stop(struct exchange *exchange);

/* The file of the slow log, opened anew. False: it cannot be. */
struct worker;
bool slow_log_open(struct worker *worker);

#endif
