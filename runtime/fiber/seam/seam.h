/* The seam: blocking calls of libc, defined by the executable. The dynamic linker binds libphp and all of its
 * libraries to the definitions of the executable first, so a call that any of them makes comes here. Which
 * calls, and what each does, is seam.def; a page of the manual is made from it.
 *
 * A definition looks like this:
 *
 *     int usleep(useconds_t us)
 *     {
 *         if (!SEAM_TAKES(usleep))
 *             return REAL(usleep)(us);
 *         ...
 *     }
 */
#ifndef ORDEAL_FIBER_SEAM_H
#define ORDEAL_FIBER_SEAM_H

#include "runtime/fiber/real.h"

#include <stdbool.h>
#include <stdint.h>

struct slot;
extern __thread struct slot *slot_current;

enum seam_call {
#define SEAM(call, what, note) SEAM_##call,
#include "runtime/fiber/seam/seam.def"
#undef SEAM
    SEAM_CALLS
};

extern bool seam_disabled[SEAM_CALLS];

/* fiber.disable_interceptions: this call goes straight to the system. False: there is no such call. */
bool seam_disable(const char *call);

/* "sleep, usleep, ..." for messages. */
const char *seam_names(void);

#define SEAM_TAKES(call) (slot_current && !seam_disabled[SEAM_##call])

enum { SEAM_MS_NS = 1000000, SEAM_S_NS = 1000000000 };

/* ---- between the files of seam/ ---- */

/* Waits until one descriptor is ready. False: the request is being ended, errno is set. */
bool seam_wait_fd(int fd, short events, int64_t timeout_ns);

/* The same for as long as SO_RCVTIMEO or SO_SNDTIMEO say; at their end errno is EAGAIN. */
bool seam_wait_socket(int fd, short events);

bool seam_is_nonblocking(int fd);

/* A span that is longer than 64 bits hold is INT64_MAX: for ever, to all practical purposes. */
struct timespec;
int64_t seam_ns_of(const struct timespec *time);

/* How long to wait before asking again, after `ns` was not enough: twice that, up to a bound. */
int64_t seam_longer_ns(int64_t ns, int64_t ns_max);

/* Lets time pass; true: all of it. */
bool seam_sleep_ns(int64_t duration_ns);

#endif
