#include "runtime/fiber/engine/audit.h"

#include "runtime/fiber/engine/code.h"
#include "runtime/fiber/engine/ranges.h"
#include "runtime/fiber/engine/shared.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENTS_MAX = 64, REPORTS_MAX = 4096, WORD = 8 };

static struct segment {
    const char *at;
    size_t bytes;
    char *before; /* NULL: not taken yet */
} segments[SEGMENTS_MAX];
static unsigned segments_count;
static const char *reported[REPORTS_MAX];
static unsigned reported_count;
static bool wanted, strict;

static bool is_of_php(const char *path)
{
    return strstr(path, "libphp") || strstr(path, "/php/");
}

/* What the linker writes at start and then makes read-only is left out. */
static size_t relro_bytes(const struct dl_phdr_info *object)
{
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_GNU_RELRO)
            return object->dlpi_phdr[i].p_memsz;
    return 0;
}

static int note_segments(struct dl_phdr_info *object, size_t size, void *argument)
{
    (void)size, (void)argument;
    if (!is_of_php(object->dlpi_name))
        return 0;
    for (int i = 0; i < object->dlpi_phnum && segments_count < SEGMENTS_MAX; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        size_t fixed = relro_bytes(object);
        const char *at = (const char *)object->dlpi_addr + part->p_vaddr + fixed;
        size_t bytes = (part->p_memsz - fixed) & ~(size_t)(WORD - 1);
        segments[segments_count++] = (struct segment){at, bytes, malloc(bytes)};
    }
    return 0;
}

void audit_open(void)
{
    const char *asked = getenv("ORDEAL_AUDIT");
    wanted = asked && *asked && strcmp(asked, "0") != 0;
    if (wanted)
        dl_iterate_phdr(note_segments, NULL);
    strict = wanted && !strcmp(asked, "strict");
}

static void remember(void)
{
    for (unsigned i = 0; i < segments_count; i++)
        if (segments[i].before)
            memcpy(segments[i].before, segments[i].at, segments[i].bytes);
}

static bool was_reported(const char *at)
{
    for (unsigned i = 0; i < reported_count; i++)
        if (reported[i] == at)
            return true;
    return false;
}

static void judge_word(const char *at, const char *before)
{
    if (ranges_contain(at, WORD) || (shared_contains(at) && !strict) || was_reported(at) ||
        reported_count == REPORTS_MAX)
        return;
    reported[reported_count++] = at;
    if (reported_count == REPORTS_MAX)
        fprintf(stderr, "AUDIT: %d places: no more are reported\n", REPORTS_MAX);
    char place[256];
    code_describe(at, place, sizeof place);
    unsigned long old, new;
    memcpy(&old, before, WORD);
    memcpy(&new, at, WORD);
    fprintf(stderr, "AUDIT: %s changed, in no image and not listed: %016lx -> %016lx\n", place, old, new);
}

void audit_begin(void)
{
    if (wanted)
        remember();
}

void audit_end(void)
{
    if (!wanted)
        return;
    for (unsigned i = 0; i < segments_count; i++) {
        const struct segment *segment = &segments[i];
        if (!segment->before || !memcmp(segment->at, segment->before, segment->bytes))
            continue;
        for (size_t offset = 0; offset < segment->bytes; offset += WORD)
            if (memcmp(segment->at + offset, segment->before + offset, WORD) != 0)
                judge_word(segment->at + offset, segment->before + offset);
    }
    remember();
}
