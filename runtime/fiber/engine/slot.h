/* What a slot is made of. For engine/ itself, and for the scheduler, which keeps its own part in `task`. */
#ifndef ORDEAL_FIBER_ENGINE_SLOT_H
#define ORDEAL_FIBER_ENGINE_SLOT_H

#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/engine/process.h"
#include "runtime/fiber/engine/stack.h"

#include <setjmp.h>

struct slot {
    enum slot_state state;
    struct slot *next;  /* of those that are idle */
    bool spoiled;       /* serves no other request */
    char *image;        /* the bytes of all ranges, while another image is loaded */
    char *tables_map;   /* of share.h; NULL: none */
    zend_mm_heap *heap; /* NULL: a cold slot */
    struct stack stack;
    void *context; /* where it parked */
    sigjmp_buf crash;
    struct process_state process;
    void (*body)(void *argument);
    void *argument;
    void *task; /* the scheduler's, from malloc(): freed with the slot */
};

#endif
