/* The program that is to be started: where it is, and whether a preloaded library can reach it. */
#ifndef ORDEAL_LAUNCHER_PROGRAM_H
#define ORDEAL_LAUNCHER_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

struct program {
    char path[PATH_MAX];   /* to be given to execve */
    char unreachable[512]; /* why a preload cannot reach it; "" if it can */
};

/* Looks `name` up as execvp would. 0, or the exit status to end with, having said why. */
int program_find(const char *name, struct program *program);

#endif
