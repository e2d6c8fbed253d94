#include "fault-inject/rule/fields.h"

#include <stdarg.h>

void writer_add(struct writer *writer, const char *format, ...)
{
    size_t room = writer->length < writer->size ? writer->size - writer->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(room > 0 ? writer->out + writer->length : NULL, room, format, arguments);
    va_end(arguments);
    writer->length += length > 0 ? (size_t)length : 0;
}

static bool has_fd(const struct rule *rule, bool any_errno, int hook)
{
    (void)rule, (void)any_errno;
    return hook_table[hook].object == OBJECT_FD;
}

static bool has_path(const struct rule *rule, bool any_errno, int hook)
{
    (void)rule, (void)any_errno;
    enum hook_object object = hook_table[hook].object;
    return object == OBJECT_FD || object == OBJECT_PATH || object == OBJECT_AT;
}

static bool has_size(const struct rule *rule, bool any_errno, int hook)
{
    (void)rule, (void)any_errno;
    return hook_table[hook].has_size;
}

static bool can_be_shared(const struct rule *rule, bool any_errno, int hook)
{
    (void)rule, (void)any_errno;
    return hook_table[hook].object == OBJECT_MAPPING || hook_table[hook].object == OBJECT_MUTEX;
}

static bool has_mutex(const struct rule *rule, bool any_errno, int hook)
{
    (void)rule, (void)any_errno;
    return hook_table[hook].object == OBJECT_MUTEX;
}

/* Even errno=E! keeps EAI_* codes and errnos apart: they are returned in different ways. */
static bool may_fail_so(const struct rule *rule, bool any_errno, int hook)
{
    if (any_errno)
        return (rule->err < 0) == (hook_table[hook].fail == FAIL_EAI);
    return hook_may_fail_with(hook, rule->err);
}

static bool may_be_short(const struct rule *rule, bool any_errno, int hook)
{
    (void)rule, (void)any_errno;
    return hook_table[hook].shortness != SHORTNESS_NONE;
}

static bool may_be_dropped(const struct rule *rule, bool any_errno, int hook)
{
    (void)rule, (void)any_errno;
    return hook_table[hook].drop != DROP_NONE;
}

static bool tells_the_time(const struct rule *rule, bool any_errno, int hook)
{
    (void)rule, (void)any_errno;
    return hook == HOOK_clock_gettime || hook == HOOK_gettimeofday || hook == HOOK_time;
}

bool parse_nothing(struct draft *draft, struct span value)
{
    (void)draft, (void)value;
    return true;
}

/* In the order in which rules are printed. Names of marks and rendezvous are up to 47 letters, digits, '_-.'.
 */
const struct field rule_fields[] = {
    {.name = "nth",
     .shape = "=3 | =3+2 | =3..9 | =3+2..9",
     .expects = "a count from 1: 3, or 3+2 (3, 5, 7 and so on), or 3..9, or 3+2..9 (first, step, last)",
     .summary = "on the 3rd call that meets the other conditions; every 2nd from there; up to the 9th",
     .condition = WHEN_NTH,
     .value = VALUE_NEEDED,
     .parse = parse_nth,
     .print = print_nth},
    {.name = "p",
     .shape = "=0.01 | =1%",
     .expects = "a chance from 0 to 1 such as 0.01, or from 0% to 100%",
     .summary = "by chance, drawn from the seed",
     .condition = WHEN_P,
     .value = VALUE_NEEDED,
     .parse = parse_p,
     .print = print_p},
    {.name = "times",
     .shape = "=5",
     .expects = "a count from 1",
     .summary = "at most 5 times in the run",
     .condition = WHEN_TIMES,
     .value = VALUE_NEEDED,
     .parse = parse_times,
     .print = print_times},
    {.name = "fd",
     .shape = "=socket,pipe,file,other",
     .expects = "one or more of file, socket, pipe, other, with commas between them",
     .summary = "the descriptor is of one of these kinds",
     .condition = WHEN_FD_KIND,
     .value = VALUE_NEEDED,
     .parse = parse_fd,
     .print = print_fd,
     .suits = has_fd,
     .needs = "a call on a descriptor"},
    {.name = "path",
     .shape = "=GLOB",
     .expects = "a pattern of 1 to 127 bytes with * and ? such as /var/lib/*.db (write \\: for a colon)",
     .summary = "the path, or the name of the descriptor's file, matches",
     .condition = WHEN_PATH,
     .value = VALUE_NEEDED,
     .parse = parse_path,
     .print = print_path,
     .suits = has_path,
     .needs = "a call on a path or a descriptor"},
    {.name = "size",
     .shape = ">=2M | =N | <N | <=N | >N",
     .expects = "a comparison: =, <, <=, > or >= and a number of bytes such as 4096, 64K, 2M, 1G",
     .summary = "so many bytes are asked for",
     .condition = WHEN_SIZE,
     .value = VALUE_COMPARED,
     .parse = parse_size,
     .print = print_size,
     .suits = has_size,
     .needs = "a call with a number of bytes"},
    {.name = "shared",
     .shape = "",
     .summary = "the mapping or mutex is shared with other processes",
     .condition = WHEN_SHARED,
     .parse = parse_nothing,
     .print = print_shared,
     .suits = can_be_shared,
     .needs = "a call on a mapping or a mutex"},
    {.name = "robust",
     .shape = "",
     .summary = "the mutex is robust",
     .condition = WHEN_ROBUST,
     .parse = parse_nothing,
     .print = print_robust,
     .suits = has_mutex,
     .needs = "a call on a mutex"},
    {.name = "caller",
     .shape = "=LIBRARY:FUNCTION",
     .expects = "LIBRARY:FUNCTION, two globs of which one may be * (caller=libphp*:*)",
     .summary = "called from there (globs; the function is the exported symbol before the call)",
     .condition = WHEN_CALLER,
     .value = VALUE_NEEDED,
     .two_parts = true,
     .parse = parse_caller,
     .print = print_caller},
    {.name = "thread",
     .shape = "=N",
     .expects = "the ordinal of a thread in its process, from 1",
     .summary = "in the N-th thread of its process",
     .condition = WHEN_THREAD,
     .value = VALUE_NEEDED,
     .parse = parse_thread,
     .print = print_thread},
    {.name = "proc",
     .shape = "=N",
     .expects = "the ordinal of a process in the run, from 1",
     .summary = "in the N-th process of the run",
     .condition = WHEN_PROC,
     .value = VALUE_NEEDED,
     .parse = parse_proc,
     .print = print_proc},
    {.name = "after",
     .shape = "=MARK",
     .expects = "the name of a mark",
     .summary = "once the mark has been reached (by mark=, `ordeal ctl mark`, or ordeal_mark())",
     .condition = WHEN_AFTER,
     .value = VALUE_NEEDED,
     .parse = parse_after,
     .print = print_after},

    {.name = "errno",
     .shape = "=EINTR | =EINTR!",
     .expects = "the name of an error such as EINTR",
     .summary = "the call fails so, without being made (with !: even if it is not documented to)",
     .action = THEN_ERRNO,
     .value = VALUE_NEEDED,
     .parse = parse_errno,
     .print = print_errno,
     .suits = may_fail_so},
    {.name = "short",
     .shape = "=1",
     .expects = "a number of bytes from 1",
     .summary = "at most so many bytes are asked of the real call",
     .action = THEN_SHORT,
     .value = VALUE_NEEDED,
     .parse = parse_short,
     .print = print_short,
     .suits = may_be_short,
     .needs = "a call that may do less than it was asked for"},
    {.name = "delay",
     .shape = "=5ms",
     .expects = "a time up to 1 hour with its unit (ns, us, ms, s) such as 5ms",
     .summary = "the call is held up so long first",
     .action = THEN_DELAY,
     .value = VALUE_NEEDED,
     .parse = parse_delay,
     .print = print_delay},
    {.name = "die",
     .shape = "",
     .summary =
         "the process is killed (SIGKILL); a call that takes a lock is made first, so it dies as owner",
     .action = THEN_DIE,
     .parse = parse_nothing,
     .print = print_die},
    {.name = "exit",
     .shape = " | =STATUS",
     .expects = "a status from 0 to 255",
     .summary = "the process ends at once, without exit handlers (status 1 if none is given)",
     .action = THEN_EXIT,
     .value = VALUE_OPTIONAL,
     .parse = parse_exit,
     .print = print_exit},
    {.name = "pause",
     .shape = "=NAME | =NAME/5s",
     .expects = "the name of a rendezvous, and perhaps a time up to 1 hour: there, there/5s",
     .summary = "waits for wake=NAME or `ordeal ctl wake` (at most 10s if nothing else is said)",
     .action = THEN_PAUSE,
     .value = VALUE_NEEDED,
     .parse = parse_pause,
     .print = print_pause},
    {.name = "wake",
     .shape = "=NAME",
     .expects = "the name of a rendezvous",
     .summary = "lets one pause=NAME go on, also one that comes later",
     .action = THEN_WAKE,
     .value = VALUE_NEEDED,
     .parse = parse_wake,
     .print = print_wake},
    {.name = "mark",
     .shape = "=NAME",
     .expects = "the name of a mark",
     .summary = "reaches the mark, for after=NAME",
     .action = THEN_MARK,
     .value = VALUE_NEEDED,
     .parse = parse_mark,
     .print = print_mark},
    {.name = "signal",
     .shape = "=TERM",
     .expects = "a signal such as TERM or 15",
     .summary = "the process gets this signal",
     .action = THEN_SIGNAL,
     .value = VALUE_NEEDED,
     .parse = parse_signal,
     .print = print_signal},
    {.name = "drop",
     .shape = "",
     .summary = "the call is not made, and answers as if it had been",
     .action = THEN_DROP,
     .parse = parse_nothing,
     .print = print_drop,
     .suits = may_be_dropped,
     .needs = "a call whose success can be pretended"},
    {.name = "skew",
     .shape = "=+5s | =-5s",
     .expects = "a time with its unit and perhaps a sign such as +5s or -200ms",
     .summary = "the clock is wrong by so much",
     .action = THEN_SKEW,
     .value = VALUE_NEEDED,
     .parse = parse_skew,
     .print = print_skew,
     .suits = tells_the_time,
     .needs = "clock_gettime, gettimeofday or time"},
    {.name = "oom",
     .shape = "",
     .summary = "the same as errno=ENOMEM",
     .action = THEN_ERRNO,
     .parse = parse_oom,
     .print = NULL, /* printed as errno */
     .suits = may_fail_so},
};

const size_t rule_field_count = sizeof rule_fields / sizeof rule_fields[0];
_Static_assert(sizeof rule_fields / sizeof rule_fields[0] <= FIELDS_MAX, "draft.field_at has no room");
