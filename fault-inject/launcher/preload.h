/* Getting libordeal.so into the target. */
#ifndef ORDEAL_LAUNCHER_PRELOAD_H
#define ORDEAL_LAUNCHER_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the library: ORDEAL_LIB, or beside this executable (../lib, ../lib/ordeal). Says why not. */
bool preload_find(char *out, size_t out_size);

/* Puts it at the front of LD_PRELOAD in this process's environment, once. */
bool preload_set(const char *library);

#endif
