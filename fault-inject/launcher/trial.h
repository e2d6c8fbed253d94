/* One run of a sweep: a command with one fault, its output caught, and what is to be thought of it.
 *
 * Without a check of the user's own, a trial breaks when it is worse than an honest failure. Measured against
 * a run without any fault (the baseline), it may either go on as if nothing had happened (the same exit
 * status, the same standard output) or fail and say so (another exit status that is not 0, and something on
 * standard error).
 */
#ifndef ORDEAL_LAUNCHER_TRIAL_H
#define ORDEAL_LAUNCHER_TRIAL_H

#include "fault-inject/launcher/launch.h"

enum verdict {
    TRIAL_FINE,
    TRIAL_CRASH,          /* killed by a signal */
    TRIAL_HANG,           /* not over within the timeout */
    TRIAL_WRONG_OUTPUT,   /* the baseline's exit status, another standard output */
    TRIAL_SILENT_FAILURE, /* failed, without a word on standard error */
    TRIAL_FALSE_SUCCESS,  /* exit status 0, and the baseline's is another */
    TRIAL_LEFTOVERS,      /* left more processes behind than the baseline */
    TRIAL_CHECK           /* the user's check said no */
};

struct trial_setup {
    char *const *argv;
    uint64_t seed;
    int64_t timeout_ns;
    bool force;
    const char *check;   /* shell command, or NULL */
    bool compare_output; /* standard output is the same in runs without a fault */
};

struct trial {
    char rule[CONTROL_RULE_TEXT_MAX];
    uint64_t n;
    uint64_t fired;
    struct supervise_result result;
    int stdout_fd, stderr_fd; /* what it wrote; -1: closed */
    enum verdict verdict;
    int check_status;
    char first_line[200]; /* of standard error */
};

/* Runs the command with the rule armed or not; 0 or an exit status, having said why. Always trial_close() it.
 */
int trial_run(const struct trial_setup *setup, struct trial *trial, bool armed);
void trial_close(struct trial *trial);

bool trial_same_output(const struct trial *a, const struct trial *b);

/* Sets trial->verdict. */
int trial_judge(const struct trial_setup *setup, struct trial *trial, const struct trial *baseline);

/* "killed by SIGSEGV" */
void trial_describe(const struct trial *trial, char *out, size_t size);

#endif
