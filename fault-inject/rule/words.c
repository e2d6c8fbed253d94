#include "fault-inject/rule/words.h"

#include "fault-inject/rule/number.h"

#include <signal.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Entry points of libc that reach the same row. */
static const struct {
    const char *name;
    int hook;
} aliases[] = {
    {"open64", HOOK_open},
    {"__open_2", HOOK_open},
    {"__open64_2", HOOK_open},
    {"openat64", HOOK_openat},
    {"__openat_2", HOOK_openat},
    {"__openat64_2", HOOK_openat},
    {"creat64", HOOK_creat},
    {"__read_chk", HOOK_read},
    {"pread64", HOOK_pread},
    {"__pread_chk", HOOK_pread},
    {"__pread64_chk", HOOK_pread},
    {"preadv64", HOOK_preadv},
    {"pwrite64", HOOK_pwrite},
    {"pwritev64", HOOK_pwritev},
    {"sendfile64", HOOK_sendfile},
    {"lseek64", HOOK_lseek},
    {"ftruncate64", HOOK_ftruncate},
    {"truncate64", HOOK_truncate},
    {"posix_fallocate64", HOOK_posix_fallocate},
    {"__readlink_chk", HOOK_readlink},
    {"stat64", HOOK_stat},
    {"lstat64", HOOK_lstat},
    {"fstat64", HOOK_fstat},
    {"fstatat64", HOOK_fstatat},
    {"newfstatat", HOOK_fstatat},
    {"__recv_chk", HOOK_recv},
    {"__recvfrom_chk", HOOK_recvfrom},
    {"__poll_chk", HOOK_poll},
    {"__ppoll_chk", HOOK_ppoll},
    {"fcntl64", HOOK_fcntl},
    {"lockf64", HOOK_lockf},
    {"mmap64", HOOK_mmap},
};

int call_find(struct span name)
{
    int hook = hook_find(name.at, name.length);
    for (size_t i = 0; hook < 0 && i < LENGTH(aliases); i++)
        if (span_is(name, aliases[i].name))
            hook = aliases[i].hook;
    return hook;
}

const char *call_alias(size_t i, int *hook)
{
    if (i >= LENGTH(aliases))
        return NULL;
    *hook = aliases[i].hook;
    return aliases[i].name;
}

const char *call_nearest(struct span name)
{
    struct nearest near = nearest_to(name);
    for (int i = 0; i < HOOK_COUNT; i++)
        nearest_offer(&near, hook_table[i].name);
    for (size_t i = 0; i < LENGTH(aliases); i++)
        nearest_offer(&near, aliases[i].name);
    return near.best;
}

int family_find(struct span name)
{
    for (int i = 0; i < FAMILY_COUNT; i++)
        if (span_is(name, hook_family_name[i]))
            return i;
    return -1;
}

const char *family_nearest(struct span name)
{
    struct nearest near = nearest_to(name);
    for (int i = 0; i < FAMILY_COUNT; i++)
        nearest_offer(&near, hook_family_name[i]);
    return near.best;
}

const char *errno_nearest(struct span name, int hook)
{
    struct nearest near = nearest_to(name);
    for (int i = 0; i < HOOK_COUNT; i++)
        if (hook < 0 || hook == i)
            for (const int *err = hook_table[i].errnos; *err != 0; err++)
                nearest_offer(&near, hook_errno_name(i, *err));
    return near.best;
}

const char *errno_word(int err)
{
    return hook_errno_name(err < 0 ? HOOK_getaddrinfo : -1, err);
}

#define S(name) {#name, SIG##name},
static const struct {
    const char *name;
    int number;
} signals[] = {S(HUP) S(INT) S(QUIT) S(ILL) S(TRAP) S(ABRT) S(BUS) S(FPE) S(KILL) S(USR1) S(SEGV) S(USR2)
                   S(PIPE) S(ALRM) S(TERM) S(CHLD) S(CONT) S(STOP) S(TSTP) S(TTIN) S(TTOU) S(URG) S(XCPU)
                       S(XFSZ) S(VTALRM) S(PROF) S(WINCH) S(IO) S(PWR) S(SYS)};
#undef S

static struct span without_sig(struct span name)
{
    return name.length > 3 && memcmp(name.at, "SIG", 3) == 0 ? span_from(name, 3) : name;
}

int signal_find(struct span name)
{
    uint64_t number;
    if (number_count(name, &number))
        return number >= 1 && number <= (uint64_t)SIGRTMAX ? (int)number : 0;
    for (size_t i = 0; i < LENGTH(signals); i++)
        if (span_is(without_sig(name), signals[i].name))
            return signals[i].number;
    return 0;
}

const char *signal_nearest(struct span name)
{
    struct nearest near = nearest_to(without_sig(name));
    for (size_t i = 0; i < LENGTH(signals); i++)
        nearest_offer(&near, signals[i].name);
    return near.best;
}

const char *signal_word(int number)
{
    for (size_t i = 0; i < LENGTH(signals); i++)
        if (signals[i].number == number)
            return signals[i].name;
    return NULL;
}
