/* Many requests in one process, each with a whole PHP engine of its own.
 *
 * PHP (not thread safe, as Debian builds it) keeps its state in global variables. This part knows where they
 * are, and keeps a copy of them for each request: its **image**. A request that runs has its image loaded
 * into the globals; when it waits, another one is loaded instead. Tables that the globals point to
 * (functions, classes, constants, settings), the Zend heap and the C stack are a request's own as well.
 * Together they are a **slot**: what one worker of php-fpm is, without the process.
 *
 *     engine_start(&settings, problem);       // in the master: PHP's modules start, the layout is checked
 *     fork();
 *     sapi_set_value(...);                    // settings of the pool
 *     engine_open(&limits, problem);          // in the worker: the virgin image is taken
 *
 *     struct slot *slot = slot_acquire();
 *     slot_start(slot, body, argument);       // runs body(argument) on the slot's stack ...
 *     ...                                     // ... until it calls slot_park(), or ends
 *     if (slot_state(slot) == SLOT_PARKED)
 *         slot_resume(slot);
 *     slot_release(slot);                     // when its state is SLOT_DONE or SLOT_CRASHED
 *
 * What belongs to an image is one table: ranges.c. What stays shared by all, and why, is another: shared.def.
 */
#ifndef ORDEAL_FIBER_ENGINE_H
#define ORDEAL_FIBER_ENGINE_H

#include "runtime/fiber/php.h"

enum { ENGINE_PROBLEM_BYTES = 512 };

struct engine_settings {
    sapi_module_struct *sapi;
    const char *ini_path;    /* php.ini, or its folder; NULL: PHP's own places */
    bool ini_ignored;        /* no php.ini at all */
    const char *ini_entries; /* "name=value\n...", over the file; NULL: none */
};

/* PHP's modules start (once in a process), and the engine's layout is checked against the headers that this
 * was compiled with. False: `problem` says what is different. */
bool engine_start(const struct engine_settings *settings, char problem[ENGINE_PROBLEM_BYTES]);

struct engine_limits {
    size_t stack_size_bytes; /* of a slot's C stack */
    unsigned slots_max;
    unsigned hot_max; /* slots that keep their heap while nobody uses them */
};

/* Takes the image that every request starts from. After this PHP may be used in slots only. */
bool engine_open(const struct engine_limits *limits, char problem[ENGINE_PROBLEM_BYTES]);

enum slot_state { SLOT_IDLE, SLOT_RUNNING, SLOT_PARKED, SLOT_DONE, SLOT_CRASHED };

struct slot; /* slot.h has its fields, for sched/ and seam/ */

/* The slot whose stack this is. NULL in the scheduler, in helper threads, and in a child process that a
 * script has forked: there every call of the seam goes straight through. */
extern __thread struct slot *slot_current;

/* True in a process that a script has forked: it ends with its script, and has no part in the worker's work.
 */
extern bool slot_is_child;

/* NULL: all slots are in use, or no memory. */
struct slot *slot_acquire(void);

/* Gives back a slot whose request has ended. After a crash its image is thrown away. */
void slot_release(struct slot *slot);

/* Runs body on the slot's stack, with its image. Returns when it parks or ends. In the scheduler only. */
void slot_start(struct slot *slot, void (*body)(void *argument), void *argument);
void slot_resume(struct slot *slot);

/* On a slot's own stack, which may be that of one of its Fibers: back to who started or resumed it. */
void slot_park(void);

/* Does something with a parked slot's image loaded, in the scheduler: looks at where its script is. */
void slot_with_image(struct slot *slot, void (*work)(void *argument), void *argument);

/* On a slot's own stack: its tables are not what they were, so it is thrown away after this request. */
void slot_spoil(void);

enum slot_state slot_state(const struct slot *slot);

#endif
