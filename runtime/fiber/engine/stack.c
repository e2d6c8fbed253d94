#include "runtime/fiber/engine/stack.h"

#include "runtime/defect.h"
#include "runtime/fiber/engine/slot.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    GUARD_BYTES = 64 << 10,
    KEPT_BYTES = 16 << 10,
    SIGNAL_STACK_BYTES = 64 << 10,
    SMALL_BYTES = 256 << 10
};

bool stack_new(struct stack *stack, size_t bytes)
{
    if (DEFECT(N2))
        bytes = SMALL_BYTES;
    char *base = mmap(NULL, bytes + GUARD_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    if (mprotect(base, GUARD_BYTES, PROT_NONE)) {
        munmap(base, bytes + GUARD_BYTES);
        return false;
    }
    *stack = (struct stack){.base = base, .guard_bytes = GUARD_BYTES, .bytes = bytes};
    return true;
}

void stack_free(struct stack *stack)
{
    if (stack->base)
        munmap(stack->base, stack->guard_bytes + stack->bytes);
    stack->base = NULL;
}

void stack_give_back(struct stack *stack)
{
    madvise(stack->base + stack->guard_bytes, stack->bytes - KEPT_BYTES, MADV_DONTNEED);
}

/* The slot's own guard, or that of a Fiber of its script: a page below the stack pointer, and near it. */
static bool is_overrun(const struct slot *slot, const siginfo_t *fault, const ucontext_t *context)
{
    const char *at = fault->si_addr;
    if (at >= slot->stack.base && at < slot->stack.base + slot->stack.guard_bytes)
        return true;
    uintptr_t stack_pointer = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
    uintptr_t address = (uintptr_t)at;
    return fault->si_code == SEGV_ACCERR && address + GUARD_BYTES > stack_pointer &&
           address < stack_pointer + 4096;
}

static void on_fault(int number, siginfo_t *fault, void *context)
{
    struct slot *slot = slot_current;
    if (slot && !DEFECT(N2) && is_overrun(slot, fault, context)) {
        sigset_t this_one;
        sigemptyset(&this_one);
        sigaddset(&this_one, number);
        sigprocmask(SIG_UNBLOCK, &this_one, NULL);
        siglongjmp(slot->crash, 1);
    }
    signal(number, SIG_DFL);
    raise(number);
}

bool stack_watch_overruns(void)
{
    stack_t stack = {.ss_sp = malloc(SIGNAL_STACK_BYTES), .ss_size = SIGNAL_STACK_BYTES};
    if (!stack.ss_sp || sigaltstack(&stack, NULL))
        return false;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    return !sigaction(SIGSEGV, &action, NULL) && !sigaction(SIGBUS, &action, NULL);
}
