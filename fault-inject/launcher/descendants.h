/* The processes below this one, for finding and ending what a target leaves behind.
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

/* Those that are alive (not zombies): fills at most LEFTOVERS_MAX and returns how many there are. */
size_t descendants_list(struct leftover out[LEFTOVERS_MAX]);

/* Ends all with SIGKILL and reaps them; returns when none is left. */
void descendants_kill(void);

#endif
