/* What a new slot's globals point to must be its own: what a thread-safe PHP does for a new thread. The
 * constructor of each module's globals runs again, then the settings fill them as at start. */
#ifndef ORDEAL_FIBER_ENGINE_FRESH_H
#define ORDEAL_FIBER_ENGINE_FRESH_H

/* On the image that is loaded, with its own tables and its own heap. */
void fresh_globals(void);

#endif
