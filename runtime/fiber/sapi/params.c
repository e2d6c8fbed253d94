#include "runtime/fiber/sapi/params.h"

#include <stdlib.h>
#include <string.h>

/* Texts are kept one behind the other in blocks; a typical request fits into one. */
struct params_block {
    struct params_block *next;
    size_t used, size;
    char bytes[];
};

enum { BLOCK_BYTES = 4000, ITEMS_FIRST = 48 };

static uint32_t hash_of(const char *name, size_t len)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

static char *keep(struct params *params, const char *bytes, size_t len)
{
    struct params_block *block = params->blocks;
    if (!block || block->size - block->used <= len) {
        size_t size = len + 1 > BLOCK_BYTES ? len + 1 : BLOCK_BYTES;
        block = malloc(sizeof *block + size);
        if (!block)
            return NULL;
        *block = (struct params_block){.next = params->blocks, .size = size};
        params->blocks = block;
    }
    char *copy = block->bytes + block->used;
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    block->used += len + 1;
    return copy;
}

static struct param *lookup(const struct params *params, const char *name, size_t len)
{
    uint32_t hash = hash_of(name, len);
    for (unsigned i = 0; i < params->count; i++) {
        struct param *item = &params->items[i];
        if (item->hash == hash && item->name_len == len && !memcmp(item->name, name, len))
            return item;
    }
    return NULL;
}

static struct param *append(struct params *params, const char *name, size_t len)
{
    if (params->count == params->capacity) {
        unsigned capacity = params->capacity ? params->capacity * 2 : ITEMS_FIRST;
        struct param *items = realloc(params->items, capacity * sizeof *items);
        if (!items)
            return NULL;
        params->items = items;
        params->capacity = capacity;
    }
    char *copy = keep(params, name, len);
    if (!copy)
        return NULL;
    struct param *item = &params->items[params->count++];
    *item = (struct param){.name = copy, .name_len = (uint32_t)len, .hash = hash_of(name, len)};
    return item;
}

bool params_add(struct params *params, const char *name, size_t name_len, const char *value, size_t value_len)
{
    struct param *item = lookup(params, name, name_len);
    if (!item && !(item = append(params, name, name_len)))
        return false;
    char *copy = keep(params, value, value_len);
    if (!copy)
        return false;
    item->value = copy;
    item->value_len = (uint32_t)value_len;
    return true;
}

char *params_put(struct params *params, const char *name, const char *value)
{
    if (value)
        return params_add(params, name, strlen(name), value, strlen(value)) ? params_get(params, name) : NULL;
    struct param *item = lookup(params, name, strlen(name));
    if (item)
        item->value = NULL;
    return NULL;
}

char *params_find(const struct params *params, const char *name, size_t name_len)
{
    const struct param *item = lookup(params, name, name_len);
    return item ? item->value : NULL;
}

char *params_get(const struct params *params, const char *name)
{
    return params_find(params, name, strlen(name));
}

void params_free(struct params *params)
{
    for (struct params_block *block = params->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(params->items);
    *params = (struct params){0};
}
