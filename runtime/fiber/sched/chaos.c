/* With ORDEAL_CHAOS=k in the environment a request that calls an internal function lets all others run first,
 * at every k-th such call on average: what is not a request's own shows then. For tests; the same calls in
 * every run of a worker. */
#include "runtime/fiber/sched/task.h"

#include <stdlib.h>

static unsigned one_in, state = 1;

static unsigned next_number(void)
{
    state = state * 1103515245u + 12345u;
    return state >> 16 & 0x7fff;
}

static void execute(zend_execute_data *execute_data, zval *result)
{
    if (slot_current && next_number() % one_in == 0)
        sched_yield_now();
    execute_internal(execute_data, result);
}

void chaos_init(void)
{
    const char *asked = getenv("ORDEAL_CHAOS");
    int number = asked ? atoi(asked) : 0;
    if (number <= 0)
        return;
    one_in = (unsigned)number;
    zend_execute_internal = execute;
}
