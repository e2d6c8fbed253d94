/* The access log, with php-fpm's format letters:
 *
 *     access.format = "%R - %u %t \"%m %r%Q%q\" %s"
 *
 *     %R  address of the peer     %u  user                  %m  method
 *     %r  request URI             %Q  "?" or nothing        %q  query
 *     %s  status                  %f  script                %l  bytes of the body
 *     %t  begin, %{%H:%M}t        %T  end, the same         %d  duration, %{milli}d
 *     %M  memory, %{kilo}M        %n  pool                  %p  pid
 *     %P  parent's pid            %e  parameter, %{NAME}e   %o  header of the answer, %{Name}o
 *     %C  CPU: not known of one of many requests in a thread, "-"
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
