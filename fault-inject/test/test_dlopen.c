/* Extensions loaded with RTLD_DEEPBIND are hooked, and dlopen still looks where its caller wants it to. */
#include "fault-inject/test/support.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void *open_beside_shim(const char *name, int mode)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s", shim_path());
    snprintf(strrchr(path, '/'), 64, "/../test/fault-inject/%s", name);
    void *library = dlopen(path, mode);
    if (library == NULL)
        fail_msg("%s", dlerror());
    return library;
}

static int flock_of(void *plugin, int fd)
{
    int (*plugin_flock)(int) = (int (*)(int))dlsym(plugin, "plugin_flock");
    assert_non_null(plugin_flock);
    return plugin_flock(fd);
}

static void a_deepbound_plugin_is_hooked(void **state)
{
    (void)state;
    int fd = temporary_file();
    void *plugin = open_beside_shim("dlopen_plugin.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    arm("flock:errno=ENOLCK");
    int result = flock_of(plugin, fd), err = errno;
    disarm();
    dlclose(plugin);
    close(fd);
    assert_int_equal(result, -1);
    assert_int_equal(err, ENOLCK);
}

/* The plugin exports its function, so both halves of caller= can be told apart. */
static void a_caller_is_a_library_and_a_function(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        int from_plugin, from_here;
    } cases[] = {
        {"flock:caller=dlopen_plugin.so:plugin_flock:errno=ENOLCK", -1, 0},
        {"flock:caller=dlopen_plugin.so:*:errno=ENOLCK", -1, 0},
        {"flock:caller=*:plugin_fl*:errno=ENOLCK", -1, 0},
        {"flock:caller=dlopen_plugin.so:another:errno=ENOLCK", 0, 0},
        {"flock:caller=another.so:plugin_flock:errno=ENOLCK", 0, 0},
        {"flock:caller=test_dlopen:*:errno=ENOLCK", 0, -1},
    };
    int fd = temporary_file();
    void *plugin = open_beside_shim("dlopen_plugin.so", RTLD_NOW);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        arm(cases[i].rule);
        int from_plugin = flock_of(plugin, fd), from_here = flock(fd, LOCK_SH);
        disarm();
        if (from_plugin != cases[i].from_plugin || from_here != cases[i].from_here)
            fail_msg("%s: %d from the plugin, %d from here", cases[i].rule, from_plugin, from_here);
    }
    dlclose(plugin);
    close(fd);
}

static void the_callers_runpath_counts(void **state)
{
    (void)state;
    void *loader = open_beside_shim("dlopen_loader.so", RTLD_NOW);
    void *(*loader_open)(int) = (void *(*)(int))dlsym(loader, "loader_open");
    void *plugin = loader_open(RTLD_NOW);
    if (plugin == NULL)
        fail_msg("%s", dlerror());
    dlclose(plugin);
    dlclose(loader);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deepbound_plugin_is_hooked),
        cmocka_unit_test(a_caller_is_a_library_and_a_function),
        cmocka_unit_test(the_callers_runpath_counts),
    };
    return run_under_shim(argc, argv, tests, LENGTH(tests));
}
