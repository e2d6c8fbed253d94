/* The control page: what the launcher tells the shim, and what the shim counts, in one shared file mapping.
 *
 * The launcher parses and checks the rules, writes them here in compiled form and starts the target with
 * ORDEAL_CTL=<file>; in each process of the target the shim maps the file over its own (page-aligned, all
 * zero) copy of this struct, so a flag is read without a pointer in between, and a process that has no
 * control file behaves as one in which nothing is armed. `ordeal ctl` maps the same file to arm, disarm, wake
 * and read counters while the target runs: no syscall is made in the target for that.
 *
 *   launcher            file                     target process (one of many)
 *   control_create() -> [ armed[] | rules … ] <- shim: if (armed[HOOK_read]) look at the rules
 *   ordeal ctl arm   -> armed[HOOK_read] = 1
 *
 * Everything that changes after the target has started is atomic; the rest is written before it starts.
 * All integers are in host order: the file lives and dies with one run on one machine.
 */
#ifndef ORDEAL_CONTROL_H
#define ORDEAL_CONTROL_H

#include "fault-inject/hooks.h"

#include <stdatomic.h>
#include <stdint.h>

#define CONTROL_MAGIC 0x4c4f52544e4f434fULL /* "OCONTROL" */
#define CONTROL_VERSION 1u

enum {
    CONTROL_RULES_MAX = 256,
    CONTROL_MARKS_MAX = 64,
    CONTROL_RENDEZVOUS_MAX = 64,
    CONTROL_PROCESSES_MAX = 16384, /* processes ever seen in a run; later ones share the last ordinal */
    CONTROL_SCRIPT_MAX = 65536,    /* faults that a replay can re-inject */
    CONTROL_NAME_MAX = 48,         /* of marks and rendezvous, with the final NUL */
    CONTROL_RULE_TEXT_MAX = 256,
    CONTROL_GLOB_MAX = 128
};

/* What armed[hook] says; 0 = the wrapper goes straight through. */
enum {
    ARMED_RULES = 1,  /* at least one armed rule names this call */
    ARMED_TRACE = 2,  /* every call is recorded in the thread's ring */
    ARMED_COUNT = 4,  /* calls are counted, so that a fault's per-thread index is known (trace, replay) */
    ARMED_SCRIPT = 8, /* a replay: faults come from the script, not from rules */
    ARMED_TRACK = 16  /* the shim itself needs the call (never set by the launcher) */
};

/* Which conditions a rule has (rule.conditions) and what it does (rule.actions). */
enum {
    WHEN_NTH = 1 << 0,
    WHEN_P = 1 << 1,
    WHEN_FD_KIND = 1 << 2,
    WHEN_PATH = 1 << 3,
    WHEN_SIZE = 1 << 4,
    WHEN_SHARED = 1 << 5,
    WHEN_ROBUST = 1 << 6,
    WHEN_CALLER = 1 << 7,
    WHEN_THREAD = 1 << 8,
    WHEN_PROC = 1 << 9,
    WHEN_AFTER = 1 << 10,
    WHEN_TIMES = 1 << 11
};
enum {
    THEN_ERRNO = 1 << 0,
    THEN_SHORT = 1 << 1,
    THEN_DELAY = 1 << 2,
    THEN_DIE = 1 << 3,
    THEN_EXIT = 1 << 4,
    THEN_PAUSE = 1 << 5,
    THEN_WAKE = 1 << 6,
    THEN_SIGNAL = 1 << 7,
    THEN_DROP = 1 << 8,
    THEN_SKEW = 1 << 9,
    THEN_MARK = 1 << 10
};
enum { FD_KIND_FILE = 1, FD_KIND_SOCKET = 2, FD_KIND_PIPE = 4, FD_KIND_OTHER = 8 };
enum size_op { SIZE_EQ, SIZE_LT, SIZE_LE, SIZE_GT, SIZE_GE };

/* One compiled rule. A call is considered by a rule when its hook bit is set; the cheap conditions are tried
 * first; `matched` counts the calls that met all conditions but nth, p and times, and its value is what nth
 * is compared with, over all threads and processes of the run. */
struct rule {
    uint64_t hooks[HOOK_MAX / 64];
    uint32_t conditions; /* WHEN_* */
    uint32_t actions;    /* THEN_* */

    uint64_t nth_first, nth_step, nth_last; /* fires on first, first+step … <= last; step 0: on first only */
    uint64_t p_threshold;                   /* fires when a 64-bit draw is below; UINT64_MAX: always */
    uint64_t times_max;
    uint64_t size_bytes;
    uint32_t size_op;
    uint32_t fd_kinds;     /* FD_KIND_* */
    uint32_t thread, proc; /* ordinals from 1 */
    int32_t after_mark;    /* index into marks */

    int32_t err;          /* errno, or EAI code for getaddrinfo */
    uint64_t short_bytes; /* at most so many bytes are asked of the real call */
    int64_t delay_ns;
    int64_t skew_ns;
    uint64_t pause_timeout_ns;
    int32_t exit_status;
    int32_t signal_number;
    int32_t pause_point, wake_point; /* index into rendezvous */
    int32_t mark;                    /* index into marks: reached when the rule fires */

    char path_glob[CONTROL_GLOB_MAX];
    char caller_library[CONTROL_GLOB_MAX];  /* glob on the file name of the calling object; "" = any */
    char caller_function[CONTROL_GLOB_MAX]; /* glob on the exported symbol at or before the call; "" = any */
    char text[CONTROL_RULE_TEXT_MAX];       /* as the user wrote it */

    uint32_t active;        /* chosen by swarm activation; a rule that is not stays quiet for the run */
    _Atomic uint32_t armed; /* toggled by `ordeal ctl` */
    _Alignas(64) _Atomic uint64_t matched;
    _Atomic uint64_t fired;
    _Atomic uint64_t pause_timeouts;
};

/* A named moment. `after=NAME` holds once hits > 0. */
struct control_mark {
    char name[CONTROL_NAME_MAX];
    _Atomic uint64_t hits;
};

/* A rendezvous: wake=X adds one token, pause=X takes one and waits (futex on `tokens`) while there is none.
 */
struct control_rendezvous {
    char name[CONTROL_NAME_MAX];
    _Atomic uint32_t tokens;
    _Atomic uint32_t waiting;
    _Atomic uint64_t arrivals;
};

/* A process of the run. `key` identifies it over runs: it is made of the parent's key and of how many
 * children that parent had before, so it does not depend on pids or on which of two parents forked first. A
 * slot is claimed with a compare-and-swap on `pid`. */
struct control_process {
    _Atomic int32_t pid;
    int32_t parent_pid;
    uint64_t key;
    uint32_t ordinal;          /* 1 = the first process seen, in order of appearance */
    _Atomic uint32_t children; /* forked so far, by the hook or found by their first call */
    _Atomic uint32_t threads;  /* created so far, with the first */
    _Atomic uint32_t images;   /* exec'ed programs so far */
    char name[16];             /* of the executable, cut */
};

/* One fault of a replay: at the index-th call (from 1) of `hook` in the thread `thread_key`, do this again.
 */
struct control_script_entry {
    uint64_t thread_key;
    uint32_t hook;
    uint32_t index;
    uint32_t actions; /* THEN_* */
    int32_t err;
    uint64_t short_bytes;
    int64_t delay_ns;
    int64_t skew_ns;
    int32_t exit_status;
    int32_t signal_number;
    _Atomic uint32_t injected;
    int32_t point; /* pause, wake: index into rendezvous */
};

struct control_page {
    _Atomic uint8_t
        armed[HOOK_MAX]; /* ARMED_* by hook; first, so that the hot path's load is one displacement */

    uint64_t magic;
    uint32_t version;
    uint32_t rule_count_at_start;
    uint64_t seed;
    char only[64];         /* basename of the executable to inject in; "" = every one */
    char trace_path[1024]; /* "" = no trace */
    int32_t launcher_pid;
    uint32_t trace_mode; /* enum trace_mode */
    uint32_t script_count;
    _Atomic uint32_t rule_count;
    _Atomic uint32_t mark_count;
    _Atomic uint32_t rendezvous_count;
    _Atomic uint32_t process_count;
    _Atomic uint32_t refused;         /* processes that saw another version of this file and left it alone */
    _Atomic uint64_t injected;        /* faults in all */
    _Atomic uint64_t calls[HOOK_MAX]; /* calls that took the slow path */

    struct rule rules[CONTROL_RULES_MAX];
    struct control_mark marks[CONTROL_MARKS_MAX];
    struct control_rendezvous rendezvous[CONTROL_RENDEZVOUS_MAX];
    struct control_process processes[CONTROL_PROCESSES_MAX];
    /* In file order by (thread_key, hook, index), so that the shim can search it. */
    struct control_script_entry script[CONTROL_SCRIPT_MAX];
};

/* Name of the environment variable that tells the shim where the file is. */
#define CONTROL_ENV "ORDEAL_CTL"

#endif
