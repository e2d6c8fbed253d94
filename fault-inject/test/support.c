#include "fault-inject/test/support.h"

#include "fault-inject/rule/rule.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct control_page *page;

static void die(const char *what)
{
    fprintf(stderr, "test support: %s: %s\n", what, strerror(errno));
    exit(99);
}

/* build/test/fault-inject/test_x -> build/lib/libordeal.so */
const char *shim_path(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        die("/proc/self/exe");
    path[length] = '\0';
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            die("the test program is not in build/test/fault-inject");
        *slash = '\0';
    }
    strncat(path, "/lib/libordeal.so", sizeof path - strlen(path) - 1);
    return path;
}

static struct control_page *map_page(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        die(path);
    void *mapped = mmap(NULL, sizeof(struct control_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        die("mmap of the control page");
    close(fd);
    return mapped;
}

static void create_page(char *path)
{
    int fd = mkstemp(path);
    if (fd < 0 || ftruncate(fd, sizeof(struct control_page)) != 0)
        die(path);
    close(fd);
    struct control_page *fresh = map_page(path);
    fresh->magic = CONTROL_MAGIC;
    fresh->version = CONTROL_VERSION;
    fresh->seed = 42;
}

/* The first stage stays behind to take the control file away, however the tests end. */
static int supervise(char **argv)
{
    char path[] = "/tmp/ordeal-test-XXXXXX";
    create_page(path);
    setenv(CONTROL_ENV, path, 1);
    setenv("LD_PRELOAD", shim_path(), 1);
    pid_t child = fork();
    if (child == 0) {
        execv("/proc/self/exe", argv);
        die("exec");
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    unlink(path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

int run_under_shim(int argc, char **argv, const struct CMUnitTest *tests, size_t count)
{
    (void)argc;
    const char *path = getenv(CONTROL_ENV);
    if (path == NULL)
        return supervise(argv);
    page = map_page(path);
    if (atomic_load(&page->process_count) == 0) {
        fprintf(stderr, "test support: the shim did not load (%s)\n", getenv("LD_PRELOAD"));
        return 97;
    }
    return _cmocka_run_group_tests(argv[0], tests, count, NULL, NULL);
}

int arm(const char *rule_text)
{
    uint32_t index = atomic_load(&page->rule_count);
    struct rule *rule = &page->rules[index];
    struct diagnostics errors = {0};
    struct source_line line = {"test", 1, true, span_of(rule_text)};
    if (!rule_parse(&line, line.text, page, rule, NULL, &errors)) {
        diagnostics_print(&errors, stderr, false);
        fail_msg("the rule does not parse: %s", rule_text);
    }
    rule->active = 1;
    atomic_store(&rule->armed, 1);
    atomic_store(&rule->matched, 0);
    atomic_store(&rule->fired, 0);
    atomic_store(&rule->pause_timeouts, 0);
    atomic_store(&page->rule_count, index + 1);
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        if (hook_set_has(rule->hooks, hook))
            atomic_store(&page->armed[hook], ARMED_RULES | ARMED_COUNT);
    return (int)index;
}

void disarm(void)
{
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        atomic_store(&page->armed[hook], 0);
    atomic_store(&page->rule_count, 0);
    memset(page->rules, 0, sizeof page->rules);
    memset(page->marks, 0, sizeof page->marks);
    memset(page->rendezvous, 0, sizeof page->rendezvous);
    atomic_store(&page->mark_count, 0);
    atomic_store(&page->rendezvous_count, 0);
}

int in_child(int (*body)(void *), void *argument)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(body(argument));
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

int temporary_file(void)
{
    char path[] = "/tmp/ordeal-file-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    return fd;
}
