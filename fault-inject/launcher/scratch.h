/* The folder of --scratch, which is removed with all in it when the target has ended. */
#ifndef ORDEAL_LAUNCHER_SCRATCH_H
#define ORDEAL_LAUNCHER_SCRATCH_H

#include <limits.h>
#include <stdbool.h>

struct scratch {
    char path[PATH_MAX]; /* absolute; "" = none */
    unsigned long long device, inode;
};

/* Makes the folder if there is none, and refuses, saying so, one that nobody can want to lose. */
bool scratch_prepare(struct scratch *scratch, const char *path);

/* Removes it, unless another folder has taken its place; nothing behind a link or another mount is touched.
 */
void scratch_remove(const struct scratch *scratch);

#endif
