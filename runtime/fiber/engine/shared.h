/* Memory of PHP that all requests of a process share, and why that is right: shared.def is the list. */
#ifndef ORDEAL_FIBER_ENGINE_SHARED_H
#define ORDEAL_FIBER_ENGINE_SHARED_H

#include <stdbool.h>

bool shared_contains(const char *at);

#endif
