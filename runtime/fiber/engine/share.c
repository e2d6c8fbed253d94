#include "runtime/fiber/engine/share.h"

#include "runtime/fiber/real.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

static int file = -1;
static size_t file_bytes;
static bool failed;
static char *area; /* of all maps, reserved at once */
static size_t area_bytes;
static unsigned *free_maps, free_count;

#ifndef __SANITIZE_ADDRESS__
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif
#endif

#ifndef __SANITIZE_ADDRESS__
static const bool free_is_ours = true;

void free(void *memory)
{
    if ((uintptr_t)memory - (uintptr_t)area >= area_bytes) /* what is in a map goes with its slot */
        REAL(free)(memory);
}
#else
static const bool free_is_ours = false;
#endif

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

size_t share_add(const void *bytes, size_t count)
{
    size_t offset = file_bytes;
    if (file < 0)
        file = memfd_create("fiber-fpm tables", MFD_CLOEXEC);
    failed |= file < 0 || ftruncate(file, (off_t)(offset + whole_pages(count))) ||
              pwrite(file, bytes, count, (off_t)offset) != (ssize_t)count;
    file_bytes += whole_pages(count);
    return offset;
}

bool share_open(unsigned maps_max)
{
    if (!free_is_ours || failed || !file_bytes)
        return false;
    size_t bytes = file_bytes * maps_max;
    char *reserved = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    free_maps = malloc(maps_max * sizeof *free_maps);
    if (reserved == MAP_FAILED || !free_maps)
        return false;
    for (free_count = 0; free_count < maps_max; free_count++)
        free_maps[free_count] = maps_max - 1 - free_count;
    area = reserved;
    area_bytes = bytes;
    return true;
}

char *share_map(void)
{
    if (!free_count)
        return NULL;
    char *at = area + (size_t)free_maps[free_count - 1] * file_bytes;
    if (mmap(at, file_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) ==
        MAP_FAILED)
        return NULL;
    free_count--;
    return at;
}

void share_unmap(char *map)
{
    if (!map)
        return;
    mmap(map, file_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    free_maps[free_count++] = (unsigned)((size_t)(map - area) / file_bytes);
}
