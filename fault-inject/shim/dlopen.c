/* dlopen without RTLD_DEEPBIND.
 *
 * PHP loads its extensions with that flag, which makes a library look among its own dependencies before it
 * looks at a preload: every call of the extension would pass us by. The real dlopen finds its caller (whose
 * RUNPATH counts) from the return address, so it must be reached by a jump: at -O2 the compilers make one of
 * this, and test_dlopen.c would notice if they did not. */
#include "fault-inject/shim/shim.h"

#include <dlfcn.h>

static void *(*next_dlopen)(const char *, int);

COLD static void resolve(void)
{
    next_dlopen = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
}

EXPORT void *dlopen(const char *file, int mode)
{
    if (UNLIKELY(next_dlopen == NULL))
        resolve();
    return next_dlopen(file, mode & ~RTLD_DEEPBIND);
}
