/* The words of the language besides the fields: other names of calls, families, signals. */
#ifndef ORDEAL_RULE_WORDS_H
#define ORDEAL_RULE_WORDS_H

#include "fault-inject/hooks.h"
#include "fault-inject/rule/nearest.h"

/* The row of a call or of another of its names (open64, __read_chk); -1: there is none. */
int call_find(struct span name);
const char *call_nearest(struct span name);

/* The i-th other name and its row; NULL behind the last. */
const char *call_alias(size_t i, int *hook);

int family_find(struct span name); /* without the '@' */
const char *family_nearest(struct span name);

/* The nearest name of an error number; of a legal one for row `hook` if that is not negative. */
const char *errno_nearest(struct span name, int hook);

/* "EINTR" or "EAI_AGAIN"; NULL if the number has no name. */
const char *errno_word(int err);

int signal_find(struct span name); /* "TERM", "SIGTERM" or "15"; 0: there is none such */
const char *signal_nearest(struct span name);
const char *signal_word(int number); /* "TERM"; NULL for one without a name */

#endif
