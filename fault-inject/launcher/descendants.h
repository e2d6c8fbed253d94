/* The processes below this one: ending what a target leaves behind.
 *
 * The caller is a subreaper (PR_SET_CHILD_SUBREAPER): whatever loses its parent becomes its child. So killing
 * the children, reaping them, and doing so again until there are none ends every descendant, and never
 * another process: the pid of a child that was not reaped yet cannot be used anew.
 */
#ifndef ORDEAL_LAUNCHER_DESCENDANTS_H
#define ORDEAL_LAUNCHER_DESCENDANTS_H

#include <stddef.h>
#include <stdint.h>

enum { LEFTOVERS_MAX = 64 };

struct leftover {
    int32_t pid;
    char name[16];
};

struct leftovers {
    size_t count; /* the first LEFTOVERS_MAX are kept */
    struct leftover items[LEFTOVERS_MAX];
};

/* Ends all with SIGKILL and reaps them; returns when none is left. Those that were alive are entered in
 * `told`, unless that is NULL. */
void descendants_kill(struct leftovers *told);

#endif
