/* How start.c hands over to slot.c. */
#ifndef ORDEAL_FIBER_ENGINE_OPEN_H
#define ORDEAL_FIBER_ENGINE_OPEN_H

#include "runtime/fiber/engine/engine.h"

void slots_open(const struct engine_limits *limits, const char *virgin_image);

#endif
