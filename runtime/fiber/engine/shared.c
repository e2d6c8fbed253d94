#include "runtime/fiber/engine/shared.h"

#include "runtime/fiber/php.h"

#include <dlfcn.h>
#include <link.h>

enum how { SYMBOL, SETTING };

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
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;
    const char *at = dlsym(RTLD_DEFAULT, row->name);
    if (at && !*bytes && dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol)
        *bytes = symbol->st_size;
    return at;
}

bool shared_contains(const char *at)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t bytes;
        const char *start = find(&rows[i], &bytes);
        if (start && at >= start + rows[i].offset && at < start + rows[i].offset + bytes)
            return true;
    }
    return false;
}
