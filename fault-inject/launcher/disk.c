#include "fault-inject/launcher/disk.h"

#include "fault-inject/launcher/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void say_no_room(int fd, const char *path, uint64_t size, const char *what, int error)
{
    char needed[SIZE_TEXT_MAX], available[SIZE_TEXT_MAX];
    struct statvfs fs;
    struct rlimit limit;
    if (error == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size)
        say("%s %s needs %s, and the limit on file sizes is %s (ulimit -f)", what, path,
            size_text(size, needed), size_text(limit.rlim_cur, available));
    else if (fstatvfs(fd, &fs) == 0)
        say("%s %s needs %s, and %s are available there: %s", what, path, size_text(size, needed),
            size_text((uint64_t)fs.f_bavail * fs.f_frsize, available), strerror(error));
    else
        say("%s %s needs %s: %s", what, path, size_text(size, needed), strerror(error));
}

static bool allocate(int fd, const char *path, uint64_t size, const char *what)
{
    int error;
    do
        error = posix_fallocate(fd, 0, (off_t)size);
    while (error == EINTR);
    if (error != 0)
        say_no_room(fd, path, size, what, error);
    return error == 0;
}

int create_allocated(const char *path, uint64_t size, const char *what)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        say("%s %s cannot be created: %s", what, path, strerror(errno));
        return -1;
    }
    if (allocate(fd, path, size, what))
        return fd;
    unlink(path);
    close(fd);
    return -1;
}

int create_unnamed(const char *path, uint64_t size, const char *what)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) : 1,
             slash != NULL ? path : ".");
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return -2;
    if (allocate(fd, path, size, what))
        return fd;
    close(fd);
    return -1;
}

bool give_name(int fd, const char *path)
{
    char unnamed[64];
    snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, unnamed, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

bool absolute_path(const char *path, char *out, size_t out_size)
{
    char folder[PATH_MAX], resolved[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof folder || *name == '\0') {
        say("'%s' is not the name of a file", path);
        return false;
    }
    memcpy(folder, length > 0 ? path : ".", length > 0 ? length : 1);
    folder[length > 0 ? length : 1] = '\0';
    if (realpath(folder, resolved) == NULL) {
        say("%s: the folder %s: %s", path, folder, strerror(errno));
        return false;
    }
    int written = snprintf(out, out_size, "%s/%s", strcmp(resolved, "/") == 0 ? "" : resolved, name);
    if (written > 0 && (size_t)written < out_size)
        return true;
    say("%s: the full path is too long (at most %zu bytes)", path, out_size - 1);
    return false;
}
