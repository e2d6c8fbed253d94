/* The trace file: what was called and what was injected, in shared memory that outlives a SIGKILL.
 *
 * Two parts, both in one file of fixed size, allocated in full before the target starts (so a full disk is an
 * error of the launcher, not a SIGBUS of the target):
 *
 *   header | fault log: every injected fault, in order, never overwritten | rings: one a thread, the last
 * calls
 *
 * The fault log is what `ordeal replay` needs and is exact: a fault that found no room is counted in
 * `faults_lost` and makes the trace unfit for replay, which is then said. Rings are for reading: each holds
 * the newest TRACE_RING_RECORDS calls of one thread, older ones are overwritten (`written` tells how many
 * there were). Records are numbered by one global sequence, so a reader can merge the rings into one order.
 *
 *     struct trace_record r = { .call = HOOK_flock, .result = -1, .err = EINTR, .rule = 1, .index = 2 };
 *     // "the 2nd flock of that thread was made to fail with EINTR by rule 1"
 */
#ifndef ORDEAL_TRACE_H
#define ORDEAL_TRACE_H

#include "fault-inject/hooks.h"

#include <stdatomic.h>
#include <stdint.h>

#define TRACE_MAGIC 0x3145434152544f4fULL /* "OOTRACE1" */
#define TRACE_VERSION 1u

enum {
    TRACE_FAULTS_MAX = 131072, /* x 80 bytes = 10 MiB */
    TRACE_RINGS_MAX = 256,     /* default; the launcher may choose fewer or more */
    TRACE_RING_RECORDS = 1024, /* x 80 bytes = 80 KiB a thread */
    TRACE_RINGS_LIMIT = 65536
};

enum trace_mode { TRACE_OFF, TRACE_FAULTS, TRACE_ALL };

struct trace_record {
    _Atomic uint64_t sequence; /* from 1, written last: 0 = this record was never finished */
    int64_t time_ns;           /* CLOCK_REALTIME */
    uint64_t thread_key;       /* the same in every run: see control_process.key */
    int32_t pid, tid;
    uint32_t proc, thread; /* ordinals from 1: the process in the run, the thread in its process */
    uint16_t call;         /* enum hook_id */
    uint16_t rule;         /* from 1; 0 = none; TRACE_RULE_SCRIPT in a replay */
    uint32_t index;        /* how many calls of this hook the thread had made, with this one */
    uint32_t actions; /* 0 = an ordinary call; in the fault log the one THEN_* of control.h that was done */
    int32_t err;      /* errno after the call (or the code it returned), 0 if it succeeded */
    int64_t result;   /* what the call returned; for a fault recorded before its call was made: 0 */
    uint64_t object;  /* fd, address, or hash of a path: by the hook's object column */
    uint64_t
        argument; /* of the action: short bytes, delay_ns, skew_ns, exit status, signal number, rendezvous */
};

#define TRACE_RULE_SCRIPT 0xffffu

struct trace_ring {
    _Atomic int32_t owner_tid; /* 0 = free */
    uint32_t reserved;
    _Atomic uint64_t written; /* records ever written; the newest is at (written - 1) % TRACE_RING_RECORDS */
    uint8_t pad[48];
    struct trace_record records[TRACE_RING_RECORDS];
};

struct trace_header {
    uint64_t magic;
    uint32_t version;
    uint32_t record_size; /* sizeof(struct trace_record): a reader of another build refuses */
    uint32_t fault_capacity;
    uint32_t ring_capacity;
    uint32_t hook_count;
    uint32_t mode; /* enum trace_mode */
    uint64_t seed;
    int64_t start_time_ns; /* CLOCK_REALTIME */
    uint64_t file_size;
    uint64_t ring_offset; /* from the start of the file, page aligned */
    _Atomic uint64_t sequence;
    _Atomic uint64_t fault_count; /* ever logged, may exceed fault_capacity */
    _Atomic uint64_t faults_lost;
    _Atomic uint32_t rings_used;
    _Atomic uint32_t threads_unrecorded; /* found no free ring */
    char command[512];
    char only[64];                 /* as in the control page: a replay must leave out the same processes */
    char hook_names[HOOK_MAX][32]; /* so that a trace can be read by another version's `ordeal trace` */
    /* the fault log follows at TRACE_FAULT_OFFSET */
};

#define TRACE_FAULT_OFFSET 8192u
_Static_assert(sizeof(struct trace_header) <= TRACE_FAULT_OFFSET, "the fault log starts behind the header");

#endif
