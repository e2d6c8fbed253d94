/* What a new slot's globals point to must be its own: what a thread-safe PHP does for a new thread. The
 * constructor of each module's globals runs again, then the settings fill them as at start. */
#ifndef ORDEAL_FIBER_ENGINE_FRESH_H
#define ORDEAL_FIBER_ENGINE_FRESH_H

/* Both on the image that is loaded, with its own tables and its own heap. */
void fresh_globals(void);

/* Frees what fresh_globals() made, and what the slot's requests kept in it: for a slot that is thrown away.
 */
void fresh_globals_free(void);

#endif
