#include "fault-inject/launcher/trial.h"

#include "fault-inject/launcher/prepare.h"
#include "fault-inject/launcher/say.h"
#include "fault-inject/rule/words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int enter_rule(struct control_page *page, struct trial *trial, bool armed)
{
    static struct rule_options options;
    memset(&options, 0, sizeof options);
    options.rules.count = 1;
    options.rules.items[0].letter = 'f';
    options.rules.items[0].value = trial->rule;
    options.disarmed = !armed;
    options.seed = (struct option_number){true, page->seed};
    return prepare_rules(&options, page, NULL);
}

static void read_first_line(struct trial *trial)
{
    ssize_t length = pread(trial->stderr_fd, trial->first_line, sizeof trial->first_line - 1, 0);
    trial->first_line[length > 0 ? length : 0] = '\0';
    trial->first_line[strcspn(trial->first_line, "\r\n")] = '\0';
    for (char *c = trial->first_line; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

int trial_run(const struct trial_setup *setup, struct trial *trial, bool armed)
{
    struct launch launch;
    launch_begin(&launch, setup->argv);
    trial->stdout_fd = memfd_create("stdout", MFD_CLOEXEC);
    trial->stderr_fd = memfd_create("stderr", MFD_CLOEXEC);
    launch.job.stdin_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    launch.job.stdout_fd = trial->stdout_fd;
    launch.job.stderr_fd = trial->stderr_fd;
    launch.job.timeout_ns = setup->timeout_ns;
    launch.force = setup->force;
    launch.draft = control_draft();
    int status = 0;
    if (trial->stdout_fd < 0 || trial->stderr_fd < 0 || launch.job.stdin_fd < 0 || launch.draft == NULL)
        status = give_up("no memory or descriptors for a trial: %s", strerror(errno));
    if (status == 0) {
        launch.draft->seed = setup->seed;
        status = enter_rule(launch.draft, trial, armed);
    }
    if (status == 0)
        status = launch_prepare(&launch);
    if (status == 0)
        status = launch_run(&launch);
    if (status == 0) {
        trial->fired = atomic_load(&launch.control.page->rules[0].fired);
        trial->result = launch.result;
        read_first_line(trial);
    }
    if (launch.job.stdin_fd >= 0)
        close(launch.job.stdin_fd);
    launch_end(&launch);
    return status;
}

void trial_close(struct trial *trial)
{
    if (trial->stdout_fd >= 0)
        close(trial->stdout_fd);
    if (trial->stderr_fd >= 0)
        close(trial->stderr_fd);
    trial->stdout_fd = trial->stderr_fd = -1;
}

static off_t size_of(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_size : 0;
}

bool trial_same_output(const struct trial *a, const struct trial *b)
{
    off_t size = size_of(a->stdout_fd);
    if (size != size_of(b->stdout_fd))
        return false;
    char x[4096], y[4096];
    for (off_t at = 0; at < size;) {
        ssize_t length = pread(a->stdout_fd, x, sizeof x, at);
        if (length <= 0 || pread(b->stdout_fd, y, (size_t)length, at) != length ||
            memcmp(x, y, (size_t)length) != 0)
            return false;
        at += length;
    }
    return true;
}

/* The check sees the trial through the environment; what was written stays readable while we live. */
static void describe_to_check(const struct trial *trial)
{
    char text[64];
    snprintf(text, sizeof text, "%d", supervise_exit_status(&trial->result));
    setenv("ORDEAL_STATUS", trial->result.timed_out ? "timeout" : text, 1);
    snprintf(text, sizeof text, "%" PRIu64, trial->n);
    setenv("ORDEAL_N", text, 1);
    setenv("ORDEAL_RULE", trial->rule, 1);
    snprintf(text, sizeof text, "/proc/%d/fd/%d", (int)getpid(), trial->stdout_fd);
    setenv("ORDEAL_STDOUT", text, 1);
    snprintf(text, sizeof text, "/proc/%d/fd/%d", (int)getpid(), trial->stderr_fd);
    setenv("ORDEAL_STDERR", text, 1);
}

static int run_check(const struct trial_setup *setup, struct trial *trial)
{
    char *const argv[] = {"sh", "-c", (char *)(uintptr_t)setup->check, NULL};
    struct supervise_job job = {.path = "/bin/sh",
                                .argv = argv,
                                .timeout_ns = setup->timeout_ns,
                                .unnamed_fd = -1,
                                .stdin_fd = -1,
                                .stdout_fd = STDERR_FILENO,
                                .stderr_fd = -1};
    struct supervise_result result;
    char *preload = getenv("LD_PRELOAD") != NULL ? strdup(getenv("LD_PRELOAD")) : NULL;
    describe_to_check(trial);
    unsetenv("LD_PRELOAD"); /* the check is not under trial */
    bool done = supervise(&job, &result);
    if (preload != NULL)
        setenv("LD_PRELOAD", preload, 1);
    free(preload);
    if (!done)
        return EXIT_LAUNCHER;
    trial->check_status = supervise_exit_status(&result);
    trial->verdict = trial->check_status == 0 && !result.timed_out ? TRIAL_FINE : TRIAL_CHECK;
    if (result.stop_signal != 0)
        trial->result.stop_signal = result.stop_signal;
    return 0;
}

static enum verdict compare(const struct trial_setup *setup, const struct trial *trial,
                            const struct trial *baseline)
{
    if (trial->result.timed_out)
        return TRIAL_HANG;
    if (!trial->result.ended || WIFSIGNALED(trial->result.wait_status))
        return TRIAL_CRASH;
    if (trial->result.leftovers.count > baseline->result.leftovers.count)
        return TRIAL_LEFTOVERS;
    int status = supervise_exit_status(&trial->result);
    if (status == supervise_exit_status(&baseline->result))
        return setup->compare_output && !trial_same_output(trial, baseline) ? TRIAL_WRONG_OUTPUT : TRIAL_FINE;
    if (status == 0)
        return TRIAL_FALSE_SUCCESS;
    return size_of(trial->stderr_fd) == 0 ? TRIAL_SILENT_FAILURE : TRIAL_FINE;
}

int trial_judge(const struct trial_setup *setup, struct trial *trial, const struct trial *baseline)
{
    if (setup->check != NULL)
        return run_check(setup, trial);
    trial->verdict = compare(setup, trial, baseline);
    return 0;
}

void trial_describe(const struct trial *trial, char *out, size_t size)
{
    static const char *const texts[] = {
        [TRIAL_FINE] = "fine",
        [TRIAL_CRASH] = "crash",
        [TRIAL_HANG] = "did not end in time",
        [TRIAL_WRONG_OUTPUT] = "silent wrong success: the exit status of a run without fault, another output",
        [TRIAL_SILENT_FAILURE] = "silent failure: nothing on standard error",
        [TRIAL_FALSE_SUCCESS] = "false success: exit status 0 where a run without fault has another",
        [TRIAL_LEFTOVERS] = "left processes behind",
        [TRIAL_CHECK] = "the check said no",
    };
    int status = supervise_exit_status(&trial->result);
    if (trial->verdict == TRIAL_CRASH) {
        int number = trial->result.ended ? WTERMSIG(trial->result.wait_status) : SIGKILL;
        const char *name = signal_word(number);
        snprintf(out, size, "killed by signal %s%s (%d)", name != NULL ? "SIG" : "", name != NULL ? name : "",
                 number);
    } else if (trial->verdict == TRIAL_CHECK) {
        snprintf(out, size, "%s (its status %d, that of the command %d)", texts[TRIAL_CHECK],
                 trial->check_status, status);
    } else {
        snprintf(out, size, "%s (exit status %d)", texts[trial->verdict], status);
    }
}
