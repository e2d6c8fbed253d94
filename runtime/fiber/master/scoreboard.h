/* What each worker does, in memory that master and workers share. A slot is written by its own worker only,
 * with relaxed atomics, and may be read by anyone at any time: each number is right, two numbers need not be
 * of the same moment. */
#ifndef ORDEAL_FIBER_SCOREBOARD_H
#define ORDEAL_FIBER_SCOREBOARD_H

#include <stdatomic.h>
#include <stdint.h>

enum worker_state { WORKER_EMPTY, WORKER_STARTING, WORKER_RUNNING, WORKER_DRAINING };

struct scoreboard_slot {
    _Atomic int32_t pid;
    _Atomic uint32_t state;         /* enum worker_state */
    _Atomic int64_t started_s;      /* CLOCK_REALTIME */
    _Atomic uint64_t requests;      /* taken, since this worker started */
    _Atomic uint64_t slow;          /* of them, slower than request_slowlog_timeout */
    _Atomic uint32_t in_flight;     /* run or wait now */
    _Atomic uint32_t in_flight_max; /* the most there ever were */
    _Atomic uint32_t queued;        /* wait for others to end */
    _Atomic uint64_t bound_reached; /* how often a request had to wait for others */
};

/* One pool's slots, one a worker. NULL: no memory. Lives as long as the process. */
struct scoreboard_slot *scoreboard_new(unsigned count);

#endif
