/* Any text as a configuration: it is read or refused, with a reason, a file and a line; and what was read can
 * be printed. A file that the text includes may be read, but nothing else is done. */
#include "runtime/fiber/config/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept, const char *text)
{
    if (kept)
        return;
    fprintf(stderr, "broken promise: %s\n", text);
    abort();
}

static void check(const struct fiber_config *config)
{
    char *text = NULL;
    size_t count = 0;
    promise(config->pools_count >= 1 && config->pools_count <= CONFIG_POOLS_MAX, "pools within the limits");
    for (unsigned i = 0; i < config->pools_count; i++) {
        const struct pool_config *pool = &config->pools[i];
        promise(pool->name && pool->listen, "each pool has a name and listens");
        promise(pool->max_children >= 1 && pool->max_children <= CONFIG_CHILDREN_MAX, "children in range");
        promise(pool->stack_size_bytes >= 256 << 10, "stacks in range");
        promise(pool->request_slowlog_timeout_ms == 0 || pool->slowlog, "slow requests have a log");
        promise(pool->env_count <= CONFIG_LIST_MAX && pool->settings_count <= CONFIG_LIST_MAX, "lists end");
    }
    FILE *out = open_memstream(&text, &count);
    promise(out != NULL, "memory");
    config_print(config, out);
    promise(fclose(out) == 0 && count > 0, "what was read is printed");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    char path[64];
    if (file < 0)
        file = memfd_create("config", 0);
    promise(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size, "memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct fiber_config config;
    struct config_error error;
    if (config_read(path, &config, &error)) {
        check(&config);
        config_free(&config);
        return 0;
    }
    promise(error.text[0] && error.file[0], "a refusal has a reason and a file");
    promise(config.pools == NULL, "a refusal leaves nothing");
    return 0;
}
