/* Which rules fire on a call. Cheap conditions first; whatever is random is drawn from the seed and from the
 * call's place in its thread, so that one thread's draws do not depend on what the others do. */
#include "fault-inject/shim/shim.h"

/* These end the call or the process: on a call that takes a lock they wait until the lock is held. */
#define LATE_ACTIONS ((uint32_t)(THEN_DIE | THEN_EXIT | THEN_SIGNAL))

static bool comes_late(uint32_t actions, struct shim_call *call)
{
    bool late = (actions & LATE_ACTIONS) != 0 && shim_acquires(call->hook);
    call->has_late |= late;
    return late;
}

static bool names(const struct rule *rule, enum hook_id hook)
{
    return (rule->hooks[hook / 64] >> (hook % 64)) & 1;
}

static bool nth_holds(const struct rule *rule, uint64_t n)
{
    if (!(rule->conditions & WHEN_NTH))
        return true;
    if (n < rule->nth_first || n > rule->nth_last)
        return false;
    return rule->nth_step == 0 ? n == rule->nth_first : (n - rule->nth_first) % rule->nth_step == 0;
}

static bool draw_holds(const struct rule *rule, uint32_t number, const struct shim_call *call)
{
    if (!(rule->conditions & WHEN_P) || rule->p_threshold == UINT64_MAX)
        return true;
    uint64_t place = ((uint64_t)call->hook << 32) | call->index;
    return shim_mix(shim_mix(CONTROL->seed, number), shim_mix(self.key, place)) < rule->p_threshold;
}

/* Counts the firing; false when `times` has been used up. */
static bool take_turn(struct rule *rule)
{
    if (!(rule->conditions & WHEN_TIMES)) {
        atomic_fetch_add_explicit(&rule->fired, 1, memory_order_relaxed);
        return true;
    }
    uint64_t fired = atomic_load(&rule->fired);
    while (fired < rule->times_max)
        if (atomic_compare_exchange_weak(&rule->fired, &fired, fired + 1))
            return true;
    return false;
}

static void fire(struct rule *rule, uint32_t number, struct shim_call *call)
{
    struct shim_effect effect = {
        .actions = rule->actions,
        .rule = (uint16_t)number,
        .err = rule->err,
        .short_bytes = rule->short_bytes,
        .delay_ns = rule->delay_ns,
        .skew_ns = rule->skew_ns,
        .exit_status = rule->exit_status,
        .signal_number = rule->signal_number,
        .pause_point = rule->pause_point,
        .wake_point = rule->wake_point,
        .mark = rule->mark,
        .pause_timeout_ns = rule->pause_timeout_ns,
        .pause_timeouts = &rule->pause_timeouts,
    };
    shim_carry_out(call, &effect);
}

static void try_rule(struct rule *rule, uint32_t number, struct shim_call *call, bool after_call)
{
    if (!names(rule, call->hook) || !atomic_load_explicit(&rule->armed, memory_order_relaxed) ||
        !rule->active)
        return;
    if (comes_late(rule->actions, call) != after_call)
        return;
    if (!shim_conditions_hold(rule, call))
        return;
    uint64_t n = atomic_fetch_add_explicit(&rule->matched, 1, memory_order_relaxed) + 1;
    if (nth_holds(rule, n) && draw_holds(rule, number, call) && take_turn(rule))
        fire(rule, number, call);
}

HIDDEN void shim_apply_rules(struct shim_call *call, bool after_call)
{
    uint32_t count = atomic_load_explicit(&CONTROL->rule_count, memory_order_acquire);
    for (uint32_t i = 0; i < count && i < CONTROL_RULES_MAX; i++)
        try_rule(&CONTROL->rules[i], i + 1, call, after_call);
}

/* ---- replay: faults by place instead of by rule ---- */

static int compare_place(const struct control_script_entry *entry, const struct shim_call *call)
{
    if (entry->thread_key != self.key)
        return entry->thread_key < self.key ? -1 : 1;
    if (entry->hook != call->hook)
        return entry->hook < (uint32_t)call->hook ? -1 : 1;
    return entry->index < call->index ? -1 : entry->index > call->index;
}

static uint32_t first_entry_at(const struct shim_call *call)
{
    uint32_t low = 0, high = CONTROL->script_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_place(&CONTROL->script[middle], call) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void inject_again(struct control_script_entry *entry, struct shim_call *call, bool after_call)
{
    if (comes_late(entry->actions, call) != after_call)
        return;
    atomic_fetch_add(&entry->injected, 1);
    struct shim_effect effect = {
        .actions = entry->actions,
        .rule = TRACE_RULE_SCRIPT,
        .err = entry->err,
        .short_bytes = entry->short_bytes,
        .delay_ns = entry->delay_ns,
        .skew_ns = entry->skew_ns,
        .exit_status = entry->exit_status,
        .signal_number = entry->signal_number,
        .pause_point = entry->point,
        .wake_point = entry->point,
        .mark = -1,
        .pause_timeout_ns = 10000000000ULL,
    };
    shim_carry_out(call, &effect);
}

HIDDEN void shim_apply_script(struct shim_call *call, bool after_call)
{
    uint32_t i = first_entry_at(call);
    for (; i < CONTROL->script_count && compare_place(&CONTROL->script[i], call) == 0; i++)
        inject_again(&CONTROL->script[i], call, after_call);
}
