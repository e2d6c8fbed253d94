/* The command line of ordeal-load: one table (options.c) gives the parser, its messages and --help. */
#ifndef ORDEAL_LOAD_OPTIONS_H
#define ORDEAL_LOAD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_ERROR_BYTES 512
#define CONNECTIONS_MAX 50000

enum slow_mode { SLOW_OFF, SLOW_HEADER_BYTES, SLOW_STALLED_BODY, SLOW_NO_READ };

extern const char *const slow_names[];

struct options {
    const char *target, *root, *mix, *get;
    const char *live, *losses, *json;
    const char *slow_name;
    enum slow_mode slow;
    uint64_t rate_millihertz; /* 0: closed loop */
    uint64_t clients;
    uint64_t connections;
    uint64_t duration_ns;
    uint64_t requests;
    uint64_t timeout_ns;
    uint64_t pace_ns;
    uint64_t seed;
    bool keep_alive, quiet, die_with_parent, help;
};

/* False with a message on bad usage. Everything that has a default is filled in. */
bool options_parse(struct options *options, int argc, char **argv, char error[OPTIONS_ERROR_BYTES]);
void options_help(void);

#endif
