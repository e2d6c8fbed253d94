#include "runtime/fiber/config/directives.h"

#include "runtime/fiber/config/types.h"

#include <string.h>

#define GLOBAL(member)                                                                                       \
    SCOPE_GLOBAL, .offset = offsetof(struct fiber_config, member),                                           \
                  .width = sizeof((struct fiber_config *)NULL)->member
#define POOL(member)                                                                                         \
    SCOPE_POOL, .offset = offsetof(struct pool_config, member),                                              \
                .width = sizeof((struct pool_config *)NULL)->member
#define LIST(member) POOL(member), .count_offset = offsetof(struct pool_config, member##_count)

#define MINUTE_MS ((int64_t)60000)
#define DAY_MS ((int64_t)86400000)

static const struct choice log_levels[] = {{"alert", LOG_LEVEL_ALERT},
                                           {"error", LOG_LEVEL_ERROR},
                                           {"warning", LOG_LEVEL_WARNING},
                                           {"warn", LOG_LEVEL_WARNING},
                                           {"notice", LOG_LEVEL_NOTICE},
                                           {"debug", LOG_LEVEL_DEBUG},
                                           {NULL, 0}};
static const struct choice only_static[] = {{"static", 0}, {NULL, 0}};
static const struct choice only_fiber[] = {{"fiber", 0}, {NULL, 0}};
static const struct choice isolations[] = {{"full", ISOLATION_FULL}, {"shared", ISOLATION_SHARED}, {NULL, 0}};

static const char why_static[] =
    "a worker serves many requests at once, so it takes no more workers when there are more of them";
static const char access_format[] = "%R - %u %t \"%m %r\" %s";

/* clang-format off */
const struct directive directives[] = {
    {"pid",                       GLOBAL(pid_file),   .type = &type_path},
    {"error_log",                 GLOBAL(error_log),  .type = &type_file},
    {"log_level",                 GLOBAL(log_level),  .type = &type_choice, .standard = "notice", .choices = log_levels},
    {"process_control_timeout",   GLOBAL(process_control_timeout_ms), .type = &type_time, .standard = "0", .max = DAY_MS},
    {"daemonize",                 GLOBAL(daemonize),  .type = &type_bool, .standard = "yes"},

    {"user",                      POOL(user),           .type = &type_user},
    {"group",                     POOL(group),          .type = &type_group},
    {"chdir",                     POOL(chdir),          .type = &type_path},
    {"listen",                    POOL(listen),         .type = &type_address},
    {"listen.backlog",            POOL(listen_backlog), .type = &type_number, .standard = "511", .min = -1, .max = 65535},
    {"listen.owner",              POOL(listen_owner),   .type = &type_user},
    {"listen.group",              POOL(listen_group),   .type = &type_group},
    {"listen.mode",               POOL(listen_mode),    .type = &type_mode, .standard = "0660"},

    {"pm",                        SCOPE_POOL,           .type = &type_choice, .choices = only_static, .refusal = why_static},
    {"pm.max_children",           POOL(max_children),   .type = &type_number, .min = 1, .max = CONFIG_CHILDREN_MAX},
    {"pm.max_requests",           POOL(max_requests),   .type = &type_number, .standard = "0", .max = INT64_MAX},
    {"pm.status_path",            POOL(status_path),    .type = &type_uri},
    {"ping.path",                 POOL(ping_path),      .type = &type_uri},
    {"ping.response",             POOL(ping_response),  .type = &type_text, .standard = "pong"},

    {"request_terminate_timeout", POOL(request_terminate_timeout_ms), .type = &type_time, .standard = "0", .max = DAY_MS},
    {"request_slowlog_timeout",   POOL(request_slowlog_timeout_ms),   .type = &type_time, .standard = "0", .max = DAY_MS},
    {"slowlog",                   POOL(slowlog),        .type = &type_path},
    {"access.log",                POOL(access_log),     .type = &type_path},
    {"access.format",             POOL(access_format),  .type = &type_text, .standard = access_format},
    {"catch_workers_output",      POOL(catch_workers_output), .type = &type_bool, .standard = "no"},

    {"clear_env",                 POOL(clear_env),      .type = &type_bool, .standard = "yes"},
    {"security.limit_extensions", LIST(limit_extensions), .type = &type_words, .standard = ".php .phar"},
    {"env",                       LIST(env),            .type = &type_env},
    {"php_value",                 LIST(settings),       .type = &type_setting},
    {"php_flag",                  LIST(settings),       .type = &type_flag},
    {"php_admin_value",           LIST(settings),       .type = &type_setting, .admin = true},
    {"php_admin_flag",            LIST(settings),       .type = &type_flag, .admin = true},

    {"pool.executor",             SCOPE_POOL,           .type = &type_choice, .choices = only_fiber},
    {"fiber.isolation",           POOL(isolation),      .type = &type_choice, .standard = "full", .choices = isolations},
    {"fiber.max_in_flight",       POOL(max_in_flight),  .type = &type_number, .standard = "256", .min = 1, .max = 65536},
    {"fiber.stack_size",          POOL(stack_size_bytes), .type = &type_size, .standard = "8M", .min = 256 << 10, .max = 1 << 30},
    {"fiber.time_slice",          POOL(time_slice_ms),  .type = &type_time, .standard = "10ms", .max = MINUTE_MS},
    {"fiber.isolate_statics",     LIST(isolate_statics), .type = &type_words},
    {"fiber.shared_includes",     POOL(shared_includes), .type = &type_bool, .standard = "no"},
    {"fiber.revalidate_freq",     POOL(revalidate_freq_s), .type = &type_seconds, .standard = "2", .max = 86400},
    {"fiber.disable_interceptions", LIST(disable_interceptions), .type = &type_words},
};
/* clang-format on */

const unsigned directives_count = sizeof directives / sizeof *directives;
_Static_assert(sizeof directives / sizeof *directives <= DIRECTIVES_MAX, "raise DIRECTIVES_MAX");

const struct directive *directive_named(const char *name, enum directive_scope scope)
{
    for (unsigned i = 0; i < directives_count; i++)
        if (directives[i].scope == scope && strcmp(directives[i].name, name) == 0)
            return &directives[i];
    return NULL;
}

/* ---- the nearest name ---- */

enum { NAME_BYTES_MAX = 64 };

/* How many letters have to be put in, taken out or changed. */
static unsigned distance(const char *from, const char *to)
{
    unsigned row[NAME_BYTES_MAX + 1];
    size_t from_count = strnlen(from, NAME_BYTES_MAX), to_count = strnlen(to, NAME_BYTES_MAX);
    for (size_t i = 0; i <= to_count; i++)
        row[i] = (unsigned)i;
    for (size_t i = 0; i < from_count; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < to_count; j++) {
            unsigned least = corner + (from[i] != to[j]);
            corner = row[j + 1];
            least = least < corner + 1 ? least : corner + 1;
            row[j + 1] = least < row[j] + 1 ? least : row[j] + 1;
        }
    }
    return row[to_count];
}

const char *directive_nearest(const char *name, enum directive_scope scope)
{
    const char *nearest = "";
    unsigned least = ~0U;
    for (unsigned i = 0; i < directives_count; i++) {
        unsigned changes = directives[i].scope == scope ? distance(name, directives[i].name) : ~0U;
        if (changes < least) {
            least = changes;
            nearest = directives[i].name;
        }
    }
    return nearest;
}
