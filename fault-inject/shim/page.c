/* Start of the shim in a process: resolve the real calls, map the control page, say who we are. */
#include "fault-inject/shim/raw.h"
#include "fault-inject/shim/shim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

HIDDEN _Alignas(SHIM_PAGE_ALIGN) union shim_control shim_control;
HIDDEN __thread struct shim_thread self __attribute__((tls_model("initial-exec")));

static bool executable_is(const char *wanted)
{
    char path[1024];
    long length = raw_syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    const char *slash = strrchr(path, '/');
    return strcmp(slash != NULL ? slash + 1 : path, wanted) == 0;
}

/* A file of another version is left alone, and that is counted for the launcher to say. */
static bool is_for_us(struct control_page *page)
{
    if (page->magic != CONTROL_MAGIC)
        return false;
    if (page->version != CONTROL_VERSION) {
        atomic_fetch_add(&page->refused, 1);
        return false;
    }
    return page->only[0] == '\0' || executable_is(page->only);
}

/* Maps map_length bytes of a file that must have at least file_length. */
static void *map_file(const char *path, size_t file_length, size_t map_length)
{
    long fd = raw_syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    long size = raw_syscall(SYS_lseek, fd, 0, SEEK_END);
    long address = -1;
    if (size >= (long)file_length)
        address = raw_syscall(SYS_mmap, 0, map_length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    raw_syscall(SYS_close, fd);
    return address < 0 && address > -4096 ? NULL : (void *)address;
}

static void map_control_page(void)
{
    const char *path = getenv(CONTROL_ENV);
    if (path == NULL || *path == '\0')
        return;
    void *mapped = map_file(path, sizeof(struct control_page), sizeof shim_control);
    if (mapped == NULL)
        return;
    if (!is_for_us(mapped)) {
        raw_syscall(SYS_munmap, mapped, sizeof shim_control);
        return;
    }
    /* Moving the mapping over our own zeros is one step: no thread can see a half-mapped page. */
    raw_syscall(SYS_mremap, mapped, sizeof shim_control, sizeof shim_control, MREMAP_MAYMOVE | MREMAP_FIXED,
                &shim_control);
}

__attribute__((constructor(101))) static void start(void)
{
    self.in_hook++;
    shim_resolve_all();
    map_control_page();
    if (CONTROL->magic == CONTROL_MAGIC) {
        shim_register_process();
        shim_open_trace();
    }
    self.in_hook--;
}

/* For programs that want to take part: `void ordeal_mark(const char *) __attribute__((weak));` */
EXPORT void ordeal_mark(const char *name);
EXPORT void ordeal_mark(const char *name)
{
    uint32_t count = atomic_load(&CONTROL->mark_count);
    for (uint32_t i = 0; i < count && i < CONTROL_MARKS_MAX; i++)
        if (strcmp(CONTROL->marks[i].name, name) == 0)
            shim_reach_mark((int)i);
}
