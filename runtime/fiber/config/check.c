#include "runtime/fiber/config/check.h"

#include <stdio.h>
#include <string.h>

static bool no_listen(const struct pool_config *pool)
{
    return pool->listen == NULL;
}

static bool no_children(const struct pool_config *pool)
{
    return pool->max_children == 0;
}

static bool slow_without_log(const struct pool_config *pool)
{
    return pool->request_slowlog_timeout_ms > 0 && !pool->slowlog;
}

static bool slow_never(const struct pool_config *pool)
{
    return pool->request_terminate_timeout_ms > 0 &&
           pool->request_slowlog_timeout_ms > pool->request_terminate_timeout_ms;
}

static bool one_path_twice(const struct pool_config *pool)
{
    return pool->ping_path && pool->status_path && strcmp(pool->ping_path, pool->status_path) == 0;
}

static bool is_shared(const struct pool_config *pool)
{
    return pool->isolation == ISOLATION_SHARED;
}

static bool statics_in_full(const struct pool_config *pool)
{
    return pool->isolation == ISOLATION_FULL && pool->isolate_statics_count > 0;
}

static bool includes_in_full(const struct pool_config *pool)
{
    return pool->isolation == ISOLATION_FULL && pool->shared_includes;
}

static const struct {
    const char *directive;
    bool (*is_broken)(const struct pool_config *pool);
    const char *text;
} rules[] = {
    {"listen", no_listen, "is missing: expected /path, port, host:port or [address]:port"},
    {"pm.max_children", no_children, "is missing: expected a number from 1 to 1024"},
    {"request_slowlog_timeout", slow_without_log, "needs slowlog, the file to write to"},
    {"request_slowlog_timeout", slow_never,
     "is longer than request_terminate_timeout: no request would ever be in the slow log"},
    {"ping.path", one_path_twice, "is the same as pm.status_path"},
    {"fiber.isolation", is_shared, "= shared is not built in this version: expected full"},
    {"fiber.isolate_statics", statics_in_full,
     "is for fiber.isolation = shared: with full, all statics are a request's own"},
    {"fiber.shared_includes", includes_in_full,
     "is for fiber.isolation = shared: with full, nothing is shared"},
};

static bool is_twice(const struct fiber_config *config, unsigned pool)
{
    for (unsigned i = 0; i < pool; i++)
        if (strcmp(config->pools[i].listen, config->pools[pool].listen) == 0)
            return true;
    return false;
}

bool config_check(const struct fiber_config *config, struct conflict *conflict)
{
    for (unsigned pool = 0; pool < config->pools_count; pool++) {
        conflict->pool = pool;
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            if (rules[i].is_broken(&config->pools[pool])) {
                conflict->directive = rules[i].directive;
                snprintf(conflict->text, sizeof conflict->text, "%s", rules[i].text);
                return false;
            }
        if (is_twice(config, pool)) {
            conflict->directive = "listen";
            snprintf(conflict->text, sizeof conflict->text, "is that of another pool, %s",
                     config->pools[pool].listen);
            return false;
        }
    }
    return true;
}
