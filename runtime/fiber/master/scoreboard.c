#include "runtime/fiber/master/scoreboard.h"

#include <stddef.h>
#include <sys/mman.h>

struct scoreboard_slot *scoreboard_new(unsigned count)
{
    size_t bytes = count * sizeof(struct scoreboard_slot);
    void *slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return slots == MAP_FAILED ? NULL : slots;
}
