#include "fault-inject/launcher/trace_file.h"

#include "fault-inject/launcher/disk.h"
#include "fault-inject/launcher/say.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t ring_offset(void)
{
    uint64_t end = TRACE_FAULT_OFFSET + (uint64_t)TRACE_FAULTS_MAX * sizeof(struct trace_record);
    return (end + 65535) / 65536 * 65536;
}

static void copy_command(struct trace_header *header, char *const *argv)
{
    size_t length = 0;
    for (; *argv != NULL && length < sizeof header->command - 1; argv++) {
        int added = snprintf(header->command + length, sizeof header->command - length, "%s%s",
                             length > 0 ? " " : "", *argv);
        length += added > 0 ? (size_t)added : 0;
    }
}

static void fill_header(struct trace_header *header, const struct trace_plan *plan, uint64_t size)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    header->version = TRACE_VERSION;
    header->record_size = sizeof(struct trace_record);
    header->fault_capacity = TRACE_FAULTS_MAX;
    header->ring_capacity = plan->rings;
    header->hook_count = HOOK_COUNT;
    header->mode = plan->mode;
    header->seed = plan->seed;
    header->start_time_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    header->file_size = size;
    header->ring_offset = ring_offset();
    snprintf(header->only, sizeof header->only, "%s", plan->only);
    copy_command(header, plan->argv);
    for (int i = 0; i < HOOK_COUNT; i++)
        snprintf(header->hook_names[i], sizeof header->hook_names[i], "%s", hook_table[i].name);
    header->magic = TRACE_MAGIC;
}

/* Another trace may be replaced, and an empty file; nothing else. */
static bool clear_the_place(const char *path)
{
    uint64_t magic = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return true;
    ssize_t length = fd >= 0 ? read(fd, &magic, sizeof magic) : -1;
    if (fd >= 0)
        close(fd);
    if (length != 0 && (length != (ssize_t)sizeof magic || magic != TRACE_MAGIC)) {
        say("%s exists and is no trace: it is not overwritten", path);
        return false;
    }
    return unlink(path) == 0;
}

bool trace_create(const struct trace_plan *plan)
{
    uint64_t size = ring_offset() + (uint64_t)plan->rings * sizeof(struct trace_ring);
    if (!clear_the_place(plan->path))
        return false;
    int fd = create_allocated(plan->path, size, "the trace file");
    if (fd < 0)
        return false;
    void *memory = mmap(NULL, TRACE_FAULT_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) {
        say("the trace file %s cannot be mapped: %s", plan->path, strerror(errno));
        unlink(plan->path);
        return false;
    }
    fill_header(memory, plan, size);
    munmap(memory, TRACE_FAULT_OFFSET);
    return true;
}
