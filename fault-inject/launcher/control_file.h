/* The control page (control.h) as the launcher makes and uses it.
 *
 * A run's page is built in memory, so that a bad rule is found before anything exists, and then written to
 * its file, which appears under its name only when it is complete:
 *
 *     struct control_page *draft = control_draft();       // rules, seed, script are entered here
 *     if (control_create(&file, draft, NULL))             // now file.page is shared with the target
 *         setenv(CONTROL_ENV, file.path, 1);
 */
#ifndef ORDEAL_LAUNCHER_CONTROL_FILE_H
#define ORDEAL_LAUNCHER_CONTROL_FILE_H

#include "fault-inject/control.h"

#include <limits.h>

struct control_file {
    char path[PATH_MAX];
    bool is_temporary; /* to be removed at the end */
    int unnamed_fd;    /* the file has no name as yet: see give_name(); -1: it has */
    struct control_page *page;
};

/* An empty page in private memory, with magic and version; NULL without memory. */
struct control_page *control_draft(void);
void control_discard(struct control_page *draft);

/* Puts the draft into a file: `path`, or one of our own in /dev/shm or TMPDIR if that is NULL. Says why not.
 */
bool control_create(struct control_file *file, const struct control_page *draft, const char *path);

/* Maps an existing file; returns NULL having said why not. `fd` stays open for control_lock(). */
struct control_page *control_open(const char *path, int *fd);

void control_close(struct control_file *file);

/* Sets ARMED_RULES on the hooks of rules that are active and armed, and on no other. */
void control_recompute_armed(struct control_page *page);

/* Adds ARMED_* flags to the hooks that some rule names, armed or not. */
void control_add_flags(struct control_page *page, unsigned flags);

#endif
