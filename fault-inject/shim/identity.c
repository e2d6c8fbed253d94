/* Who is calling: names for processes and threads that are the same in every run.
 *
 * A pid or tid is another one each time, so a replay cannot use it. A key is derived instead from the key of
 * the creator and from how many it had created before: the third thread of the first forked child has the
 * same key in every run in which that child creates three threads, whatever the other processes do meanwhile.
 */
#include "fault-inject/shim/raw.h"
#include "fault-inject/shim/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_OF_IMAGE = 1, KEY_OF_THREAD, KEY_OF_FORK, KEY_OF_SPAWN, KEY_OF_ROOT, KEY_OF_STRANGER };

static uint64_t process_key;
static uint32_t process_slot;

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014) over both words. */
HIDDEN uint64_t shim_mix(uint64_t a, uint64_t b)
{
    uint64_t z = a + 0x9e3779b97f4a7c15ULL * (b + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static uint64_t derive(uint64_t parent_key, int relation, uint32_t number)
{
    return shim_mix(shim_mix(parent_key, (uint64_t)relation), number);
}

static uint32_t processes_seen(void)
{
    uint32_t count = atomic_load(&CONTROL->process_count);
    return count < CONTROL_PROCESSES_MAX ? count : CONTROL_PROCESSES_MAX;
}

/* Newest first: a pid may have been used before. */
static struct control_process *find_process(int32_t pid)
{
    for (uint32_t i = processes_seen(); i > 0; i--)
        if (atomic_load(&CONTROL->processes[i - 1].pid) == pid)
            return &CONTROL->processes[i - 1];
    return NULL;
}

static void name_process(struct control_process *process)
{
    char path[1024];
    long length = raw_syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t i = 0;
    for (; name[i] != '\0' && i < sizeof process->name - 1; i++)
        process->name[i] = name[i];
    process->name[i] = '\0';
}

static void be_main_thread(struct control_process *process, uint64_t key)
{
    struct shim_thread fresh = {.in_hook = self.in_hook, .known = true, .ordinal = 1};
    fresh.pid = (int32_t)raw_syscall(SYS_getpid);
    fresh.tid = fresh.pid;
    fresh.process = process->ordinal;
    fresh.process_slot = (uint32_t)(process - CONTROL->processes);
    fresh.key = key;
    self = fresh;
    process_key = key;
    process_slot = fresh.process_slot;
    atomic_store(&process->threads, 1);
}

static struct control_process *claim_slot(int32_t pid, int32_t parent_pid, uint64_t key)
{
    uint32_t slot = atomic_fetch_add(&CONTROL->process_count, 1);
    if (slot >= CONTROL_PROCESSES_MAX)
        slot = CONTROL_PROCESSES_MAX - 1;
    struct control_process *process = &CONTROL->processes[slot];
    process->parent_pid = parent_pid;
    process->key = key;
    process->ordinal = slot + 1;
    atomic_store(&process->children, 0);
    atomic_store(&process->images, 1);
    name_process(process);
    atomic_store(&process->pid, pid);
    return process;
}

/* A process whose fork was not seen (posix_spawn, vfork, or the first of the run). */
static uint64_t key_by_parent(int32_t parent_pid)
{
    struct control_process *parent = find_process(parent_pid);
    if (parent != NULL)
        return derive(parent->key, KEY_OF_SPAWN, atomic_fetch_add(&parent->children, 1));
    uint32_t seen = processes_seen();
    return derive(0, seen == 0 ? KEY_OF_ROOT : KEY_OF_STRANGER, seen);
}

HIDDEN void shim_register_process(void)
{
    int32_t pid = (int32_t)raw_syscall(SYS_getpid);
    struct control_process *process = find_process(pid);
    if (process == NULL) {
        int32_t parent_pid = (int32_t)raw_syscall(SYS_getppid);
        process = claim_slot(pid, parent_pid, key_by_parent(parent_pid));
        be_main_thread(process, process->key);
        return;
    }
    uint32_t image = atomic_fetch_add(&process->images, 1);
    name_process(process);
    be_main_thread(process, derive(process->key, KEY_OF_IMAGE, image));
}

/* A thread that did not come through pthread_create (clone): it gets a name of its own, good for this run
 * only. */
HIDDEN void shim_know_thread(void)
{
    self.known = true;
    self.pid = (int32_t)raw_syscall(SYS_getpid);
    self.tid = (int32_t)raw_syscall(SYS_gettid);
    self.process_slot = process_slot;
    self.process = CONTROL->processes[process_slot].ordinal;
    self.key = derive(process_key, KEY_OF_STRANGER, (uint32_t)self.tid);
}

/* ---- pthread_create ---- */

struct birth {
    void *(*start)(void *);
    void *argument;
    uint64_t key;
    uint32_t ordinal;
};

static void *begin_thread(void *pointer)
{
    struct birth birth = *(struct birth *)pointer;
    self.in_hook++;
    free(pointer);
    shim_know_thread();
    self.key = birth.key;
    self.ordinal = birth.ordinal;
    self.in_hook--;
    return birth.start(birth.argument);
}

static int create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                         void *argument)
{
    self.in_hook++;
    if (!self.known)
        shim_know_thread();
    struct birth *birth = malloc(sizeof *birth);
    self.in_hook--;
    if (birth == NULL)
        return REAL(pthread_create)(thread, attributes, start, argument);
    birth->start = start;
    birth->argument = argument;
    birth->key = derive(self.key, KEY_OF_THREAD, ++self.threads_created);
    birth->ordinal = atomic_fetch_add(&CONTROL->processes[process_slot].threads, 1) + 1;
    self.in_hook++; /* what glibc allocates for a thread is not the target's call */
    int result = REAL(pthread_create)(thread, attributes, begin_thread, birth);
    if (result != 0)
        free(birth);
    self.in_hook--;
    return result;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *argument)
{
    if (CONTROL->magic != CONTROL_MAGIC)
        return REAL(pthread_create)(thread, attributes, start, argument);
    if (!shim_armed(HOOK_pthread_create))
        return create_thread(thread, attributes, start, argument);
    struct shim_call call = shim_call_of(HOOK_pthread_create, __builtin_return_address(0));
    shim_enter(&call);
    if (call.fail)
        return call.err;
    int result = create_thread(thread, attributes, start, argument);
    shim_leave(&call, result);
    return result;
}

/* ---- fork ---- */

static pid_t fork_known(pid_t (*real_fork)(void))
{
    if (!self.known) {
        self.in_hook++;
        shim_know_thread();
        self.in_hook--;
    }
    uint64_t key = derive(self.key, KEY_OF_FORK, ++self.forks);
    int32_t parent_pid = (int32_t)raw_syscall(SYS_getpid);
    pid_t child = real_fork();
    if (child != 0)
        return child;
    self.in_hook++;
    be_main_thread(claim_slot((int32_t)raw_syscall(SYS_getpid), parent_pid, key), key);
    self.in_hook--;
    return 0;
}

static pid_t fork_hooked(pid_t (*real_fork)(void), const void *caller)
{
    if (CONTROL->magic != CONTROL_MAGIC)
        return real_fork();
    if (!shim_armed(HOOK_fork))
        return fork_known(real_fork);
    struct shim_call call = shim_call_of(HOOK_fork, caller);
    shim_enter(&call);
    if (call.fail) {
        errno = call.err;
        return -1;
    }
    pid_t child = fork_known(real_fork);
    if (child != 0)
        shim_leave(&call, child);
    return child;
}

EXPORT pid_t fork(void)
{
    return fork_hooked(REAL(fork), __builtin_return_address(0));
}

/* fork without the atfork handlers (glibc 2.34 and later). */
EXPORT pid_t _Fork(void)
{
    static pid_t (*next)(void);
    if (next == NULL)
        next = (pid_t(*)(void))dlsym(RTLD_NEXT, "_Fork");
    return fork_hooked(next, __builtin_return_address(0));
}
