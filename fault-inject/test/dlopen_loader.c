/* A library that opens a plugin by its bare name, which only this library's own RUNPATH can find: it does so
 * only if libc's dlopen still sees this library as its caller. */
#include <dlfcn.h>

void *loader_open(int mode);
void *loader_open(int mode)
{
    void *volatile plugin = dlopen("dlopen_plugin.so", mode); /* a call, not a jump: it must come from here */
    return plugin;
}
