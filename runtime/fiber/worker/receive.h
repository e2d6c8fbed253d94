/* The callbacks of the FastCGI reader; their context is the connection. */
#ifndef ORDEAL_FIBER_WORKER_RECEIVE_H
#define ORDEAL_FIBER_WORKER_RECEIVE_H

#include "runtime/fiber/worker/conn.h"

extern const struct fcgi_handler receive_handler;

#endif
