/* What the system keeps for a process and PHP lets a script change: environment, working directory, locale,
 * umask. Each slot has its own; they are set when a slot is loaded that has others than the process has now,
 * so that requests which change nothing cost nothing. */
#ifndef ORDEAL_FIBER_ENGINE_PROCESS_H
#define ORDEAL_FIBER_ENGINE_PROCESS_H

#include "runtime/fiber/engine/text_domain.h"

#include <stdbool.h>
#include <sys/types.h>

struct process_state {
    char **env;         /* environ */
    const char *cwd;    /* these three are interned: equal texts have equal addresses */
    const char *locale; /* of all categories, as setlocale(LC_ALL, NULL) tells */
    const char *tz;     /* TZ, for tzset(); NULL: not set */
    mode_t mask;
    struct text_state text; /* gettext's */
};

void process_begin(void); /* notes what the process has now */
const struct process_state *process_first(void);

/* Makes the process have this state. */
void process_apply(const struct process_state *state);

/* What the seam tells after a script's call; NULL arguments of the calls themselves change nothing. */
int process_chdir(struct process_state *state, const char *path);
int process_fchdir(struct process_state *state, int fd);
char *process_setlocale(struct process_state *state, int category, const char *locale);
mode_t process_umask(struct process_state *state, mode_t mask);
int process_putenv(struct process_state *state, char *entry); /* "NAME=value" or "NAME" */
int process_setenv(struct process_state *state, const char *name, const char *value, int overwrite);
int process_unsetenv(struct process_state *state, const char *name);

/* Before a request: what the process had at first. The environment of the last one is freed. */
void process_reset(struct process_state *state);

#endif
