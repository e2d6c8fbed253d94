/* A plugin such as PHP loads: its own calls must reach the hooks, with RTLD_DEEPBIND too. */
#include <sys/file.h>

int plugin_flock(int fd);
int plugin_flock(int fd)
{
    return flock(fd, LOCK_SH);
}
