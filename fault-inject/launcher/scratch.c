#include "fault-inject/launcher/scratch.h"

#include "fault-inject/launcher/say.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 256 };

static bool is_inside(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool is_disposable(const char *path)
{
    const char *temporary = getenv("TMPDIR");
    return is_inside(path, "/tmp") || is_inside(path, "/var/tmp") || is_inside(path, "/dev/shm") ||
           is_inside(path, "/run") || (temporary != NULL && *temporary == '/' && is_inside(path, temporary));
}

/* What makes a folder too dear to be removed, or NULL. */
static const char *objection(const char *path)
{
    const char *home = getenv("HOME");
    char here[PATH_MAX], repository[PATH_MAX + 8];
    snprintf(repository, sizeof repository, "%s/.git", path);
    if (strchr(path + 1, '/') == NULL)
        return "it lies directly under /";
    if (home != NULL && is_inside(home, path))
        return "it holds your home folder";
    if (access(repository, F_OK) == 0)
        return "it is a git work tree";
    if (!is_disposable(path) && getcwd(here, sizeof here) != NULL && is_inside(here, path))
        return "it holds the current folder";
    return NULL;
}

bool scratch_prepare(struct scratch *scratch, const char *path)
{
    struct stat status;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        say("the scratch folder %s cannot be made: %s", path, strerror(errno));
        return false;
    }
    if (realpath(path, scratch->path) == NULL || lstat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        say("the scratch folder %s is not a folder", path);
        scratch->path[0] = '\0';
        return false;
    }
    const char *dear = objection(scratch->path);
    if (dear != NULL) {
        say("%s is not taken as scratch folder, since it would be removed at the end: %s", scratch->path,
            dear);
        scratch->path[0] = '\0';
        return false;
    }
    scratch->device = status.st_dev;
    scratch->inode = status.st_ino;
    return true;
}

static void remove_inside(int folder_fd, unsigned long long device, int depth);

static void remove_entry(int folder_fd, const char *name, unsigned long long device, int depth)
{
    if (unlinkat(folder_fd, name, 0) == 0 || (errno != EISDIR && errno != EPERM && errno != EACCES))
        return;
    int fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(folder_fd, name, 0700, 0) == 0)
        fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    remove_inside(fd, device, depth + 1);
    unlinkat(folder_fd, name, AT_REMOVEDIR);
}

/* Takes the descriptor over. */
static void remove_inside(int folder_fd, unsigned long long device, int depth)
{
    struct stat status;
    DIR *folder = NULL;
    if (depth < DEPTH_MAX && fstat(folder_fd, &status) == 0 && status.st_dev == device) {
        fchmod(folder_fd, 0700);
        folder = fdopendir(folder_fd);
    }
    if (folder == NULL) {
        close(folder_fd);
        return;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_entry(dirfd(folder), entry->d_name, device, depth);
    closedir(folder);
}

void scratch_remove(const struct scratch *scratch)
{
    struct stat status;
    if (scratch->path[0] == '\0')
        return;
    int fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &status) != 0 || status.st_dev != scratch->device || status.st_ino != scratch->inode) {
        close(fd);
        return;
    }
    remove_inside(fd, scratch->device, 0);
    if (rmdir(scratch->path) != 0)
        say("the scratch folder %s could not be removed: %s", scratch->path, strerror(errno));
}
