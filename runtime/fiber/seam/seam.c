#include "runtime/fiber/seam/seam.h"

#include <string.h>

bool seam_disabled[SEAM_CALLS];

static const char *const names[] = {
#define SEAM(call, what, note) #call,
#include "runtime/fiber/seam/seam.def"
#undef SEAM
};

bool seam_disable(const char *call)
{
    for (int i = 0; i < SEAM_CALLS; i++) {
        if (strcmp(names[i], call) != 0)
            continue;
        seam_disabled[i] = true;
        return true;
    }
    return false;
}

const char *seam_names(void)
{
    return
#define SEAM(call, what, note) #call " "
#include "runtime/fiber/seam/seam.def"
#undef SEAM
        ;
}
