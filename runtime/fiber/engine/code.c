#include "runtime/fiber/engine/code.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { REACH_BYTES = 2048 };

char *code_static(const void *function, const char *opcode, size_t opcode_bytes, size_t operand_bytes)
{
    const char *code = function;
    for (size_t i = 0; code && i < REACH_BYTES; i++) {
        if (memcmp(code + i, opcode, opcode_bytes) != 0)
            continue;
        int32_t distance;
        memcpy(&distance, code + i + opcode_bytes, sizeof distance);
        return (char *)(uintptr_t)(code + i + opcode_bytes + sizeof distance + operand_bytes) + distance;
    }
    return NULL;
}

void *code_libphp(const char **path)
{
    static void *library;
    static const char *name;
    Dl_info info;
    const void *function = library ? NULL : dlsym(RTLD_DEFAULT, "php_request_startup");
    if (function && dladdr(function, &info) && info.dli_fname) {
        library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
        name = info.dli_fname;
    }
    if (path)
        *path = name;
    return library;
}

const char *code_variable(const char *name, size_t *bytes)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;
    const char *at = dlsym(code_libphp(NULL), name);
    bool is_known = at && dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol;
    *bytes = is_known ? symbol->st_size : 0;
    return at;
}

static int is_written_by(struct dl_phdr_info *object, size_t size, void *argument)
{
    (void)size;
    const char **at = argument;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const char *start = (const char *)object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W) && *at >= start && *at < start + part->p_memsz)
            return 1;
    }
    return 0;
}

bool code_is_data(const void *at)
{
    const char *byte = at;
    return at && dl_iterate_phdr(is_written_by, &byte) == 1;
}

void code_describe(const void *at, char *text, size_t text_bytes)
{
    Dl_info info;
    if (!dladdr(at, &info) || !info.dli_fname) {
        snprintf(text, text_bytes, "%p", at);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    size_t offset = (size_t)((const char *)at - (const char *)info.dli_fbase);
    int length = snprintf(text, text_bytes, "%s+0x%zx", slash ? slash + 1 : info.dli_fname, offset);
    if (info.dli_sname && length > 0 && (size_t)length < text_bytes)
        snprintf(text + length, text_bytes - (size_t)length, " (%s+0x%zx)", info.dli_sname,
                 (size_t)((const char *)at - (const char *)info.dli_saddr));
}
