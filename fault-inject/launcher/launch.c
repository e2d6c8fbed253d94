#include "fault-inject/launcher/launch.h"

#include "fault-inject/launcher/disk.h"
#include "fault-inject/launcher/preload.h"
#include "fault-inject/launcher/program.h"
#include "fault-inject/launcher/say.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void launch_begin(struct launch *launch, char *const *argv)
{
    memset(launch, 0, sizeof *launch);
    launch->argv = argv;
    launch->trace_rings = TRACE_RINGS_MAX;
    launch->control.unnamed_fd = launch->job.unnamed_fd = -1;
    launch->job.stdin_fd = launch->job.stdout_fd = launch->job.stderr_fd = -1;
}

static int find_program(struct launch *launch)
{
    static struct program program;
    int status = program_find(launch->argv[0], &program);
    if (status != 0)
        return status;
    if (program.unreachable[0] != '\0' && !launch->force) {
        say("%s, so no library can be preloaded into it and no fault injected", program.unreachable);
        say("--force starts it nevertheless");
        return EXIT_NOT_EXECUTABLE;
    }
    launch->job.path = program.path;
    launch->job.argv = launch->argv;
    return 0;
}

static int make_trace(struct launch *launch)
{
    if (launch->trace_path == NULL)
        return 0;
    struct control_page *page = launch->draft;
    if (!absolute_path(launch->trace_path, page->trace_path, sizeof page->trace_path))
        return EXIT_LAUNCHER;
    page->trace_mode = launch->trace_mode;
    struct trace_plan plan = {.path = page->trace_path,
                              .rings = launch->trace_rings,
                              .mode = launch->trace_mode,
                              .seed = page->seed,
                              .only = page->only,
                              .argv = launch->argv};
    return trace_create(&plan) ? 0 : EXIT_LAUNCHER;
}

static void set_flags(struct launch *launch)
{
    struct control_page *page = launch->draft;
    control_recompute_armed(page);
    if (launch->trace_path == NULL)
        return;
    control_add_flags(page, ARMED_COUNT);
    for (int hook = 0; hook < HOOK_COUNT && launch->trace_mode == TRACE_ALL; hook++)
        atomic_fetch_or(&page->armed[hook], ARMED_TRACE | ARMED_COUNT);
}

int launch_prepare(struct launch *launch)
{
    char library[PATH_MAX];
    int status = find_program(launch);
    if (status != 0)
        return status;
    if (!preload_find(library, sizeof library))
        return EXIT_LAUNCHER;
    if (launch->scratch != NULL && !scratch_prepare(&launch->job.scratch, launch->scratch))
        return EXIT_USAGE;
    status = make_trace(launch);
    if (status != 0)
        return status;
    set_flags(launch);
    launch->draft->launcher_pid = (int32_t)getpid();
    if (!control_create(&launch->control, launch->draft, launch->control_path)) {
        if (launch->trace_path != NULL)
            unlink(launch->draft->trace_path);
        return EXIT_LAUNCHER;
    }
    launch->job.unnamed_fd = launch->control.unnamed_fd;
    launch->job.remove_file = launch->control.is_temporary ? launch->control.path : NULL;
    if (!preload_set(library) || setenv(CONTROL_ENV, launch->control.path, 1) != 0)
        return give_up("out of memory");
    return 0;
}

int launch_run(struct launch *launch)
{
    return supervise(&launch->job, &launch->result) ? 0 : EXIT_LAUNCHER;
}

void launch_end(struct launch *launch)
{
    control_close(&launch->control);
    control_discard(launch->draft);
    launch->draft = NULL;
}
