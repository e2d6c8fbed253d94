/*
 * When requests are sent.
 *
 * Open loop: request k is due at start + k / rate, whatever became of the requests before it. Its latency
 * counts from that intended time. A generator that waits for a slow answer before it sends the next request,
 * and counts from the late send, hides exactly the slowness it was to measure ("coordinated omission", as
 * wrk2 explains). So when no connection is free the due requests wait in line: no memory is needed for that,
 * the line is the numbers from `next` to the last due one.
 *
 *     rate 1000/s, one connection, each answer takes 2 ms: request 10 is due at 10 ms, sent at 20 ms,
 *     answered at 22 ms. Its latency is 12 ms, and the schedule is 10 ms behind.
 *
 * Closed loop (rate 0): a request is due whenever a client is free, and its intended time is when it is sent.
 */
#ifndef ORDEAL_LOAD_SCHEDULE_H
#define ORDEAL_LOAD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULE_NEVER UINT64_MAX

struct schedule {
    uint64_t start_ns;
    uint64_t end_ns;          /* nothing is due from here on */
    uint64_t rate_millihertz; /* 0: closed loop */
    uint64_t total;           /* requests to send at most */
    uint64_t next;            /* the number of the next request */
    uint64_t behind_ns_max;   /* the worst delay of a send */
};

/* duration_ns, requests: 0 = no limit of that kind. */
void schedule_begin(struct schedule *schedule, uint64_t now_ns, uint64_t rate_millihertz,
                    uint64_t duration_ns, uint64_t requests);

uint64_t schedule_intended_ns(const struct schedule *schedule, uint64_t number);
bool schedule_due(const struct schedule *schedule, uint64_t now_ns);

/* Takes the request that is due; returns its number, and the time its latency counts from. */
uint64_t schedule_take(struct schedule *schedule, uint64_t now_ns, uint64_t *intended_ns);

/* When the next request becomes due; SCHEDULE_NEVER when all have been taken. */
uint64_t schedule_next_ns(const struct schedule *schedule);

/* How many requests were due before `now` and have not been taken. */
uint64_t schedule_backlog(const struct schedule *schedule, uint64_t now_ns);

#endif
