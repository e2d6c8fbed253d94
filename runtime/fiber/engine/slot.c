#include "runtime/fiber/engine/slot.h"

#include "runtime/defect.h"
#include "runtime/fiber/engine/audit.h"
#include "runtime/fiber/engine/fresh.h"
#include "runtime/fiber/engine/open.h"
#include "runtime/fiber/engine/ranges.h"
#include "runtime/fiber/engine/tables.h"

#include <stdlib.h>
#include <unistd.h>

/* Boost's context switch: exported by libphp, in no header of it. */
struct switched {
    void *from; /* where the other side can be entered again */
    void *data;
};
extern struct switched jump_fcontext(void *to, void *data);
extern void *make_fcontext(void *stack_top, size_t stack_bytes, void (*entry)(struct switched));

enum { ZEND_MM_CHUNK_BYTES = 2 << 20 }; /* the least that a heap has */

__thread struct slot *slot_current;
bool slot_is_child;

static struct engine_limits limits;
static const char *virgin;
static struct slot *loaded;     /* whose image is in the globals; NULL: nobody's */
static struct slot *hot, *cold; /* idle ones, with and without a heap */
static void *scheduler;         /* where slot_resume() was left */
static unsigned slots, slots_hot;

void slots_open(const struct engine_limits *given, const char *virgin_image)
{
    limits = *given;
    virgin = virgin_image;
}

/* ---- images ---- */

/* The image that is loaded goes back to its slot. */
static void unload(void)
{
    if (loaded)
        image_copy_out(loaded->image);
    loaded = NULL;
}

/* Into the globals, over what is there. */
static void image_load(const char *image)
{
    HashTable persistent = EG(persistent_list);
    image_copy_in(image);
    if (DEFECT(B20))
        EG(persistent_list) = persistent;
}

static void load(struct slot *slot)
{
    if (loaded != slot) {
        unload();
        image_load(slot->image);
        zend_mm_set_heap(slot->heap);
        loaded = slot;
    }
    process_apply(&slot->process);
}

static void heap_new(struct slot *slot)
{
    slot->heap = zend_mm_startup();
    zend_mm_set_heap(slot->heap);
    zend_set_memory_limit((size_t)PG(memory_limit));
}

static void heap_free(struct slot *slot)
{
    zend_mm_shutdown(slot->heap, true, true);
    zend_mm_set_heap(NULL);
    slot->heap = NULL;
}

/* ---- a slot's stack ---- */

static void serve(struct switched entered)
{
    struct slot *slot = entered.data;
    scheduler = entered.from;
    for (;;) {
        if (!sigsetjmp(slot->crash, 0)) {
            slot->body(slot->argument);
            if (slot_is_child)
                _exit(EG(exit_status));
            slot->state = SLOT_DONE;
        } else {
            slot->state = SLOT_CRASHED;
        }
        scheduler = jump_fcontext(scheduler, slot).from;
    }
}

void slot_park(void)
{
    struct slot *slot = slot_current;
    slot->state = SLOT_PARKED;
    scheduler = jump_fcontext(scheduler, slot).from;
}

void slot_resume(struct slot *slot)
{
    load(slot);
    slot->state = SLOT_RUNNING;
    slot_current = slot;
    slot->context = jump_fcontext(slot->context, slot).from;
    slot_current = NULL;
}

void slot_start(struct slot *slot, void (*body)(void *argument), void *argument)
{
    slot->body = body;
    slot->argument = argument;
    audit_begin();
    slot_resume(slot);
}

void slot_with_image(struct slot *slot, void (*work)(void *argument), void *argument)
{
    load(slot);
    work(argument);
}

void slot_spoil(void)
{
    if (slot_current)
        slot_current->spoiled = true;
}

enum slot_state slot_state(const struct slot *slot)
{
    return slot->state;
}

/* ---- life ---- */

/* Undoes slot_new(), as far as it came. Its image is loaded, or it has none. */
static void discard(struct slot *slot)
{
    if (slot->heap) {
        tables_free(slot->tables_map);
        heap_free(slot);
        slots--;
    }
    loaded = NULL;
    process_reset(&slot->process);
    stack_free(&slot->stack);
    free(slot->task);
    free(slot->image);
    free(slot);
}

static struct slot *slot_new(void)
{
    struct slot *slot = calloc(1, sizeof *slot);
    if (!slot)
        return NULL;
    slot->process = *process_first();
    slot->image = malloc(image_bytes());
    if (!slot->image || !stack_new(&slot->stack, limits.stack_size_bytes)) {
        free(slot->image);
        free(slot);
        return NULL;
    }
    unload();
    image_load(virgin);
    process_apply(&slot->process);
    if (!tables_copy(&slot->tables_map)) {
        discard(slot);
        return NULL;
    }
    heap_new(slot);
    loaded = slot;
    fresh_globals();
    slot->context = make_fcontext(stack_top(&slot->stack), slot->stack.bytes, serve);
    slots++;
    return slot;
}

static struct slot *take(struct slot **list)
{
    struct slot *slot = *list;
    if (slot)
        *list = slot->next;
    return slot;
}

struct slot *slot_acquire(void)
{
    struct slot *slot = take(&hot);
    if (slot) {
        slots_hot--;
        return slot;
    }
    slot = take(&cold);
    if (slot) {
        load(slot);
        heap_new(slot);
        return slot;
    }
    return slots < limits.slots_max ? slot_new() : NULL;
}

/* Keeps the tables, which are as they were at the start of a request; the rest is given back. */
static void cool(struct slot *slot)
{
    load(slot);
    heap_free(slot);
    stack_give_back(&slot->stack);
    slot->next = cold;
    cold = slot;
}

/* The allocator keeps chunks for a while after a request that needed many. That is right for a process; of
 * many slots each would keep some. */
static bool has_grown(struct slot *slot)
{
    load(slot);
    return zend_memory_usage(true) > ZEND_MM_CHUNK_BYTES;
}

void slot_release(struct slot *slot)
{
    if (slot->state == SLOT_CRASHED || slot->state == SLOT_PARKED) {
        load(slot);
        discard(slot);
        return;
    }
    audit_end();
    if (slot->spoiled) {
        load(slot);
        fresh_globals_free();
        discard(slot);
        return;
    }
    process_reset(&slot->process);
    slot->state = SLOT_IDLE;
    if (slots_hot >= limits.hot_max || has_grown(slot)) {
        cool(slot);
        return;
    }
    slot->next = hot;
    hot = slot;
    slots_hot++;
}
