#include "fault-inject/launcher/report.h"

#include "fault-inject/launcher/say.h"
#include "fault-inject/launcher/status.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void report_leftovers(const struct supervise_result *result)
{
    if (result->leftovers.count == 0)
        return;
    say("%zu process%s still alive after the command had ended, and killed:", result->leftovers.count,
        result->leftovers.count == 1 ? " was" : "es were");
    for (size_t i = 0; i < result->leftovers.count && i < LEFTOVERS_MAX; i++)
        say("  pid %d  %s", (int)result->leftovers.items[i].pid, result->leftovers.items[i].name);
}

/* The same command line, with the seed if it was not there. */
static void print_replay(const struct launch *launch, char *const *ordeal_argv, bool seed_was_given)
{
    fputs("  again: ", stderr);
    if (launch->trace_path != NULL) {
        fputs("ordeal replay ", stderr);
        print_quoted(stderr, launch->trace_path);
        fputs(" -- ", stderr);
        print_command(stderr, launch->argv);
    } else {
        fputs("ordeal run ", stderr);
        if (!seed_was_given)
            fprintf(stderr, "--seed %" PRIu64 " ", launch->control.page->seed);
        print_command(stderr, ordeal_argv + 1);
    }
    fputc('\n', stderr);
}

void report_block(const struct launch *launch, char *const *ordeal_argv, bool seed_was_given)
{
    const struct control_page *page = launch->control.page;
    uint32_t count = atomic_load(&page->rule_count);
    say("%" PRIu32 " rule%s, seed %" PRIu64 ", %" PRIu64 " fault%s injected", count, count == 1 ? "" : "s",
        page->seed, atomic_load(&page->injected), atomic_load(&page->injected) == 1 ? "" : "s");
    status_print_rules(page, stderr, wants_colour(stderr));
    if (atomic_load(&page->process_count) == 0)
        say("the library reached no process%s%s", page->only[0] != '\0' ? " called " : "", page->only);
    if (atomic_load(&page->refused) > 0)
        say("%" PRIu32 " processes had a library of another version and were left alone",
            atomic_load(&page->refused));
    print_replay(launch, ordeal_argv, seed_was_given);
}

static json_t *exit_json(const struct supervise_result *result)
{
    if (result->ended && WIFSIGNALED(result->wait_status))
        return json_pack("{s:i}", "signal", WTERMSIG(result->wait_status));
    return json_pack("{s:i}", "code", supervise_exit_status(result));
}

static json_t *leftovers_json(const struct supervise_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->leftovers.count && i < LEFTOVERS_MAX; i++) {
        json_t *name = json_string(result->leftovers.items[i].name);
        json_array_append_new(list, json_pack("{s:i, s:o}", "pid", (int)result->leftovers.items[i].pid,
                                              "name", name != NULL ? name : json_string("?")));
    }
    return list;
}

bool report_write(const struct launch *launch, const char *path)
{
    const struct control_page *page = launch->control.page;
    json_t *root =
        json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:I}", "version", 1, "exit", exit_json(&launch->result),
                  "seed", json_integer((json_int_t)page->seed), "rules", status_rules(page), "unmatched",
                  status_unmatched(page), "leftovers", leftovers_json(&launch->result), "injected",
                  (json_int_t)atomic_load(&page->injected));
    char building[PATH_MAX + 16];
    snprintf(building, sizeof building, "%s.%d", path, (int)getpid());
    bool written =
        root != NULL && json_dump_file(root, building, JSON_INDENT(1)) == 0 && rename(building, path) == 0;
    if (!written) {
        say("the report %s could not be written: %s", path, strerror(errno));
        unlink(building);
    }
    json_decref(root);
    return written;
}
