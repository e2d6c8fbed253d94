/* What a worker writes, line by line into the log. A worker has three pipes to its master:
 *
 *     stdout, stderr    [pool www] child 12 said into stderr: "text"      with catch_workers_output = yes
 *     log               [pool www] text                                   of settings.log_fd; "WARNING: text"
 *
 * A longer line is logged in pieces of STREAM_LINE_BYTES. */
#ifndef ORDEAL_FIBER_STREAM_H
#define ORDEAL_FIBER_STREAM_H

#include <stdbool.h>
#include <sys/types.h>

enum { STREAM_LINE_BYTES = 1024 };

enum stream_kind { STREAM_STDOUT, STREAM_STDERR, STREAM_LOG, STREAMS };

struct stream {
    int fd; /* to read from; -1: there is none */
    unsigned count;
    char line[STREAM_LINE_BYTES + 1];
};

/* Logs what has come. `all`: until there is no more, and the last line even if it is not whole; otherwise a
 * bounded part. Closes the pipe at its end. */
void stream_read(struct stream *stream, enum stream_kind kind, const char *pool, pid_t pid, bool all);

void stream_close(struct stream *stream);

#endif
