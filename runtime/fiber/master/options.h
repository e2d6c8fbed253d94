/* The command line, which is php-fpm's. */
#ifndef ORDEAL_FIBER_OPTIONS_H
#define ORDEAL_FIBER_OPTIONS_H

#include "runtime/fiber/master/master.h"

struct options {
    const char *config_path, *pid_path; /* NULL: not given */
    int daemonize;                      /* 1, 0; -1: as the configuration says */
    unsigned test;                      /* 2: and print it */
    bool root_allowed, force_stderr, help, version;
    struct php_options php;
};

/* False: `problem` says what is wrong. */
bool options_read(int argc, char **argv, struct options *options, char problem[MASTER_PROBLEM_BYTES]);
void options_free(struct options *options);

extern const char options_usage[];

#endif
