/* Every row of hooks.def, from the row itself: each errno that it lists is injected in the row's own way of
 * failing, and a call that is armed but not hit reports the kernel's errno unchanged. */
#include "fault-inject/hooks.h"
#include "fault-inject/test/support.h"

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void every_errno_has_a_name(void **state)
{
    (void)state;
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        for (const int *err = hook_table[hook].errnos; *err != 0; err++) {
            const char *name = hook_errno_name(hook, *err);
            if (name == NULL)
                fail_msg("%s: errno %d has no name in hooks.c", hook_table[hook].name, *err);
            assert_int_equal(hook_errno_number(name, strlen(name)), *err);
        }
}

static void every_row_is_found_by_its_name(void **state)
{
    (void)state;
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        assert_int_equal(hook_find(hook_table[hook].name, strlen(hook_table[hook].name)), hook);
    assert_int_equal(hook_find("reed", 4), -1);
}

static void every_row_is_exported_by_the_shim(void **state)
{
    (void)state;
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        Dl_info info;
        void *entry = dlsym(RTLD_DEFAULT, hook_table[hook].name);
        assert_non_null(entry);
        assert_int_not_equal(dladdr(entry, &info), 0);
        if (strstr(info.dli_fname, "libordeal.so") == NULL)
            fail_msg("%s is bound to %s, not to the shim", hook_table[hook].name, info.dli_fname);
    }
}

/* An injected failure never reaches the real call, so any arguments do. All rows take at most six words. */
typedef long any_call(long, long, long, long, long, long);

static void expect_failure(int hook, int err, long result, int errno_after)
{
    long wanted = -1;
    switch (hook_table[hook].fail) {
    case FAIL_NULL_PTR:
        wanted = 0;
        break;
    case FAIL_RETURNS_ERR:
    case FAIL_EAI:
        wanted = err;
        break;
    case FAIL_LEFT_OVER:
        wanted = 0; /* all of the zero seconds that were asked for */
        break;
    default:
        break;
    }
    if (hook_table[hook].fail == FAIL_RETURNS_ERR || hook_table[hook].fail == FAIL_EAI || wanted >= 0)
        result = (int)result; /* functions of type int leave the upper half undefined */
    else if (result == 0xffffffffL)
        result = -1;
    if (result != wanted)
        fail_msg("%s: injected %s, returned %ld instead of %ld", hook_table[hook].name,
                 hook_errno_name(hook, err), result, wanted);
    bool sets_errno = hook_table[hook].fail == FAIL_MINUS_ONE || hook_table[hook].fail == FAIL_NULL_PTR ||
                      hook_table[hook].fail == FAIL_MAP_FAIL;
    int wanted_errno = sets_errno ? err : 0;
    if (errno_after != wanted_errno)
        fail_msg("%s: injected %s, errno is %d instead of %d", hook_table[hook].name,
                 hook_errno_name(hook, err), errno_after, wanted_errno);
}

static void inject(int hook, int err)
{
    char rule[128];
    snprintf(rule, sizeof rule, "%s:nth=1:errno=%s", hook_table[hook].name, hook_errno_name(hook, err));
    any_call *call = (any_call *)dlsym(RTLD_DEFAULT, hook_table[hook].name);
    int index = arm(rule);
    errno = 0;
    long result = call(0, 0, 0, 0, 0, 0);
    int errno_after = errno;
    uint64_t fired = atomic_load(&page->rules[index].fired);
    disarm();
    assert_int_equal(fired, 1);
    expect_failure(hook, err, result, errno_after);
}

static void every_row_injects_every_errno(void **state)
{
    (void)state;
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        for (const int *err = hook_table[hook].errnos; *err != 0; err++)
            inject(hook, *err);
}

/* The rows on a descriptor, armed but never hit, must report what the kernel says of descriptor -1. */
static void errno_of_the_real_call_passes_through(void **state)
{
    (void)state;
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    assert_non_null(libc);
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        if (hook_table[hook].object != OBJECT_FD || hook_table[hook].fail != FAIL_MINUS_ONE)
            continue;
        char rule[128];
        snprintf(rule, sizeof rule, "%s:nth=1000000:errno=EBADF", hook_table[hook].name);
        if (!hook_may_fail_with(hook, EBADF))
            continue;
        any_call *real = (any_call *)dlsym(libc, hook_table[hook].name);
        any_call *hooked = (any_call *)dlsym(RTLD_DEFAULT, hook_table[hook].name);
        errno = 0;
        long wanted = real(-1, 0, 0, 0, 0, 0);
        int errno_wanted = errno;
        arm(rule);
        errno = 0;
        long result = hooked(-1, 0, 0, 0, 0, 0);
        int errno_after = errno;
        disarm();
        if ((int)result != (int)wanted || errno_after != errno_wanted)
            fail_msg("%s(-1): %ld errno %d, the real call says %ld errno %d", hook_table[hook].name, result,
                     errno_after, wanted, errno_wanted);
    }
}

static void a_call_that_succeeds_leaves_errno_alone(void **state)
{
    (void)state;
    int fd = temporary_file();
    arm("lseek:nth=1000000:errno=EBADF");
    errno = 77;
    long result = (long)lseek(fd, 0, SEEK_SET);
    int errno_after = errno;
    disarm();
    close(fd);
    assert_int_equal(result, 0);
    assert_int_equal(errno_after, 77);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_errno_has_a_name),
        cmocka_unit_test(every_row_is_found_by_its_name),
        cmocka_unit_test(every_row_is_exported_by_the_shim),
        cmocka_unit_test(every_row_injects_every_errno),
        cmocka_unit_test(errno_of_the_real_call_passes_through),
        cmocka_unit_test(a_call_that_succeeds_leaves_errno_alone),
    };
    return run_under_shim(argc, argv, tests, LENGTH(tests));
}
