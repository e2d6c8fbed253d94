/* The two doors of every armed call. */
#include "fault-inject/shim/shim.h"

#include <errno.h>

static const bool acquires[HOOK_COUNT] = {
    [HOOK_flock] = true,
    [HOOK_fcntl] = true,
    [HOOK_lockf] = true,
    [HOOK_pthread_mutex_lock] = true,
    [HOOK_pthread_mutex_trylock] = true,
    [HOOK_pthread_mutex_timedlock] = true,
    [HOOK_pthread_mutex_clocklock] = true,
    [HOOK_pthread_rwlock_rdlock] = true,
    [HOOK_pthread_rwlock_tryrdlock] = true,
    [HOOK_pthread_rwlock_timedrdlock] = true,
    [HOOK_pthread_rwlock_wrlock] = true,
    [HOOK_pthread_rwlock_trywrlock] = true,
    [HOOK_pthread_rwlock_timedwrlock] = true,
    [HOOK_sem_wait] = true,
    [HOOK_sem_trywait] = true,
    [HOOK_sem_timedwait] = true,
};

HIDDEN bool shim_acquires(enum hook_id hook)
{
    return acquires[hook];
}

static void count_call(struct shim_call *call, unsigned armed)
{
    call->index = ++self.index[call->hook];
    if (armed & ARMED_COUNT)
        atomic_fetch_add_explicit(&CONTROL->calls[call->hook], 1, memory_order_relaxed);
}

/* errno is not saved here: what is called from here asks the kernel with raw.h. */
HIDDEN void shim_enter(struct shim_call *call)
{
    unsigned armed = shim_armed(call->hook);
    if (armed == 0 || self.in_hook > 0)
        return;
    self.in_hook++;
    if (UNLIKELY(!self.known))
        shim_know_thread();
    count_call(call, armed);
    if (armed & ARMED_SCRIPT)
        shim_apply_script(call, false);
    else if (armed & ARMED_RULES)
        shim_apply_rules(call, false);
    call->followed = call->has_late || (armed & ARMED_TRACE) != 0;
    if (call->followed && (call->fail || call->drop))
        shim_leave(call, 0); /* the real call is not made, and its wrapper returns at once */
    self.in_hook--;
}

/* errno, or the code itself, by the way the call reports failure. */
static int error_of(const struct shim_call *call, int64_t result, int current_errno)
{
    if (call->fail)
        return call->err;
    if (call->drop)
        return 0;
    switch (hook_table[call->hook].fail) {
    case FAIL_RETURNS_ERR:
    case FAIL_EAI:
        return (int)result;
    case FAIL_NULL_PTR:
        return result == 0 ? current_errno : 0;
    case FAIL_LEFT_OVER:
        return result != 0 ? EINTR : 0;
    default:
        return result == -1 ? current_errno : 0;
    }
}

static bool lock_is_held(const struct shim_call *call, int err)
{
    return !call->fail && !call->drop && shim_acquires(call->hook) && (err == 0 || err == EOWNERDEAD);
}

HIDDEN void shim_leave(struct shim_call *call, int64_t result)
{
    if (!call->followed)
        return;
    call->followed = false;
    int saved_errno = errno;
    self.in_hook++;
    int err = error_of(call, result, saved_errno);
    unsigned armed = shim_armed(call->hook);
    if (call->has_late && lock_is_held(call, err)) {
        if (armed & ARMED_SCRIPT)
            shim_apply_script(call, true);
        else
            shim_apply_rules(call, true);
    }
    call->err = err;
    if (armed & ARMED_TRACE)
        shim_record_call(call, result);
    self.in_hook--;
    errno = saved_errno;
}
