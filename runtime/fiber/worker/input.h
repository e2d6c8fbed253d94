/* The client's side of a connection: its bytes, and its end. */
#ifndef ORDEAL_FIBER_WORKER_INPUT_H
#define ORDEAL_FIBER_WORKER_INPUT_H

#include "runtime/fiber/worker/conn.h"

/* Takes what has come, and does what has become possible by it: the connection may be gone afterwards. The
 * callback of conn->readable. */
void input_ready(evutil_socket_t fd, short what, void *conn);

/* A request that runs, or waits for a slot, takes what it takes. */
bool input_is_served(const struct connection *conn);

#endif
