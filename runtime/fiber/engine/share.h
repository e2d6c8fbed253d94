/* Memory of tables that nobody has changed is there once.
 *
 * Most of what tables.c copies for each slot stays as it was in the virgin image: a script adds a few
 * functions and classes to thousands. So the tables are written to a file in memory, once, and each slot maps
 * it copy-on-write: a page is a slot's own when it is written to.
 *
 *     offset = share_add(table_data, bytes);       // while the virgin image is loaded
 *     share_open(slots_max);
 *     char *map = share_map();                     // for a new slot
 *     ... = map + offset;
 *     share_unmap(map);
 *
 * The engine frees a table's memory with free() when it grows, and does not know of maps; so the executable
 * defines free(), which leaves alone what lies in one. */
#ifndef ORDEAL_FIBER_ENGINE_SHARE_H
#define ORDEAL_FIBER_ENGINE_SHARE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the place in a map of a copy of these bytes. Nothing is copied when there is no memory:
 * share_open() fails then. */
size_t share_add(const void *bytes, size_t count);

/* False: there are no maps, and slots have to copy. So it is with AddressSanitizer, which has its own free().
 */
bool share_open(unsigned maps_max);

char *share_map(void); /* NULL: none */
void share_unmap(char *map);

#endif
