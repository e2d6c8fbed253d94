#include "fault-inject/launcher/control_file.h"

#include "fault-inject/launcher/disk.h"
#include "fault-inject/launcher/say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whole pages, of the largest size that a kernel of this architecture may have. */
#define CONTROL_FILE_SIZE ((sizeof(struct control_page) + 65535) / 65536 * 65536)

struct control_page *control_draft(void)
{
    void *memory = mmap(NULL, CONTROL_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    struct control_page *page = memory;
    page->magic = CONTROL_MAGIC;
    page->version = CONTROL_VERSION;
    return page;
}

void control_discard(struct control_page *draft)
{
    if (draft != NULL)
        munmap(draft, CONTROL_FILE_SIZE);
}

static const char *temporary_folder(void)
{
    if (access("/dev/shm", W_OK | X_OK) == 0)
        return "/dev/shm";
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder != '\0' ? folder : "/tmp";
}

/* A file from an earlier run is replaced; one of a run that still goes on is not. */
static bool may_replace(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || refuse("%s: %s", path, strerror(errno)) == 0;
    struct {
        uint64_t magic;
        int32_t launcher_pid;
    } old = {0, 0};
    bool read_it = pread(fd, &old.magic, sizeof old.magic, offsetof(struct control_page, magic)) ==
                       (ssize_t)sizeof old.magic &&
                   pread(fd, &old.launcher_pid, sizeof old.launcher_pid,
                         offsetof(struct control_page, launcher_pid)) == (ssize_t)sizeof old.launcher_pid;
    struct stat status;
    bool empty = fstat(fd, &status) == 0 && status.st_size == 0;
    close(fd);
    if (!empty && (!read_it || old.magic != CONTROL_MAGIC)) {
        say("%s exists and is no control file: it is not overwritten", path);
        return false;
    }
    if (!empty && old.launcher_pid > 0 && kill(old.launcher_pid, 0) == 0) {
        say("%s belongs to a run that still goes on (pid %d)", path, (int)old.launcher_pid);
        return false;
    }
    return true;
}

/* All but the processes, which the shim enters, and the unused part of the script. */
static void copy_draft(struct control_page *page, const struct control_page *draft)
{
    memcpy((void *)page, draft, offsetof(struct control_page, processes));
    memcpy((void *)page->script, draft->script, draft->script_count * sizeof draft->script[0]);
}

static bool map_and_fill(struct control_file *file, int fd, const struct control_page *draft)
{
    void *memory = mmap(NULL, CONTROL_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        say("the control file cannot be mapped: %s", strerror(errno));
        return false;
    }
    file->page = memory;
    copy_draft(file->page, draft);
    return true;
}

static bool fill_named(struct control_file *file, const char *path, const struct control_page *draft)
{
    int fd = create_allocated(path, CONTROL_FILE_SIZE, "the control file");
    if (fd < 0)
        return false;
    bool filled = map_and_fill(file, fd, draft);
    close(fd);
    if (!filled)
        unlink(path);
    return filled;
}

/* Whoever kills us now leaves nothing: the file gets its name when there is somebody to remove it. */
static bool create_temporary(struct control_file *file, const struct control_page *draft)
{
    snprintf(file->path, sizeof file->path, "%s/ordeal-%d-%08x.ctl", temporary_folder(), (int)getpid(),
             (unsigned)draft->seed);
    unlink(file->path);
    int fd = create_unnamed(file->path, CONTROL_FILE_SIZE, "the control file");
    if (fd == -2)
        return fill_named(file, file->path, draft);
    if (fd < 0)
        return false;
    file->unnamed_fd = fd;
    return map_and_fill(file, fd, draft);
}

bool control_create(struct control_file *file, const struct control_page *draft, const char *path)
{
    char building[PATH_MAX + 16];
    file->is_temporary = path == NULL;
    file->unnamed_fd = -1;
    if (path == NULL)
        return create_temporary(file, draft);
    if (!absolute_path(path, file->path, sizeof file->path) || !may_replace(file->path))
        return false;
    snprintf(building, sizeof building, "%s.%d", file->path, (int)getpid());
    if (!fill_named(file, building, draft))
        return false;
    if (rename(building, file->path) == 0)
        return true;
    say("the control file %s cannot be put in its place: %s", path, strerror(errno));
    unlink(building);
    return false;
}

static bool is_control_file(const char *path, int fd)
{
    struct stat status;
    uint64_t magic = 0;
    uint32_t version = 0;
    if (fstat(fd, &status) != 0 || (size_t)status.st_size < sizeof(struct control_page) ||
        pread(fd, &magic, sizeof magic, offsetof(struct control_page, magic)) != (ssize_t)sizeof magic ||
        magic != CONTROL_MAGIC) {
        say("%s is not a control file (those are made by `ordeal run --ctl FILE`)", path);
        return false;
    }
    if (pread(fd, &version, sizeof version, offsetof(struct control_page, version)) !=
            (ssize_t)sizeof version ||
        version != CONTROL_VERSION) {
        say("%s is of version %u; this ordeal knows version %u", path, version, CONTROL_VERSION);
        return false;
    }
    return true;
}

struct control_page *control_open(const char *path, int *fd)
{
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0) {
        say("%s: %s", path, strerror(errno));
        return NULL;
    }
    if (!is_control_file(path, *fd)) {
        close(*fd);
        return NULL;
    }
    void *memory = mmap(NULL, sizeof(struct control_page), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (memory != MAP_FAILED)
        return memory;
    say("%s cannot be mapped: %s", path, strerror(errno));
    close(*fd);
    return NULL;
}

void control_close(struct control_file *file)
{
    if (file->page == NULL)
        return;
    munmap(file->page, CONTROL_FILE_SIZE);
    file->page = NULL;
    if (file->unnamed_fd >= 0)
        close(file->unnamed_fd);
    if (file->is_temporary)
        unlink(file->path);
}

static bool rule_names(const struct rule *rule, int hook)
{
    return (rule->hooks[hook / 64] >> (hook % 64) & 1) != 0;
}

static bool some_rule_is_armed(const struct control_page *page, int hook)
{
    uint32_t count = atomic_load(&page->rule_count);
    for (uint32_t i = 0; i < count; i++)
        if (page->rules[i].active && atomic_load(&page->rules[i].armed) && rule_names(&page->rules[i], hook))
            return true;
    return false;
}

void control_recompute_armed(struct control_page *page)
{
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        if (some_rule_is_armed(page, hook))
            atomic_fetch_or(&page->armed[hook], ARMED_RULES);
        else
            atomic_fetch_and(&page->armed[hook], (uint8_t)~ARMED_RULES);
}

void control_add_flags(struct control_page *page, unsigned flags)
{
    uint32_t count = atomic_load(&page->rule_count);
    for (uint32_t i = 0; i < count; i++)
        for (int hook = 0; hook < HOOK_COUNT; hook++)
            if (rule_names(&page->rules[i], hook))
                atomic_fetch_or(&page->armed[hook], (uint8_t)flags);
}
