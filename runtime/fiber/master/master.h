/* The master process: opens the sockets, starts PHP once, forks the workers, and from then on sees to it that
 * there are as many as the configuration says. There is no PHP in it: what it needs of PHP is a table.
 *
 *     static const struct master_php php = {.engine_start = start, .worker_run = worker_run};
 *     int main(int argc, char **argv)
 *     {
 *         return command_run(argc, argv, &php);     // command.h: php-fpm's options, then master_run()
 *     }
 *
 * It is told what to do by php-fpm's signals:
 *
 *     SIGTERM, SIGINT   Terminating: workers get SIGTERM, after 3 s SIGKILL
 *     SIGQUIT           Finishing: workers get SIGQUIT and finish what they have
 *     SIGUSR1           the logs are opened again, in the workers as well
 *     SIGUSR2           Reloading: see below
 *
 * A worker that finishes has process_control_timeout for it, then it gets SIGTERM, and 3 s later SIGKILL.
 * Unlike in php-fpm, where 0 (the default) leaves no time at all, it means here that there is no limit.
 *
 * **A reload loses nothing.** php-fpm stops its workers first, waits for them, and starts the new program
 * then: meanwhile nobody is served, and a configuration that turns out to be wrong is the end. Here:
 *
 *     1. the new program, with the new configuration, is run with -t; a socket that is new is opened. If any
 *        of it fails, the log says so, and everything stays as it was;
 *     2. the program is executed anew in the same process. Sockets and children stay open through that; what
 *        they are, it reads from a file in memory (handover.c). The workers go on serving all the time;
 *     3. the new workers start. When each pool has one whose slot says WORKER_RUNNING, the old ones
 *        get SIGQUIT.
 *
 * A worker that dies is replaced at once; one that dies within a second, with an error or without having
 * served anything, is replaced after 100 ms, the next one after 200 ms, up to 10 s, until one lives longer.
 *
 * Workers do not outlive their master: when it is killed, they get SIGTERM from the system. */
#ifndef ORDEAL_FIBER_MASTER_H
#define ORDEAL_FIBER_MASTER_H

#include "runtime/fiber/config/config.h"
#include "runtime/fiber/worker/worker.h"

enum { MASTER_PROBLEM_BYTES = 512 };

/* Exit statuses, php-fpm's. */
enum { EXIT_WRONG_USAGE = 64, EXIT_SOFTWARE_FAILED = 70, EXIT_WRONG_CONFIG = 78 };

struct php_options {
    const char *ini_path; /* -c; NULL: PHP's own places */
    bool ini_ignored;     /* -n */
    char *ini_entries;    /* -d: "name=value\n..."; NULL: none */
};

struct master_php {
    /* Once in the master, before it forks. False: `problem` says why. */
    bool (*engine_start)(const struct php_options *options, char problem[MASTER_PROBLEM_BYTES]);
    int (*worker_run)(const struct worker_settings *settings);
    const char *version; /* of the program, a line */
};

struct master_settings {
    const struct fiber_config *config;
    const struct master_php *php;
    const struct php_options *php_options;
    char **argv; /* executed again by a reload */
    bool daemonize;
    bool echo; /* the log goes to standard error as well */
};

/* Returns the exit status of the process, when all workers have ended. */
int master_run(const struct master_settings *settings);

#endif
