/* Where a wrapper goes on: the next definition of the call behind ours. */
#include "fault-inject/shim/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

HIDDEN void *shim_real[HOOK_COUNT];

/* Some calls exist in several versions that behave differently, and an unversioned look-up finds the oldest.
 */
static const struct {
    enum hook_id hook;
    const char *version;
} versioned[] = {
    {HOOK_pthread_cond_wait, "GLIBC_2.3.2"},   {HOOK_pthread_cond_timedwait, "GLIBC_2.3.2"},
    {HOOK_pthread_cond_signal, "GLIBC_2.3.2"}, {HOOK_pthread_cond_broadcast, "GLIBC_2.3.2"},
    {HOOK_posix_spawn, "GLIBC_2.15"},          {HOOK_posix_spawnp, "GLIBC_2.15"},
};

/* The look-up itself may allocate: then these serve. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void *allocator_of_libc(enum hook_id hook)
{
    switch (hook) {
    case HOOK_malloc:
        return (void *)__libc_malloc;
    case HOOK_calloc:
        return (void *)__libc_calloc;
    case HOOK_realloc:
        return (void *)__libc_realloc;
    case HOOK_aligned_alloc:
        return (void *)__libc_memalign;
    default:
        return NULL;
    }
}

static void *look_up(enum hook_id hook)
{
    for (size_t i = 0; i < sizeof versioned / sizeof versioned[0]; i++)
        if (versioned[i].hook == hook) {
            void *found = dlvsym(RTLD_NEXT, hook_table[hook].name, versioned[i].version);
            if (found != NULL)
                return found;
        }
    return dlsym(RTLD_NEXT, hook_table[hook].name);
}

static __thread bool resolving __attribute__((tls_model("initial-exec")));

HIDDEN void *shim_resolve(enum hook_id hook)
{
    void *fallback = allocator_of_libc(hook);
    if (resolving && fallback != NULL)
        return fallback;
    int saved_errno = errno;
    resolving = true;
    self.in_hook++;
    void *found = look_up(hook);
    self.in_hook--;
    resolving = false;
    errno = saved_errno;
    if (found == NULL)
        found = fallback;
    __atomic_store_n(&shim_real[hook], found, __ATOMIC_RELAXED);
    return found;
}

HIDDEN void shim_resolve_all(void)
{
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        if (__atomic_load_n(&shim_real[hook], __ATOMIC_RELAXED) == NULL)
            shim_resolve((enum hook_id)hook);
}
