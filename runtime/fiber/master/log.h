/* The error log, line by line as php-fpm has it:
 *
 *     [01-Dec-2026 10:00:00] NOTICE: ready to handle connections
 *
 * It is a file, or standard error. Lines below log_level are left out; a line has at most LOG_LINE_BYTES_MAX,
 * control characters in it become '?', and it is written in one write(2), so lines of several processes do
 * not mix. There is one log in a process. */
#ifndef ORDEAL_FIBER_LOG_H
#define ORDEAL_FIBER_LOG_H

#include "runtime/fiber/config/config.h"

enum { LOG_LINE_BYTES_MAX = 1200 };

/* Until it is opened, lines go to standard error. `path` NULL, /dev/stderr or /proc/self/fd/2: they stay
 * there. `echo`: they go to standard error as well. False: errno says why; nothing has changed. */
bool log_open(const char *path, enum log_level level, bool echo);

/* After a rotation: the same path again. */
bool log_reopen(void);

/* No more lines on standard error: it is about to be closed. */
void log_leave_terminal(void);

/* Where lines go; of a worker it is none of its business. */
int log_fd(void);

__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

/* "NOTICE: text" of somebody else: the level is taken from it, NOTICE if it has none. Returns the text. */
const char *log_level_of(const char *line, enum log_level *level);

#endif
