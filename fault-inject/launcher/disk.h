/* Files that are allocated in full before they are used, so that a full disk is an error message here and not
 * a SIGBUS in the target. */
#ifndef ORDEAL_LAUNCHER_DISK_H
#define ORDEAL_LAUNCHER_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Creates `path`, which must not exist, with `size` bytes of zeros on the disk. Returns a descriptor, or -1
 * having said why (`what`: "the trace file"); then nothing is left of it. */
int create_allocated(const char *path, uint64_t size, const char *what);

/* The same without a name as yet, in the folder of `path`; -2 where the file system knows no such files. */
int create_unnamed(const char *path, uint64_t size, const char *what);

/* Gives it its name. */
bool give_name(int fd, const char *path);

/* The absolute form of a path whose folder exists; false, having said why, otherwise. */
bool absolute_path(const char *path, char *out, size_t out_size);

#endif
