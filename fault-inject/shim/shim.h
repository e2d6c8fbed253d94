/* libordeal.so from the inside: what a wrapper, the rules and the trace share.
 *
 * A wrapper (wrappers.c) costs one load and one branch when its call is not armed. When it is, it describes
 * the call, asks shim_enter() what is to happen, obeys, and tells shim_leave() how it went:
 *
 *     struct shim_call call = shim_call_of(HOOK_flock, caller);
 *     call.object = (uint64_t)fd;
 *     shim_enter(&call);                       // may sleep, wait at a rendezvous, or not return
 *     if (call.fail) { errno = call.err; return -1; }
 *     int result = real flock(fd, operation);
 *     shim_leave(&call, result);               // trace; die once the lock is held
 *
 * Nothing here allocates, takes a lock or calls a hooked function on a path that a target can reach; what it
 * needs of the kernel it asks for with raw.h. errno is the caller's from shim_enter() to shim_leave().
 */
#ifndef ORDEAL_SHIM_H
#define ORDEAL_SHIM_H

#include "fault-inject/control.h"
#include "fault-inject/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))
#define COLD __attribute__((noinline, cold))
/* Out of the way of the fast path, but fast itself: `cold` would be compiled for size. */
#define APART __attribute__((noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#if defined(__x86_64__)
#define SHIM_PAGE_ALIGN 4096
#else
#define SHIM_PAGE_ALIGN 65536
#endif

/* The control page: zeros (nothing armed) until page.c maps the launcher's file over it. Padded to whole
 * pages, so that nothing else of ours is shared with other processes by accident. */
union shim_control {
    struct control_page page;
    char pad[(sizeof(struct control_page) + SHIM_PAGE_ALIGN - 1) / SHIM_PAGE_ALIGN * SHIM_PAGE_ALIGN];
};
extern HIDDEN union shim_control shim_control;
#define CONTROL (&shim_control.page)

/* What a thread knows of itself. `key` is the same in every run with the same order of creations in its
 * parent. */
struct shim_thread {
    int in_hook; /* > 0: calls made now are the shim's own and pass straight through */
    bool known;
    uint32_t ordinal; /* in its process, from 1; 0 for a thread that was not created through pthread_create */
    uint32_t process; /* ordinal of the process in the run, from 1 */
    uint32_t process_slot; /* index into control_page.processes */
    int32_t pid, tid;
    uint32_t threads_created, forks; /* by this thread */
    uint64_t key;
    struct trace_ring *ring;
    bool ring_refused;        /* there was none left */
    uint32_t index[HOOK_MAX]; /* calls made, by hook */
};
extern HIDDEN __thread struct shim_thread self __attribute__((tls_model("initial-exec")));

/* One intercepted call. The wrapper fills the first part, shim_enter() the second. */
struct shim_call {
    enum hook_id hook;
    int flags; /* mmap: its flags */
    const void *caller;
    uint64_t object; /* fd, address or pid */
    const char *path;
    uint64_t size;

    bool fail, drop;
    int err;
    uint64_t short_bytes; /* 0 = all */
    int64_t skew_ns;
    bool followed; /* shim_leave() has something to do */
    bool has_late; /* a rule waits for the lock to be held */
    uint32_t index;
    uint32_t actions; /* THEN_* carried out */
    uint16_t rule;    /* that decided the outcome, from 1 */
    uint64_t argument;
};

/* Field by field: an initializer of this size becomes `rep stos`, which alone costs as much as the rest. */
static inline struct shim_call shim_call_of(enum hook_id hook, const void *caller)
{
    struct shim_call call;
    call.hook = hook;
    call.flags = 0;
    call.caller = caller;
    call.object = 0;
    call.path = NULL;
    call.size = 0;
    call.fail = call.drop = call.followed = call.has_late = false;
    call.err = 0;
    call.index = call.actions = call.rule = 0;
    call.short_bytes = call.argument = 0;
    call.skew_ns = 0;
    return call;
}

static inline unsigned shim_armed(enum hook_id hook)
{
    return atomic_load_explicit(&CONTROL->armed[hook], memory_order_relaxed);
}

HIDDEN void shim_enter(struct shim_call *call);
HIDDEN void shim_leave(struct shim_call *call, int64_t result);

/* real.c: the next definition of each call. */
extern HIDDEN void *shim_real[HOOK_COUNT];
HIDDEN COLD void *shim_resolve(enum hook_id hook);
HIDDEN void shim_resolve_all(void);
static inline void *shim_found(enum hook_id hook)
{
    return __atomic_load_n(&shim_real[hook], __ATOMIC_RELAXED);
}
static inline void *shim_next(enum hook_id hook)
{
    void *next = shim_found(hook);
    return LIKELY(next != NULL) ? next : shim_resolve(hook);
}
#define REAL(name) ((__typeof__(&name))shim_next(HOOK_##name))

/* identity.c */
HIDDEN void shim_register_process(void);
HIDDEN void shim_know_thread(void);
HIDDEN uint64_t shim_mix(uint64_t a, uint64_t b);

/* rules.c, conditions.c, actions.c */
HIDDEN void shim_apply_rules(struct shim_call *call, bool after_call);
HIDDEN void shim_apply_script(struct shim_call *call, bool after_call);
HIDDEN bool shim_conditions_hold(const struct rule *rule, const struct shim_call *call);
struct shim_effect; /* what a rule or a script entry asks for */
HIDDEN void shim_carry_out(struct shim_call *call, const struct shim_effect *effect);
HIDDEN void shim_reach_mark(int index);

struct shim_effect {
    uint32_t actions;
    uint16_t rule;
    int32_t err;
    uint64_t short_bytes;
    int64_t delay_ns, skew_ns;
    int32_t exit_status, signal_number;
    int32_t pause_point, wake_point, mark;
    uint64_t pause_timeout_ns;
    _Atomic uint64_t *pause_timeouts;
};

/* record.c: the trace file. */
HIDDEN void shim_open_trace(void);
HIDDEN void shim_record_fault(const struct shim_call *call, uint32_t action, int err);
HIDDEN void shim_record_call(const struct shim_call *call, int64_t result);

/* Whether the call takes a lock: then die, exit and signal happen once the lock is held. */
HIDDEN bool shim_acquires(enum hook_id hook);

#endif
