#include "runtime/fiber/master/internal.h"
#include "runtime/fiber/master/log.h"
#include "runtime/fiber/master/notify.h"

#include <unistd.h>

#define LIVED_NS (1000 * MS_NS)
#define DELAY_FIRST_NS (100 * MS_NS)
#define DELAY_MAX_NS (10000 * MS_NS)
#define LOOK_AGAIN_NS (5 * MS_NS)

static struct pool *pool_of(struct master *master, const struct child *child)
{
    struct pool *pool = master->pools;
    while (child->place != &pool->places[child->slot])
        pool++;
    return pool;
}

void place_died(struct master *master, struct child *child, bool failed)
{
    struct place *place = child->place;
    struct scoreboard_slot *score = &pool_of(master, child)->scores[child->slot];
    int64_t now = master_now_ns();
    bool at_once = now - child->started_ns < LIVED_NS && (failed || score->requests == 0);
    place->taken = false;
    place->not_before_ns = now;
    score->pid = 0;
    score->state = WORKER_EMPTY;
    score->in_flight = 0;
    score->queued = 0;
    if (!at_once) {
        place->delay_ns = 0;
        return;
    }
    place->delay_ns = place->delay_ns ? 2 * place->delay_ns : DELAY_FIRST_NS;
    if (place->delay_ns > DELAY_MAX_NS)
        place->delay_ns = DELAY_MAX_NS;
    place->not_before_ns = now + place->delay_ns;
    if (!master->stopping)
        log_line(LOG_LEVEL_WARNING, "[pool %s] child %d died at once, the next one starts in %lld ms",
                 child->pool, (int)child->pid, (long long)(place->delay_ns / MS_NS));
}

static int64_t fill(struct master *master, struct pool *pool, int64_t now)
{
    int64_t next = NEVER_NS;
    for (unsigned i = 0; i < pool->config->max_children; i++) {
        struct place *place = &pool->places[i];
        if (!place->taken && place->not_before_ns <= now && !spawn(master, pool, i))
            place->not_before_ns = now + DELAY_MAX_NS / 10;
        if (!place->taken && place->not_before_ns < next)
            next = place->not_before_ns;
    }
    return next;
}

int64_t pools_fill(struct master *master)
{
    int64_t next = NEVER_NS, now = master_now_ns();
    if (master->stopping)
        return next;
    for (unsigned i = 0; i < master->config->pools_count; i++) {
        int64_t of_pool = fill(master, &master->pools[i], now);
        next = of_pool < next ? of_pool : next;
    }
    return next;
}

static bool serves(const struct pool *pool)
{
    for (unsigned i = 0; i < pool->config->max_children; i++)
        if (pool->scores[i].state == WORKER_RUNNING)
            return true;
    return false;
}

int64_t pools_check_ready(struct master *master)
{
    if (master->ready || master->stopping)
        return NEVER_NS;
    for (unsigned i = 0; i < master->config->pools_count; i++)
        if (!serves(&master->pools[i]))
            return master_now_ns() + LOOK_AGAIN_NS;
    master->ready = true;
    children_end(master, SIGQUIT, true);
    log_line(LOG_LEVEL_NOTICE, "ready to handle connections");
    service_notify("READY=1\nMAINPID=%d\nSTATUS=Ready to handle connections\n", (int)getpid());
    return NEVER_NS;
}
