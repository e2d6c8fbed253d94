/* What planted defects (runtime/defect.h) remember from one request for another. A right server has no such
 * thing: in a plain build this does not exist, and no code uses it. */
#ifndef ORDEAL_FIBER_PLANTED_H
#define ORDEAL_FIBER_PLANTED_H

#include "runtime/defect.h"

#include <stdbool.h>

enum { PLANTED_PATHS = 64 };

struct planted {
    unsigned fatals;         /* B1: fatal errors so far */
    bool out_of_memory;      /* N1: there was one */
    bool client_left;        /* N8: one was gone */
    unsigned error_handling; /* B16: of a request that waits */
    void *exception_class;
    bool tls_seen;              /* B21: a TLS connection was opened */
    char *paths[PLANTED_PATHS]; /* N6: scripts that were run */
};
extern struct planted planted;

/* A call that only a build with planted defects makes; it looks itself which of them are alive. */
#ifdef ORDEAL_DEFECTS
#define PLANTED(call) (call)
#else
#define PLANTED(call) ((void)0)
#endif

/* ---- sched/planted.c, on a request's stack ---- */

void planted_before_wait(void);
void planted_after_wait(void);
void planted_hook_collector(void); /* U1 */

/* ---- sapi/planted.c, in a request ---- */

void planted_request_begins(void); /* after PHP's own request has started */
void planted_request_ends(void);   /* before it is shut down */
void planted_run_before(const char *path);

#endif
