/* A plugin such as PHP loads: its own calls must reach the hooks, with RTLD_DEEPBIND too. */
#include <sys/file.h>

int plugin_flock(int fd);
int plugin_flock(int fd)
{
    volatile int result = flock(fd, LOCK_SH); /* a call, not a jump: the caller is to be seen */
    return result;
}
