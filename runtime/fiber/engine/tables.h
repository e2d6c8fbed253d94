/* The tables that the engine's globals point to, and that a request adds to or changes: functions, classes,
 * constants, auto globals, settings, and the map_ptr region, through which OPcache's shared classes and
 * functions find what is a process's own of them (statics, run-time caches).
 *
 * A new slot gets copies, entry by entry in the same order and with the same holes, as the engine remembers
 * up to where each table is persistent. */
#ifndef ORDEAL_FIBER_ENGINE_TABLES_H
#define ORDEAL_FIBER_ENGINE_TABLES_H

#include <stdbool.h>

/* Once, with the virgin image loaded: what slots do not change, they will share (share.h). */
void tables_share(unsigned slots_max);

/* Both work on the image that is loaded. tables_copy() is for one that was just loaded from the virgin image;
 * false: no memory, and the image is as it was. `map` goes to tables_free(). */
bool tables_copy(char **map);
void tables_free(char *map);

#endif
