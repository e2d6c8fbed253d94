/* The configuration of the server: one INI file in php-fpm's own style.
 *
 *     [global]
 *     error_log = /var/log/fiber-fpm.log
 *
 *     [www]
 *     listen = /run/fiber-fpm.sock
 *     pm = static
 *     pm.max_children = 2
 *     pool.executor = fiber
 *     fiber.max_in_flight = 256
 *     php_admin_value[memory_limit] = 64M
 *
 * config_read() reads all of it or refuses, with the file, the line, what is wrong and what was expected.
 * Each directive is one row of a table (directives.c); a value has a type there, a range and a default.
 * Numbers take K, M, G (bytes) or s, m, h, d and ms (time, bare numbers are seconds), as the type of the
 * directive is. */
#ifndef ORDEAL_FIBER_CONFIG_H
#define ORDEAL_FIBER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum config_limits { CONFIG_POOLS_MAX = 64, CONFIG_LIST_MAX = 256, CONFIG_CHILDREN_MAX = 1024 };

enum isolation {
    ISOLATION_FULL,  /* every request has an engine image of its own */
    ISOLATION_SHARED /* one engine for all, a few globals are swapped: less memory, and it leaks */
};

enum log_level { LOG_LEVEL_ALERT, LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE, LOG_LEVEL_DEBUG };

/* php_value[name] = value and its three relatives; flags are given as "1" or "0". */
struct php_setting {
    char *name, *value;
    bool admin; /* ini_set() cannot change it */
};

struct env_setting {
    char *name, *value;
};

struct pool_config {
    char *name;

    char *listen;       /* /path, host:port, port, [v6]:port */
    int listen_backlog; /* 511 */
    char *listen_owner, *listen_group;
    mode_t listen_mode; /* 0660 */
    char *user, *group; /* NULL: as the master runs */
    char *chdir;        /* NULL: not changed */
    unsigned max_children;
    uint64_t max_requests; /* 0: no limit */

    int64_t request_terminate_timeout_ms; /* 0: none */
    int64_t request_slowlog_timeout_ms;   /* 0: none */
    char *slowlog;                        /* NULL: none */

    char *ping_path, *ping_response, *status_path; /* path NULL: none */
    char *access_log, *access_format;              /* log NULL: none */
    bool catch_workers_output;
    bool clear_env;

    struct env_setting *env;
    unsigned env_count;
    struct php_setting *settings; /* in the order of the file */
    unsigned settings_count;
    char **limit_extensions; /* ".php"; count 0: every file is run */
    unsigned limit_extensions_count;

    enum isolation isolation;
    unsigned max_in_flight;  /* of one worker; 256 */
    size_t stack_size_bytes; /* C stack of a request; 8 MiB, committed as it is used */
    int64_t time_slice_ms;   /* 10: a request that computes longer lets the others run; 0: never */

    char **isolate_statics; /* shared isolation: classes and functions whose statics are a request's own */
    unsigned isolate_statics_count;
    bool shared_includes;         /* shared isolation: what one request has included stays */
    int64_t revalidate_freq_s;    /* how often a deploy is looked for; 0: never */
    char **disable_interceptions; /* calls of the seam that go straight to the system */
    unsigned disable_interceptions_count;
};

struct fiber_config {
    char *path;      /* of the file */
    char *pid_file;  /* NULL: none */
    char *error_log; /* NULL: stderr */
    enum log_level log_level;
    int64_t process_control_timeout_ms; /* after this, workers that still drain are ended; 0: never */
    bool daemonize;
    struct pool_config *pools;
    unsigned pools_count;
};

struct config_error {
    char file[512];
    unsigned line; /* 0: of the file as a whole */
    char text[512];
};

/* False: `error` says why, as "pool.conf:12: ..." would have it. Free the result with config_free(). */
bool config_read(const char *path, struct fiber_config *config, struct config_error *error);
void config_free(struct fiber_config *config);

/* All of it, with what the file did not say, as a file would say it. */
void config_print(const struct fiber_config *config, FILE *out);

#endif
