/* Does a rule's "when" hold for this call? One test a condition. */
#include "fault-inject/shim/raw.h"
#include "fault-inject/shim/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* * and ?, without libc's locale and allocation. */
static bool glob_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = text;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static bool thread_holds(const struct rule *rule, const struct shim_call *call)
{
    (void)call;
    return self.ordinal == rule->thread;
}

static bool process_holds(const struct rule *rule, const struct shim_call *call)
{
    (void)call;
    return self.process == rule->proc;
}

static bool after_holds(const struct rule *rule, const struct shim_call *call)
{
    (void)call;
    return rule->after_mark >= 0 && atomic_load(&CONTROL->marks[rule->after_mark].hits) > 0;
}

static bool size_holds(const struct rule *rule, const struct shim_call *call)
{
    switch ((enum size_op)rule->size_op) {
    case SIZE_EQ:
        return call->size == rule->size_bytes;
    case SIZE_LT:
        return call->size < rule->size_bytes;
    case SIZE_LE:
        return call->size <= rule->size_bytes;
    case SIZE_GT:
        return call->size > rule->size_bytes;
    case SIZE_GE:
        return call->size >= rule->size_bytes;
    }
    return false;
}

/* glibc's mutex kind: bit 4 says robust, bit 7 says process-shared (nptl/pthreadP.h). */
static int mutex_kind(const struct shim_call *call)
{
    return ((const pthread_mutex_t *)(uintptr_t)call->object)->__data.__kind;
}

static bool robust_holds(const struct rule *rule, const struct shim_call *call)
{
    (void)rule;
    return hook_table[call->hook].object == OBJECT_MUTEX && (mutex_kind(call) & 16) != 0;
}

static bool shared_holds(const struct rule *rule, const struct shim_call *call)
{
    (void)rule;
    if (hook_table[call->hook].object == OBJECT_MUTEX)
        return (mutex_kind(call) & 128) != 0;
    return (call->flags & (MAP_SHARED | MAP_SHARED_VALIDATE)) == MAP_SHARED ||
           (call->flags & MAP_SHARED_VALIDATE) == MAP_SHARED_VALIDATE;
}

static bool fd_kind_holds(const struct rule *rule, const struct shim_call *call)
{
    struct stat status;
    if (raw_syscall(SYS_fstat, (int)call->object, &status) != 0)
        return false;
    uint32_t kind = S_ISREG(status.st_mode)    ? FD_KIND_FILE
                    : S_ISSOCK(status.st_mode) ? FD_KIND_SOCKET
                    : S_ISFIFO(status.st_mode) ? FD_KIND_PIPE
                                               : FD_KIND_OTHER;
    return (rule->fd_kinds & kind) != 0;
}

/* "/proc/self/fd/" and the number, without printf. */
static void fd_link(int fd, char *path, size_t size)
{
    static const char prefix[] = "/proc/self/fd/";
    char digits[12];
    size_t count = 0, at = sizeof prefix - 1;
    unsigned left = (unsigned)fd;
    do
        digits[count++] = (char)('0' + left % 10);
    while ((left /= 10) != 0);
    memcpy(path, prefix, at);
    while (count > 0 && at < size - 1)
        path[at++] = digits[--count];
    path[at] = '\0';
}

static bool path_holds(const struct rule *rule, const struct shim_call *call)
{
    if (call->path != NULL)
        return glob_matches(rule->path_glob, call->path);
    if (hook_table[call->hook].object != OBJECT_FD || (int)call->object < 0)
        return false;
    char link[40], path[1024];
    fd_link((int)call->object, link, sizeof link);
    long length = raw_syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    return glob_matches(rule->path_glob, path);
}

/* dladdr knows exported symbols only: a static function counts as the exported one before it. */
static bool caller_holds(const struct rule *rule, const struct shim_call *call)
{
    Dl_info info;
    int saved_errno = errno;
    bool known = call->caller != NULL && dladdr(call->caller, &info) != 0;
    errno = saved_errno;
    if (!known)
        return false;
    const char *library = info.dli_fname != NULL ? info.dli_fname : "";
    const char *slash = strrchr(library, '/');
    if (rule->caller_library[0] != '\0' &&
        !glob_matches(rule->caller_library, slash != NULL ? slash + 1 : library))
        return false;
    const char *function = info.dli_sname != NULL ? info.dli_sname : "";
    return rule->caller_function[0] == '\0' || glob_matches(rule->caller_function, function);
}

/* nth, p and times are not here: they are about the count of the calls for which the others hold (rules.c).
 */
#define PLACE(condition) __builtin_ctz(condition)
static bool (*const holds[32])(const struct rule *, const struct shim_call *) = {
    [PLACE(WHEN_THREAD)] = thread_holds,   [PLACE(WHEN_PROC)] = process_holds,
    [PLACE(WHEN_AFTER)] = after_holds,     [PLACE(WHEN_SIZE)] = size_holds,
    [PLACE(WHEN_ROBUST)] = robust_holds,   [PLACE(WHEN_SHARED)] = shared_holds,
    [PLACE(WHEN_FD_KIND)] = fd_kind_holds, [PLACE(WHEN_CALLER)] = caller_holds,
    [PLACE(WHEN_PATH)] = path_holds,
};

/* In the order of cost: everything that is a comparison, then what asks the kernel or the loader. */
#define CHEAP (WHEN_THREAD | WHEN_PROC | WHEN_AFTER | WHEN_SIZE | WHEN_ROBUST | WHEN_SHARED)
#define DEAR (WHEN_FD_KIND | WHEN_CALLER | WHEN_PATH)

static bool all_hold(uint32_t wanted, const struct rule *rule, const struct shim_call *call)
{
    for (; wanted != 0; wanted &= wanted - 1)
        if (!holds[PLACE(wanted)](rule, call))
            return false;
    return true;
}

HIDDEN bool shim_conditions_hold(const struct rule *rule, const struct shim_call *call)
{
    return all_hold(rule->conditions & CHEAP, rule, call) && all_hold(rule->conditions & DEAR, rule, call);
}
