/* Which calls the shim intercepts, as data: the launcher's and the shim's common view of hooks.def.
 *
 * Example: is EINTR a legal outcome of flock, and may a read be cut short?
 *
 *     int flock_id = hook_find("flock", 5);
 *     hook_may_fail_with(flock_id, EINTR);                    // true
 *     hook_table[hook_find("read", 4)].shortness != SHORTNESS_NONE;   // true
 */
#ifndef ORDEAL_HOOKS_H
#define ORDEAL_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hook_id {
#define HOOK(name, ...) HOOK_##name,
#define HOOK_BY_HAND(name, ...) HOOK_##name,
#include "fault-inject/hooks.def"
#undef HOOK
#undef HOOK_BY_HAND
    HOOK_COUNT
};

/* Room in the control page and in rules' bit sets; raising it changes the control page's version. */
#define HOOK_MAX 192
_Static_assert(HOOK_COUNT <= HOOK_MAX, "HOOK_MAX has no room for every row of hooks.def");

enum hook_family {
    FAMILY_FILE,
    FAMILY_SOCKET,
    FAMILY_LOCK,
    FAMILY_MEMORY,
    FAMILY_THREAD,
    FAMILY_TIME,
    FAMILY_PROCESS,
    FAMILY_COUNT
};

/* How a call reports failure: see the head of hooks.def. */
enum hook_fail { FAIL_MINUS_ONE, FAIL_NULL_PTR, FAIL_MAP_FAIL, FAIL_RETURNS_ERR, FAIL_EAI, FAIL_LEFT_OVER };
enum hook_shortness { SHORTNESS_NONE, SHORTNESS_BYTES, SHORTNESS_IOV, SHORTNESS_MSG };
enum hook_drop { DROP_NONE, DROP_RETURNS_SIZE, DROP_RETURNS_ZERO };
enum hook_object {
    OBJECT_NONE,
    OBJECT_FD,
    OBJECT_PATH,
    OBJECT_AT,
    OBJECT_ADDRESS,
    OBJECT_MUTEX,
    OBJECT_MAPPING
};

struct hook_info {
    const char *name;
    enum hook_family family;
    enum hook_fail fail;
    enum hook_shortness shortness;
    enum hook_drop drop;
    enum hook_object object;
    bool has_size;         /* the size condition applies */
    const int *errnos;     /* ends with 0 */
    const char *prototype; /* "int flock(int fd, int operation)" */
};

extern const struct hook_info hook_table[HOOK_COUNT];
extern const char *const hook_family_name[FAMILY_COUNT]; /* "file", "socket", … */

/* The row called name[0..length), or -1. Aliases (open64, __read_chk …) are not rows of their own. */
int hook_find(const char *name, size_t length);

/* Whether row `hook` may legally report error number (or EAI code) `err`. */
bool hook_may_fail_with(int hook, int err);

/* "EINTR" for EINTR; for getaddrinfo's row, "EAI_AGAIN" for EAI_AGAIN. NULL if the number has no name here.
 */
const char *hook_errno_name(int hook, int err);

/* The number of an errno or EAI_* name, or 0 when there is none such (EAI codes are negative). */
int hook_errno_number(const char *name, size_t length);

#endif
