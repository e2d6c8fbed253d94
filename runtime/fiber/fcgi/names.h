/* The protocol's numbers as words, for messages. */
#ifndef ORDEAL_FIBER_FCGI_NAMES_H
#define ORDEAL_FIBER_FCGI_NAMES_H

#include "runtime/fiber/fcgi/fcgi.h"

/* "PARAMS"; "unknown" for a number that is none. */
const char *fcgi_type_name(uint8_t type);

/* "FCGI_MAX_CONNS": each value that GET_VALUES may ask for; NULL ends the list. */
struct fcgi_value_name {
    const char *name;
    enum fcgi_value value;
};
extern const struct fcgi_value_name fcgi_value_names[];

/* The value with this name, or 0. */
unsigned fcgi_value_named(const char *name, size_t bytes);

#endif
