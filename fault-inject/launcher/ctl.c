/* ordeal ctl: look at and change a running target's control page. */
#include "fault-inject/launcher/command.h"
#include "fault-inject/launcher/control_file.h"
#include "fault-inject/launcher/say.h"
#include "fault-inject/launcher/status.h"
#include "fault-inject/rule/names.h"
#include "fault-inject/rule/nearest.h"
#include "fault-inject/rule/number.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
    bool json;
    int64_t timeout_ns;
} options = {false, INT64_C(10000000000)};

static const struct option_spec specs[] = {{"json", 0, OPTION_FLAG, &options.json, NULL, "status: as JSON"},
                                           {"timeout", 0, OPTION_DURATION, &options.timeout_ns, "TIME",
                                            "wait-paused: give up after this time (default 10s)"},
                                           {.name = NULL}};

struct target {
    const char *path;
    int fd;
    struct control_page *page;
};

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int show_status(const struct target *target, int count, char **arguments)
{
    (void)arguments;
    if (count > 0)
        return refuse("ctl status takes no argument");
    if (!options.json) {
        status_print(target->page, stdout, wants_colour(stdout));
        return 0;
    }
    json_t *root = status_json(target->page);
    int failed = root == NULL || json_dumpf(root, stdout, JSON_COMPACT) != 0;
    json_decref(root);
    putchar('\n');
    return failed ? give_up("the status could not be written") : 0;
}

/* Two `ordeal ctl` at once must not undo each other's recomputation. */
static int set_armed(const struct target *target, int count, char **ids, uint32_t armed)
{
    uint32_t rules = atomic_load(&target->page->rule_count);
    uint64_t chosen[CONTROL_RULES_MAX];
    for (int i = 0; i < count; i++)
        if (i >= CONTROL_RULES_MAX || !number_count(span_of(ids[i]), &chosen[i]) || chosen[i] < 1 ||
            chosen[i] > rules)
            return refuse("there is no rule '%s'; this run has the rules 1 to %u", ids[i], rules);
    if (flock(target->fd, LOCK_EX) != 0)
        return give_up("%s: %s", target->path, strerror(errno));
    for (uint32_t i = 0; i < rules && count == 0; i++)
        atomic_store(&target->page->rules[i].armed, armed);
    for (int i = 0; i < count; i++)
        atomic_store(&target->page->rules[chosen[i] - 1].armed, armed);
    control_recompute_armed(target->page);
    flock(target->fd, LOCK_UN);
    return 0;
}

static int arm(const struct target *target, int count, char **arguments)
{
    return set_armed(target, count, arguments, 1);
}

static int disarm(const struct target *target, int count, char **arguments)
{
    return set_armed(target, count, arguments, 0);
}

static int unknown_name(const char *kind, const char *name, const char *near)
{
    if (near != NULL)
        return refuse("no rule of this run has a %s called '%s'; did you mean %s?", kind, name, near);
    return refuse("no rule of this run has a %s called '%s'", kind, name);
}

static int reach_mark(const struct target *target, int count, char **arguments)
{
    if (count != 1)
        return refuse("ctl mark wants one name");
    int index = mark_find(target->page, span_of(arguments[0]));
    if (index >= 0) {
        atomic_fetch_add(&target->page->marks[index].hits, 1);
        return 0;
    }
    struct nearest near = nearest_to(span_of(arguments[0]));
    for (uint32_t i = 0; i < atomic_load(&target->page->mark_count); i++)
        nearest_offer(&near, target->page->marks[i].name);
    return unknown_name("mark", arguments[0], near.best);
}

static struct control_rendezvous *find_point(const struct target *target, const char *name)
{
    int index = rendezvous_find(target->page, span_of(name));
    if (index >= 0)
        return &target->page->rendezvous[index];
    struct nearest near = nearest_to(span_of(name));
    for (uint32_t i = 0; i < atomic_load(&target->page->rendezvous_count); i++)
        nearest_offer(&near, target->page->rendezvous[i].name);
    unknown_name("rendezvous", name, near.best);
    return NULL;
}

static int wake(const struct target *target, int count, char **arguments)
{
    if (count != 1)
        return refuse("ctl wake wants one name");
    struct control_rendezvous *point = find_point(target, arguments[0]);
    if (point == NULL)
        return EXIT_USAGE;
    atomic_fetch_add(&point->tokens, 1);
    syscall(SYS_futex, &point->tokens, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    return 0;
}

/* The shim wakes `waiting` at each arrival. */
static int wait_paused(const struct target *target, int count, char **arguments)
{
    if (count != 1)
        return refuse("ctl wait-paused wants one name");
    struct control_rendezvous *point = find_point(target, arguments[0]);
    if (point == NULL)
        return EXIT_USAGE;
    int64_t deadline_ns = monotonic_ns() + options.timeout_ns;
    while (atomic_load(&point->waiting) == 0) {
        int64_t left_ns = deadline_ns - monotonic_ns();
        if (left_ns <= 0) {
            say("nobody has paused at %s", arguments[0]);
            return 1;
        }
        struct timespec left = {.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
        syscall(SYS_futex, &point->waiting, FUTEX_WAIT, 0, &left, NULL, 0);
    }
    return 0;
}

static const struct verb {
    const char *name;
    int (*run)(const struct target *target, int count, char **arguments);
} verbs[] = {{"status", show_status}, {"arm", arm},   {"disarm", disarm},
             {"mark", reach_mark},    {"wake", wake}, {"wait-paused", wait_paused}};

static const struct verb *find_verb(const char *name)
{
    struct nearest near = nearest_to(span_of(name));
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        nearest_offer(&near, verbs[i].name);
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    }
    if (near.best != NULL)
        say("ctl: unknown verb '%s'; did you mean %s?", name, near.best);
    else
        say("ctl: unknown verb '%s'; expected status, arm, disarm, mark, wake or wait-paused", name);
    return NULL;
}

static int run(int argc, char **argv)
{
    int count = options_parse_mixed("ctl", specs, argc, argv);
    if (count < 0)
        return EXIT_USAGE;
    if (count < 2)
        return refuse("ctl wants a control file and a verb: status, arm, disarm, mark, wake or wait-paused");
    const struct verb *verb = find_verb(argv[2]);
    if (verb == NULL)
        return EXIT_USAGE;
    struct target target = {.path = argv[1]};
    target.page = control_open(argv[1], &target.fd);
    if (target.page == NULL)
        return EXIT_LAUNCHER;
    int status = verb->run(&target, count - 2, argv + 3);
    close(target.fd);
    return status;
}

const struct command ctl_command = {
    .name = "ctl",
    .summary = "look at a run while it goes on, arm and disarm its rules, wake who is paused",
    .usage = "ctl FILE status|arm [ID…]|disarm [ID…]|mark NAME|wake NAME|wait-paused NAME [options]",
    .about = "FILE is what `ordeal run --ctl FILE` made. Nothing is called in the target: both sides share "
             "the page.\n"
             "  status            rules with counts, marks, rendezvous, processes; calls, with --trace\n"
             "  arm, disarm [ID…] these rules, or all of them\n"
             "  mark NAME         reach the mark that a rule waits for with after=NAME\n"
             "  wake NAME         let one pause=NAME go on, also one that comes later\n"
             "  wait-paused NAME  until somebody has paused there\n",
    .examples_and_exits =
        "Examples:\n"
        "  ordeal ctl t.ctl status --json\n"
        "  ordeal ctl t.ctl wait-paused locked --timeout 5s && ordeal ctl t.ctl wake locked\n"
        "\n"
        "Exit status: 0 done; 1 wait-paused: nobody came in time; 2 bad usage or an unknown name;\n"
        "  125 FILE cannot be used.\n",
    .options = specs,
    .run = run};
