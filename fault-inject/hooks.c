#include "fault-inject/hooks.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

#define E(...) ((const int[]){__VA_ARGS__, 0})
#define NO_SHORT SHORTNESS_NONE
#define SHORT_BYTES(n) SHORTNESS_BYTES
#define SHORT_IOV(iov, count) SHORTNESS_IOV
#define SHORT_MSG(message) SHORTNESS_MSG
#define NO_DROP DROP_NONE
#define DROP_SIZE DROP_RETURNS_SIZE
#define DROP_ZERO DROP_RETURNS_ZERO
#define NOTHING OBJECT_NONE
#define FD(fd) OBJECT_FD
#define PATH(path) OBJECT_PATH
#define AT(dirfd, path) OBJECT_AT
#define ADDRESS(address) OBJECT_ADDRESS
#define MUTEX(mutex) OBJECT_MUTEX
#define MAPPING(address, flags) OBJECT_MAPPING
#define NO_SIZE false
#define BYTES(n) true
#define IOV_BYTES(iov, count) true
#define MSG_BYTES(message) true

#define ROW(name_, family_, fail_, short_, drop_, object_, size_, errnos_, ret_, params_, args_)             \
    [HOOK_##name_] = {.name = #name_,                                                                        \
                      .family = FAMILY_##family_,                                                            \
                      .fail = FAIL_##fail_,                                                                  \
                      .shortness = short_,                                                                   \
                      .drop = drop_,                                                                         \
                      .object = object_,                                                                     \
                      .has_size = size_,                                                                     \
                      .errnos = errnos_,                                                                     \
                      .prototype = #ret_ " " #name_ #params_},

const struct hook_info hook_table[HOOK_COUNT] = {
#define HOOK ROW
#define HOOK_BY_HAND ROW
#include "fault-inject/hooks.def"
#undef HOOK
#undef HOOK_BY_HAND
};

const char *const hook_family_name[FAMILY_COUNT] = {"file",   "socket", "lock",   "memory",
                                                    "thread", "time",   "process"};

struct named_number {
    const char *name;
    int number;
};

/* Every number that occurs in hooks.def's errno columns; test_hooks.c checks that none is missing. */
#define N(name) {#name, name},
static const struct named_number errno_names[] = {
    N(E2BIG) N(EACCES) N(EADDRINUSE) N(EADDRNOTAVAIL) N(EAFNOSUPPORT) N(EAGAIN) N(EALREADY) N(EBADF) N(EBUSY)
        N(ECHILD) N(ECONNABORTED) N(ECONNREFUSED) N(ECONNRESET) N(EDEADLK) N(EDESTADDRREQ) N(EDOM) N(EDQUOT)
            N(EEXIST) N(EFAULT) N(EFBIG) N(EHOSTUNREACH) N(EINPROGRESS) N(EINTR) N(EINVAL) N(EIO) N(EISCONN)
                N(EISDIR) N(ELOOP) N(EMFILE) N(EMLINK) N(EMSGSIZE) N(ENAMETOOLONG) N(ENETDOWN) N(ENETUNREACH)
                    N(ENFILE) N(ENOBUFS) N(ENODEV) N(ENOENT) N(ENOEXEC) N(ENOLCK) N(ENOMEM) N(ENOPROTOOPT)
                        N(ENOSPC) N(ENOTCONN) N(ENOTDIR) N(ENOTEMPTY) N(ENOTRECOVERABLE) N(ENOTSOCK)
                            N(ENOTSUP) N(ENXIO) N(EOPNOTSUPP) N(EOVERFLOW) N(EOWNERDEAD) N(EPERM) N(EPIPE)
                                N(EPROTO) N(EPROTONOSUPPORT) N(EPROTOTYPE) N(EROFS) N(ESPIPE) N(ESRCH)
                                    N(ETIMEDOUT) N(ETXTBSY) N(EWOULDBLOCK) N(EXDEV)};

static const struct named_number eai_names[] = {N(EAI_AGAIN) N(EAI_BADFLAGS) N(EAI_FAIL) N(EAI_FAMILY) N(
    EAI_MEMORY) N(EAI_NODATA) N(EAI_NONAME) N(EAI_SERVICE) N(EAI_SOCKTYPE)};
#undef N

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

int hook_find(const char *name, size_t length)
{
    for (int i = 0; i < HOOK_COUNT; i++)
        if (strlen(hook_table[i].name) == length && memcmp(hook_table[i].name, name, length) == 0)
            return i;
    return -1;
}

bool hook_may_fail_with(int hook, int err)
{
    for (const int *legal = hook_table[hook].errnos; *legal != 0; legal++)
        if (*legal == err)
            return true;
    return false;
}

static const char *name_of(const struct named_number *table, size_t length, int number)
{
    for (size_t i = 0; i < length; i++)
        if (table[i].number == number)
            return table[i].name;
    return NULL;
}

const char *hook_errno_name(int hook, int err)
{
    if (hook >= 0 && hook_table[hook].fail == FAIL_EAI)
        return name_of(eai_names, LENGTH(eai_names), err);
    return name_of(errno_names, LENGTH(errno_names), err);
}

static int number_of(const struct named_number *table, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return table[i].number;
    return 0;
}

int hook_errno_number(const char *name, size_t length)
{
    int number = number_of(errno_names, LENGTH(errno_names), name, length);
    return number != 0 ? number : number_of(eai_names, LENGTH(eai_names), name, length);
}
