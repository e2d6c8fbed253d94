/* Is the libphp that is loaded the one whose headers this was compiled with? What this server does to the
 * engine's globals is only right when their sizes and places are the known ones, so a difference is refused
 * at start, with both values. */
#ifndef ORDEAL_FIBER_ENGINE_LAYOUT_H
#define ORDEAL_FIBER_ENGINE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

/* Before PHP's modules start. */
bool layout_check(char *problem, size_t problem_bytes);

/* After: the statics that have no name are those that were meant. */
bool layout_check_statics(char *problem, size_t problem_bytes);

#endif
