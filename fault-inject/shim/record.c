/* The trace: one shared file, a fault log that is never overwritten and a ring for each thread. See trace.h.
 */
#include "fault-inject/shim/raw.h"
#include "fault-inject/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

static struct trace_header *trace;

static bool is_readable_header(const struct trace_header *header, uint64_t size)
{
    return header->magic == TRACE_MAGIC && header->version == TRACE_VERSION && header->file_size == size &&
           header->record_size == sizeof(struct trace_record);
}

HIDDEN void shim_open_trace(void)
{
    if (CONTROL->trace_path[0] == '\0' || CONTROL->trace_mode == TRACE_OFF)
        return;
    long fd = raw_syscall(SYS_openat, AT_FDCWD, CONTROL->trace_path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    long size = raw_syscall(SYS_lseek, fd, 0, SEEK_END);
    long address = -1;
    if (size >= (long)sizeof(struct trace_header))
        address = raw_syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    raw_syscall(SYS_close, fd);
    if (address < 0 && address > -4096)
        return;
    if (is_readable_header((struct trace_header *)address, (uint64_t)size))
        trace = (struct trace_header *)address;
    else
        raw_syscall(SYS_munmap, address, size);
}

static struct trace_record *fault_log(void)
{
    return (struct trace_record *)((char *)trace + TRACE_FAULT_OFFSET);
}

static struct trace_ring *ring_at(uint32_t index)
{
    return (struct trace_ring *)((char *)trace + trace->ring_offset) + index;
}

/* FNV-1a: a path's name in a record that has no room for the path. */
static uint64_t hash_path(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (; *path != '\0'; path++)
        hash = (hash ^ (unsigned char)*path) * 0x100000001b3ULL;
    return hash;
}

static int64_t wall_clock_ns(void)
{
    struct timespec now = {0};
    REAL(clock_gettime)(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void fill(struct trace_record *record, const struct shim_call *call)
{
    record->time_ns = wall_clock_ns();
    record->thread_key = self.key;
    record->pid = self.pid;
    record->tid = self.tid;
    record->proc = self.process;
    record->thread = self.ordinal;
    record->call = (uint16_t)call->hook;
    record->rule = call->rule;
    record->index = call->index;
    record->err = call->err;
    record->object = call->path != NULL ? hash_path(call->path) : call->object;
    record->argument = call->argument;
}

/* The sequence goes in last: a record of a process that was killed in the middle keeps its 0. */
static void finish(struct trace_record *record)
{
    uint64_t sequence = atomic_fetch_add(&trace->sequence, 1) + 1;
    atomic_store_explicit(&record->sequence, sequence, memory_order_release);
}

HIDDEN void shim_record_fault(const struct shim_call *call, uint32_t action, int err)
{
    if (trace == NULL)
        return;
    uint64_t slot = atomic_fetch_add(&trace->fault_count, 1);
    if (slot >= trace->fault_capacity) {
        atomic_fetch_add(&trace->faults_lost, 1);
        return;
    }
    struct trace_record *record = &fault_log()[slot];
    fill(record, call);
    record->actions = action;
    record->err = err;
    record->result = 0;
    finish(record);
}

static bool is_dead(int32_t tid)
{
    return raw_syscall(SYS_kill, tid, 0) == -ESRCH;
}

static bool take_ring(struct trace_ring *ring, int32_t owner)
{
    if (!atomic_compare_exchange_strong(&ring->owner_tid, &owner, self.tid))
        return false;
    for (uint32_t i = 0; i < TRACE_RING_RECORDS; i++)
        atomic_store_explicit(&ring->records[i].sequence, 0, memory_order_relaxed);
    atomic_store(&ring->written, 0);
    self.ring = ring;
    return true;
}

/* A fresh ring while there is one, then one whose thread is gone; else this thread is counted as unrecorded.
 */
static void claim_ring(void)
{
    uint32_t fresh = atomic_load(&trace->rings_used);
    while (fresh < trace->ring_capacity)
        if (atomic_compare_exchange_weak(&trace->rings_used, &fresh, fresh + 1)) {
            take_ring(ring_at(fresh), 0);
            return;
        }
    for (uint32_t i = 0; i < trace->ring_capacity; i++) {
        int32_t owner = atomic_load(&ring_at(i)->owner_tid);
        if (owner != 0 && is_dead(owner) && take_ring(ring_at(i), owner))
            return;
    }
    atomic_fetch_add(&trace->threads_unrecorded, 1);
    self.ring_refused = true;
}

HIDDEN void shim_record_call(const struct shim_call *call, int64_t result)
{
    if (trace == NULL || self.ring_refused)
        return;
    if (self.ring == NULL)
        claim_ring();
    if (self.ring == NULL)
        return;
    uint64_t at = atomic_load_explicit(&self.ring->written, memory_order_relaxed);
    struct trace_record *record = &self.ring->records[at % TRACE_RING_RECORDS];
    atomic_store_explicit(&record->sequence, 0, memory_order_relaxed);
    fill(record, call);
    record->actions = call->actions;
    record->result = result;
    finish(record);
    atomic_store_explicit(&self.ring->written, at + 1, memory_order_release);
}
