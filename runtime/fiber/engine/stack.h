/* The C stack of a slot: as large as a process's main one, committed page by page as it is used, with a guard
 * below it. Running into the guard ends one request: the signal handler, which has a stack of its own, leaves
 * by siglongjmp() to where the slot began. */
#ifndef ORDEAL_FIBER_ENGINE_STACK_H
#define ORDEAL_FIBER_ENGINE_STACK_H

#include <stdbool.h>
#include <stddef.h>

struct slot;

struct stack {
    char *base; /* lowest address: of the guard */
    size_t guard_bytes, bytes;
};

bool stack_new(struct stack *stack, size_t bytes);
void stack_free(struct stack *stack);
void stack_give_back(struct stack *stack); /* its pages, but for the topmost ones */
static inline void *stack_top(const struct stack *stack)
{
    return stack->base + stack->guard_bytes + stack->bytes;
}

/* Once in a process. False: no memory for the signal's stack. */
bool stack_watch_overruns(void);

#endif
