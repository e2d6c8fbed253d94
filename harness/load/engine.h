/*
 * The event loop: takes requests from the schedule, puts them on free connections, lets the connections work,
 * and books how each request ended.
 *
 * A connection is in exactly one list: idle (open, free), closed (free), flying (has a request), or cooling
 * (closed loop only: its client got nothing back, and waits a moment before it asks again). All times in a
 * list grow from its head to its tail, because the timeout is the same for all: so only the head is ever
 * looked at.
 */
#ifndef ORDEAL_LOAD_ENGINE_H
#define ORDEAL_LOAD_ENGINE_H

#include "harness/load/account.h"
#include "harness/load/conn.h"
#include "harness/load/mix.h"
#include "harness/load/schedule.h"

struct conn_list {
    struct conn *first, *last;
};

struct observer;

enum engine_end { END_FINISHED, END_INTERRUPTED, END_ABORTED };

struct engine {
    const struct options *options;
    const struct mix *mix;
    struct wire_settings settings;
    struct wire_plan *plans; /* one a mix line */
    struct conn_env env;
    struct account account;
    struct schedule schedule;
    struct observer *observer;

    struct conn *conns;
    size_t conn_count;
    unsigned char *heads;
    struct conn_list idle, closed, flying, cooling;

    int signal_fd;
    bool draining; /* nothing more is sent */
    enum engine_end end;
    uint64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
    uint64_t next_live_ns, next_pace_ns;
    uint64_t stopped_ns;       /* when sending stopped */
    uint64_t last_answered_ns; /* the end of the last answered request */
    uint64_t unsent;           /* open loop: due, but never sent */
    uint64_t behind_end_ns;    /* how far the schedule was behind when sending stopped */
};

/* Who is told what happens: the live line, the losses file. */
struct observer {
    void (*second)(struct observer *observer, struct engine *engine, uint64_t now_ns);
    void (*failed)(struct observer *observer, struct engine *engine, const struct conn *conn,
                   uint64_t now_ns);
};

/* Everything is allocated and the target is connected to. False with a message: nothing was sent. */
bool engine_open(struct engine *engine, const struct options *options, const struct mix *mix,
                 const struct target *target, struct observer *observer, char *error, size_t error_bytes);

/* Runs to the end of the schedule (or a signal), then waits for what is in flight. */
void engine_run(struct engine *engine);

void engine_close(struct engine *engine);

#endif
