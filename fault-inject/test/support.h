/* Tests of the shim from the inside: the test program runs itself under libordeal.so, shares the control page
 * with the shim in its own process, and arms rules as a test goes along.
 *
 *     static void second_flock_is_interrupted(void **state)
 *     {
 *         (void)state;
 *         arm("flock:nth=2:errno=EINTR");
 *         int first = flock(fd, LOCK_EX), second = flock(fd, LOCK_EX);
 *         disarm();                                       // before cmocka prints anything
 *         assert_int_equal(first, 0);
 *         assert_int_equal(second, -1);
 *     }
 *     int main(int argc, char **argv) { return run_under_shim(argc, argv, tests, LENGTH(tests)); }
 */
#ifndef ORDEAL_TEST_SUPPORT_H
#define ORDEAL_TEST_SUPPORT_H

#include "fault-inject/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The control page of this process, shared with its shim and with its children. */
extern struct control_page *page;

int run_under_shim(int argc, char **argv, const struct CMUnitTest *tests, size_t count);

/* Adds a rule and arms it; a rule that does not parse fails the test with the parser's message. Returns its
 * index. */
int arm(const char *rule_text);

/* Takes every rule away and clears marks and rendezvous. */
void disarm(void);

/* The file under the shim, for children that are started with another program. */
const char *shim_path(void);

/* Runs body(argument) in a forked child and returns its wait status. */
int in_child(int (*body)(void *), void *argument);

/* An open, empty, unlinked regular file; a connected pair; a pipe. The test closes them. */
int temporary_file(void);

#endif
