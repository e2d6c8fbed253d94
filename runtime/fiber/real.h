/* The executable defines calls of libc itself, for scripts (seam/). This is the next definition of such a
 * call: libc's, or that of a preloaded library.
 *
 *     REAL(poll)(&state, 1, -1);
 */
#ifndef ORDEAL_FIBER_REAL_H
#define ORDEAL_FIBER_REAL_H

#include <dlfcn.h>

#define REAL(call)                                                                                           \
    __extension__({                                                                                          \
        static __typeof__(&call) real_;                                                                      \
        if (!real_)                                                                                          \
            real_ = (__typeof__(&call))dlsym(RTLD_NEXT, #call);                                              \
        real_;                                                                                               \
    })

#endif
