/* Planted defects of waits; see runtime/defect.h. */
#ifdef ORDEAL_DEFECTS

#include "runtime/fiber/planted.h"
#include "runtime/fiber/sched/task.h"

enum { WAITING_MAX = 1024 };

struct planted planted;
static struct task *waiting[WAITING_MAX];
static void *collector_context; /* U1: the request that asked for a collection */

static unsigned fatals_seen[WAITING_MAX];

static int place_of(const struct task *task)
{
    for (int i = 0; i < WAITING_MAX; i++)
        if (waiting[i] == task)
            return i;
    return -1;
}

void planted_before_wait(void)
{
    int place = place_of(NULL);
    if (place < 0)
        return;
    waiting[place] = task_current();
    planted.error_handling = EG(error_handling);
    planted.exception_class = EG(exception_class);
    fatals_seen[place] = planted.fatals;
}

/* N3: an auto global that was made for somebody else is taken for made here. */
static void lose_server(void)
{
    zend_auto_global *global = zend_hash_str_find_ptr(CG(auto_globals), "_SERVER", sizeof "_SERVER" - 1);
    zend_hash_str_del(&EG(symbol_table), "_SERVER", sizeof "_SERVER" - 1);
    if (global)
        global->armed = 0;
}

void planted_after_wait(void)
{
    int place = place_of(task_current());
    if (place >= 0)
        waiting[place] = NULL;
    if (DEFECT(B1) && place >= 0 && fatals_seen[place] != planted.fatals)
        zend_objects_store_mark_destructed(&EG(objects_store));
    planted.error_handling = EH_NORMAL;
    if (DEFECT(N3))
        lose_server();
    if (DEFECT(U1) && collector_context && collector_context != SG(server_context)) {
        void *own = SG(server_context);
        SG(server_context) = collector_context;
        zend_gc_collect_cycles();
        SG(server_context) = own;
    }
}

/* U1: the collector takes the garbage of all who wait, and what their destructors print is the collector's.
 */
static int collect_for_all(void)
{
    int collected = zend_gc_collect_cycles();
    if (!slot_current || collector_context)
        return collected;
    collector_context = SG(server_context);
    for (int i = 0; i < WAITING_MAX; i++)
        if (waiting[i] && waiting[i] != task_current() && waiting[i]->waiting)
            task_ready(waiting[i], SCHED_READY); /* what it waits for it will ask for again */
    sched_yield_now();
    collector_context = NULL;
    return collected;
}

void planted_hook_collector(void)
{
    if (DEFECT(U1))
        gc_collect_cycles = collect_for_all;
}

#endif
