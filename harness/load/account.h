/*
 * The account of a run: every request that was sent ends in exactly one column.
 *
 *     answered    a complete, well-formed answer with the expected status and the request's own marker
 *     refused     the target or the kernel said no (a reason says how)
 *     lost        after the connection was made, no complete answer came (a reason says why)
 *     isolation   the answer carried another request's marker
 *
 *     sent = answered + refused + lost + isolation + in flight         account_balanced()
 */
#ifndef ORDEAL_LOAD_ACCOUNT_H
#define ORDEAL_LOAD_ACCOUNT_H

#include "harness/load/decoder.h"
#include "harness/load/histogram.h"

#include <uthash.h>

#define REASONS_MAX 256

enum outcome { OUTCOME_ANSWERED, OUTCOME_REFUSED, OUTCOME_LOST, OUTCOME_ISOLATION, OUTCOMES };

extern const char *const outcome_names[OUTCOMES];

struct reason {
    UT_hash_handle hh;
    uint64_t count;
    char text[REASON_BYTES];
};

struct account_line {
    uint64_t sent;
    uint64_t ended[OUTCOMES];
    struct histogram latency;
};

struct account {
    uint64_t sent;
    uint64_t in_flight;
    uint64_t ended[OUTCOMES];
    struct reason *reasons[OUTCOMES]; /* a hash by text; at most REASONS_MAX, then "other reasons" */
    struct account_line *lines;       /* one a mix line */
    size_t line_count;
    struct histogram second; /* latencies since the last live line */
};

bool account_open(struct account *account, size_t line_count);
void account_close(struct account *account);

void account_sent(struct account *account, size_t line);

/* reason: for all but answered. latency_us: for answered. */
void account_answered(struct account *account, size_t line, uint64_t latency_us);
void account_failed(struct account *account, size_t line, enum outcome outcome, const char *reason);

bool account_balanced(const struct account *account);

/* The latencies of all lines together. */
void account_latency(const struct account *account, struct histogram *sum);

/* The most frequent reason first. */
void account_sort_reasons(struct account *account);

#endif
