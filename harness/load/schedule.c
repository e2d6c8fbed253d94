#include "harness/load/schedule.h"

#include "harness/load/clock.h"

#include <assert.h>

#define MILLI_NS_PER_S (1000u * (unsigned __int128)NS_PER_S)

/* How many requests are due in [start, start + span): one at 0, then one every 1 / rate. */
static uint64_t due_within(uint64_t rate_millihertz, uint64_t span_ns)
{
    unsigned __int128 exact = (unsigned __int128)rate_millihertz * span_ns;
    return (uint64_t)((exact + MILLI_NS_PER_S - 1) / MILLI_NS_PER_S);
}

void schedule_begin(struct schedule *schedule, uint64_t now_ns, uint64_t rate_millihertz,
                    uint64_t duration_ns, uint64_t requests)
{
    *schedule = (struct schedule){.start_ns = now_ns, .rate_millihertz = rate_millihertz};
    schedule->end_ns = duration_ns > 0 ? now_ns + duration_ns : SCHEDULE_NEVER;
    schedule->total = requests > 0 ? requests : UINT64_MAX;
    if (rate_millihertz == 0 || duration_ns == 0)
        return;
    uint64_t in_time = due_within(rate_millihertz, duration_ns);
    if (in_time < schedule->total)
        schedule->total = in_time;
}

uint64_t schedule_intended_ns(const struct schedule *schedule, uint64_t number)
{
    assert(schedule->rate_millihertz > 0);
    return schedule->start_ns + (uint64_t)(MILLI_NS_PER_S * number / schedule->rate_millihertz);
}

uint64_t schedule_next_ns(const struct schedule *schedule)
{
    if (schedule->next >= schedule->total)
        return SCHEDULE_NEVER;
    return schedule->rate_millihertz == 0 ? schedule->start_ns
                                          : schedule_intended_ns(schedule, schedule->next);
}

bool schedule_due(const struct schedule *schedule, uint64_t now_ns)
{
    if (schedule->rate_millihertz == 0 && now_ns >= schedule->end_ns)
        return false;
    return schedule_next_ns(schedule) <= now_ns;
}

uint64_t schedule_take(struct schedule *schedule, uint64_t now_ns, uint64_t *intended_ns)
{
    assert(schedule_due(schedule, now_ns));
    uint64_t number = schedule->next++;
    *intended_ns = schedule->rate_millihertz == 0 ? now_ns : schedule_intended_ns(schedule, number);
    uint64_t behind_ns = now_ns - *intended_ns;
    if (behind_ns > schedule->behind_ns_max)
        schedule->behind_ns_max = behind_ns;
    return number;
}

uint64_t schedule_backlog(const struct schedule *schedule, uint64_t now_ns)
{
    if (schedule->rate_millihertz == 0)
        return 0;
    uint64_t last_ns = now_ns < schedule->end_ns ? now_ns : schedule->end_ns;
    uint64_t due = due_within(schedule->rate_millihertz, last_ns - schedule->start_ns);
    if (due > schedule->total)
        due = schedule->total;
    return due > schedule->next ? due - schedule->next : 0;
}
