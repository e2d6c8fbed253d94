/* The planted-defect switch: where the audited behaviour of a runtime differs from the right one, one `if`
 * beside the right code brings it back, so that each judge can be shown to see it.
 *
 *     if (DEFECT(B26))
 *         deadline_ns -= 1000;
 *
 * Compiled in with -DORDEAL_DEFECTS only; a plain build contains none of it. Which defects are alive is
 * chosen at start by the environment: ORDEAL_DEFECT=B26 or ORDEAL_DEFECT=B2,B26. */
#ifndef ORDEAL_DEFECT_H
#define ORDEAL_DEFECT_H

#ifdef ORDEAL_DEFECTS

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool defect_named(const char *id)
{
    const char *list = getenv("ORDEAL_DEFECT");
    size_t length = strlen(id);
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, id, length) && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

/* Each place asks the environment once: scripts may change it later. */
#define DEFECT(id)                                                                                           \
    __extension__({                                                                                          \
        static signed char defect_state_;                                                                    \
        if (!defect_state_)                                                                                  \
            defect_state_ = defect_named(#id) ? 1 : -1;                                                      \
        defect_state_ > 0;                                                                                   \
    })

#else
#define DEFECT(id) 0
#endif

#endif
