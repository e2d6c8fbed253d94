#include "runtime/fiber/fcgi/names.h"

#include <string.h>

static const char *const type_names[FCGI_TYPES] = {
    [FCGI_BEGIN_REQUEST] = "BEGIN_REQUEST",
    [FCGI_ABORT_REQUEST] = "ABORT_REQUEST",
    [FCGI_END_REQUEST] = "END_REQUEST",
    [FCGI_PARAMS] = "PARAMS",
    [FCGI_STDIN] = "STDIN",
    [FCGI_STDOUT] = "STDOUT",
    [FCGI_STDERR] = "STDERR",
    [FCGI_DATA] = "DATA",
    [FCGI_GET_VALUES] = "GET_VALUES",
    [FCGI_GET_VALUES_RESULT] = "GET_VALUES_RESULT",
    [FCGI_UNKNOWN_TYPE] = "UNKNOWN_TYPE",
};

const char *fcgi_type_name(uint8_t type)
{
    return type < FCGI_TYPES && type_names[type] != NULL ? type_names[type] : "unknown";
}

const struct fcgi_value_name fcgi_value_names[] = {
    {"FCGI_MAX_CONNS", FCGI_MAX_CONNS},
    {"FCGI_MAX_REQS", FCGI_MAX_REQS},
    {"FCGI_MPXS_CONNS", FCGI_MPXS_CONNS},
    {NULL, 0},
};

unsigned fcgi_value_named(const char *name, size_t bytes)
{
    for (const struct fcgi_value_name *row = fcgi_value_names; row->name != NULL; row++)
        if (strlen(row->name) == bytes && memcmp(row->name, name, bytes) == 0)
            return row->value;
    return 0;
}
