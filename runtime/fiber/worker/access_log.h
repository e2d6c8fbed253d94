/* The access log, with php-fpm's format letters:
 *
 *     access.format = "%R - %u %t \"%m %r%Q%q\" %s"
 *
 *     %R peer address    %u user     %t %T time of start, of end (%{%d/%b/%Y}t)   %m method      %r request
 * URI %Q "?" or nothing  %q query    %s status       %f script      %l body bytes %d duration (%{milli}d) %M
 * memory (%{kilo}M)           %n pool         %p pid         %P parent     %e %{NAME}e parameter %o %{Name}o
 * header of the answer               %C CPU: not known for one of many requests in a thread: "-"
 *
 * The format is compiled once; a mistake is refused when the worker starts. */
#ifndef ORDEAL_FIBER_WORKER_ACCESS_LOG_H
#define ORDEAL_FIBER_WORKER_ACCESS_LOG_H

#include "runtime/fiber/sapi/request.h"

struct access_log;

/* NULL: `problem` says why. */
struct access_log *access_log_open(const char *path, const char *format, const char **problem);
bool access_log_reopen(struct access_log *log);

/* The line for a request whose script has just ended, with its newline; NULL when there is no memory. */
char *access_log_line(const struct access_log *log, const char *pool, const struct request *request);

void access_log_write(const struct access_log *log, const char *line);

#endif
