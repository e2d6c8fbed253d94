/* php-fpm's directives that this server does not have, each with its reason: whoever brings a php-fpm pool is
 * told, instead of getting something else than the file says. */
#include "runtime/fiber/config/directives.h"

#include <string.h>

static const char fixed_number[] = "the number of workers is fixed, pm.max_children";
static const char by_system[] =
    "set it for the service: systemd has LimitNOFILE=, LimitCORE=, Nice= and more";
static const char no_syslog[] = "there is no syslog; systemd keeps what is written to stderr";
static const char by_firewall[] = "keep clients out by listen.mode, by a firewall, or listen on 127.0.0.1";

static const struct {
    const char *name, *why;
} foreign[] = {
    {"access.suppress_path", "every request is in the access log"},
    {"apparmor_hat", by_system},
    {"chroot", by_system},
    {"decorate_workers_output", "what workers say is always decorated"},
    {"emergency_restart_interval", "a worker that dies at once is started again later and later instead"},
    {"emergency_restart_threshold", "a worker that dies at once is started again later and later instead"},
    {"events.mechanism", "there is only one"},
    {"listen.acl_groups", "use listen.owner, listen.group and listen.mode"},
    {"listen.acl_users", "use listen.owner, listen.group and listen.mode"},
    {"listen.allowed_clients", by_firewall},
    {"listen.setfib", "FreeBSD has it"},
    {"log_buffering", "lines are always written whole"},
    {"log_limit", "a line has at most 1024 bytes"},
    {"pm.max_spare_servers", fixed_number},
    {"pm.max_spawn_rate", fixed_number},
    {"pm.min_spare_servers", fixed_number},
    {"pm.process_idle_timeout", fixed_number},
    {"pm.start_servers", fixed_number},
    {"pm.status_listen", "the status page is on the pool's own socket, and needs no free worker"},
    {"prefix", "give whole paths"},
    {"process.dumpable", by_system},
    {"process.max", fixed_number},
    {"process.priority", by_system},
    {"request_slowlog_trace_depth", "the whole stack is written"},
    {"request_terminate_timeout_track_finished", "a request is timed to its very end"},
    {"rlimit_core", by_system},
    {"rlimit_files", by_system},
    {"syslog.facility", no_syslog},
    {"syslog.ident", no_syslog},
    {"systemd_interval", "systemd is told when something changes"},
};

const char *directive_foreign(const char *name)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(foreign[i].name, name) == 0)
            return foreign[i].why;
    return NULL;
}
