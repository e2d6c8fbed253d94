#include "fault-inject/launcher/trace_reader.h"

#include "fault-inject/control.h"
#include "fault-inject/launcher/say.h"
#include "fault-inject/rule/words.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool header_is_good(const struct trace_reader *reader, const char *path)
{
    const struct trace_header *header = reader->header;
    if (reader->size < TRACE_FAULT_OFFSET || header->magic != TRACE_MAGIC) {
        say("%s is no trace (those are made by `ordeal run --trace FILE`)", path);
        return false;
    }
    if (header->version != TRACE_VERSION || header->record_size != sizeof(struct trace_record)) {
        say("%s has version %" PRIu32 " and records of %" PRIu32
            " bytes; this ordeal reads version %u with %zu",
            path, header->version, header->record_size, TRACE_VERSION, sizeof(struct trace_record));
        return false;
    }
    if (header->hook_count > HOOK_MAX || header->ring_capacity > TRACE_RINGS_LIMIT ||
        header->ring_offset < TRACE_FAULT_OFFSET || header->ring_offset > header->file_size ||
        header->ring_offset % _Alignof(max_align_t) != 0) {
        say("%s has a header that makes no sense", path);
        return false;
    }
    return true;
}

static bool map_file(struct trace_reader *reader, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        say("%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    reader->size = (uint64_t)status.st_size;
    void *memory = reader->size > 0 ? mmap(NULL, reader->size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (memory == MAP_FAILED) {
        say("%s %s", path, reader->size == 0 ? "is empty" : "cannot be mapped");
        return false;
    }
    reader->bytes = memory;
    reader->header = memory;
    return true;
}

static struct trace_event *new_event(struct trace_reader *reader)
{
    if (reader->count == reader->room) {
        size_t room = reader->room == 0 ? 4096 : reader->room * 2;
        struct trace_event *events = realloc(reader->events, room * sizeof *events);
        if (events == NULL)
            return NULL;
        reader->events = events;
        reader->room = room;
    }
    return &reader->events[reader->count++];
}

/* Copies the record at `offset`, if the file goes that far and its writer got to the end. */
static bool read_record(struct trace_reader *reader, uint64_t offset, bool from_log)
{
    if (offset > reader->size || reader->size - offset < sizeof(struct trace_record))
        return true;
    const struct trace_record *record = (const void *)(reader->bytes + offset);
    uint64_t sequence = atomic_load_explicit(&record->sequence, memory_order_acquire);
    if (sequence == 0) {
        reader->unfinished++;
        return true;
    }
    struct trace_event *event = new_event(reader);
    if (event == NULL)
        return false;
    *event = (struct trace_event){.sequence = sequence,
                                  .time_ns = record->time_ns,
                                  .thread_key = record->thread_key,
                                  .pid = record->pid,
                                  .tid = record->tid,
                                  .proc = record->proc,
                                  .thread = record->thread,
                                  .call = record->call,
                                  .rule = record->rule,
                                  .index = record->index,
                                  .actions = record->actions,
                                  .err = record->err,
                                  .result = record->result,
                                  .object = record->object,
                                  .argument = record->argument,
                                  .from_log = from_log};
    reader->fault_count += from_log ? 1 : 0;
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool read_log(struct trace_reader *reader)
{
    uint64_t room = (reader->header->ring_offset - TRACE_FAULT_OFFSET) / sizeof(struct trace_record);
    uint64_t count = least(atomic_load(&reader->header->fault_count), reader->header->fault_capacity);
    count = least(count, room);
    for (uint64_t i = 0; i < count; i++)
        if (!read_record(reader, TRACE_FAULT_OFFSET + i * sizeof(struct trace_record), true))
            return false;
    return true;
}

static bool read_ring(struct trace_reader *reader, uint64_t offset)
{
    if (offset > reader->size || reader->size - offset < offsetof(struct trace_ring, records))
        return true;
    const struct trace_ring *ring = (const void *)(reader->bytes + offset);
    uint64_t count = least(atomic_load(&ring->written) + 1, TRACE_RING_RECORDS);
    size_t before = reader->unfinished;
    for (uint64_t i = 0; i < count; i++)
        if (!read_record(reader,
                         offset + offsetof(struct trace_ring, records) + i * sizeof(struct trace_record),
                         false))
            return false;
    /* The slot behind the newest record is empty in a ring that was not full yet. */
    if (count < TRACE_RING_RECORDS && reader->unfinished > before)
        reader->unfinished--;
    return true;
}

static bool read_rings(struct trace_reader *reader)
{
    uint64_t count = least(atomic_load(&reader->header->rings_used), reader->header->ring_capacity);
    for (uint64_t i = 0; i < count; i++)
        if (!read_ring(reader, reader->header->ring_offset + i * sizeof(struct trace_ring)))
            return false;
    return true;
}

int64_t trace_since_start_ns(const struct trace_reader *reader, const struct trace_event *event)
{
    return (int64_t)((uint64_t)event->time_ns - (uint64_t)reader->header->start_time_ns);
}

static int by_sequence(const void *a, const void *b)
{
    uint64_t x = ((const struct trace_event *)a)->sequence, y = ((const struct trace_event *)b)->sequence;
    return x < y ? -1 : x > y;
}

bool trace_reader_open(struct trace_reader *reader, const char *path)
{
    memset(reader, 0, sizeof *reader);
    if (!map_file(reader, path))
        return false;
    if (!header_is_good(reader, path)) {
        trace_reader_close(reader);
        return false;
    }
    reader->cut_off = reader->size < reader->header->file_size;
    if (!read_log(reader) || !read_rings(reader)) {
        say("out of memory");
        trace_reader_close(reader);
        return false;
    }
    if (reader->count > 0)
        qsort(reader->events, reader->count, sizeof *reader->events, by_sequence);
    return true;
}

void trace_reader_close(struct trace_reader *reader)
{
    if (reader->bytes != NULL)
        munmap((void *)(uintptr_t)reader->bytes, reader->size);
    free(reader->events);
    memset(reader, 0, sizeof *reader);
}

static bool same_call(const struct trace_event *a, const struct trace_event *b)
{
    return a->thread_key == b->thread_key && a->call == b->call && a->index == b->index && a->pid == b->pid;
}

/* Faults of a call stand before it, and between them only what other threads and nested handlers did: so the
 * search backwards ends soon. */
enum { JOIN_DISTANCE_MAX = 4096 };

void trace_reader_join(struct trace_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct trace_event *call = &reader->events[i];
        if (call->from_log || call->actions == 0)
            continue;
        uint32_t left = call->actions;
        for (size_t back = 1; back <= i && back <= JOIN_DISTANCE_MAX && left != 0; back++) {
            struct trace_event *fault = &reader->events[i - back];
            if (!fault->from_log || !same_call(fault, call))
                continue;
            fault->covered = true;
            left &= ~fault->actions;
        }
    }
}

/* As C spells names: a broken file must not get through to a terminal or into JSON. */
static bool is_call_name(const char *name, size_t size)
{
    size_t length = strnlen(name, size);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return length > 0 && length < size;
}

const char *trace_call_name(const struct trace_reader *reader, const struct trace_event *event)
{
    if (event->call >= reader->header->hook_count)
        return "?";
    const char *name = reader->header->hook_names[event->call];
    return is_call_name(name, sizeof reader->header->hook_names[0]) ? name : "?";
}

int trace_call_row(const struct trace_reader *reader, const struct trace_event *event)
{
    const char *name = trace_call_name(reader, event);
    return hook_find(name, strlen(name));
}

void trace_object_text(const struct trace_reader *reader, const struct trace_event *event, char out[40])
{
    int row = trace_call_row(reader, event);
    enum hook_object object = row >= 0 ? hook_table[row].object : OBJECT_NONE;
    out[0] = '\0';
    if (object == OBJECT_FD)
        snprintf(out, 40, "fd %d", (int)event->object);
    else if (object == OBJECT_PATH || object == OBJECT_AT)
        snprintf(out, 40, "path #%016" PRIx64, event->object);
    else if (object != OBJECT_NONE)
        snprintf(out, 40, "0x%" PRIx64, event->object);
}

const char *trace_errno_text(const struct trace_reader *reader, const struct trace_event *event)
{
    (void)reader;
    return event->err == 0 ? NULL : errno_word(event->err);
}

int64_t trace_result(const struct trace_reader *reader, const struct trace_event *event)
{
    int row = trace_call_row(reader, event);
    if (!event->from_log && !(event->actions & THEN_ERRNO))
        return event->result;
    if ((event->actions & THEN_ERRNO) == 0 || row < 0)
        return 0;
    switch (hook_table[row].fail) {
    case FAIL_RETURNS_ERR:
    case FAIL_EAI:
        return event->err;
    case FAIL_NULL_PTR:
        return 0;
    case FAIL_MINUS_ONE:
    case FAIL_MAP_FAIL:
    case FAIL_LEFT_OVER:
        break;
    }
    return -1;
}
