#include "runtime/fiber/engine/shared.h"

#include "runtime/fiber/engine/code.h"
#include "runtime/fiber/php.h"

#include <dlfcn.h>

enum how { SYMBOL, SETTING, OBJECT };

static const struct shared {
    enum how how;
    const char *name;
    size_t offset, bytes;
    const char *reason;
} rows[] = {
#define SHARED(how, name, offset, bytes, reason) {how, #name, offset, bytes, reason},
#include "runtime/fiber/engine/shared.def"
#undef SHARED
};

/* Is it in the file NAME.so? */
static bool is_in_object(const char *at, const char *name)
{
    Dl_info info;
    if (!dladdr(at, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/'), *file = slash ? slash + 1 : info.dli_fname;
    size_t length = strlen(name);
    return !strncmp(file, name, length) && !strcmp(file + length, ".so");
}

static const char *find(const struct shared *row, size_t *bytes)
{
    *bytes = row->bytes;
    if (row->how == SETTING) {
        const zend_ini_entry *entry =
            zend_hash_str_find_ptr(EG(ini_directives), row->name, strlen(row->name));
        if (!*bytes)
            *bytes = sizeof(virtual_cwd_globals);
        return entry ? entry->mh_arg2 : NULL;
    }
    size_t all;
    const char *at = code_variable(row->name, &all);
    if (!*bytes)
        *bytes = all;
    return at;
}

bool shared_contains(const char *at)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t bytes;
        if (rows[i].how == OBJECT && is_in_object(at, rows[i].name))
            return true;
        if (rows[i].how == OBJECT)
            continue;
        const char *start = find(&rows[i], &bytes);
        if (start && at >= start + rows[i].offset && at < start + rows[i].offset + bytes)
            return true;
    }
    return false;
}
