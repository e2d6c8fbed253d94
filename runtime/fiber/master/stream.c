#include "runtime/fiber/master/stream.h"

#include "runtime/fiber/master/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Of one reading, so that a worker that never stops talking does not keep the master. */
enum { READS_MAX = 16, READS_MAX_AT_THE_END = 1024 };

static const char *const kind_names[] = {[STREAM_STDOUT] = "stdout", [STREAM_STDERR] = "stderr"};

static void log_one(struct stream *stream, enum stream_kind kind, const char *pool, pid_t pid)
{
    enum log_level level;
    stream->line[stream->count] = '\0';
    stream->count = 0;
    if (kind == STREAM_LOG) {
        const char *text = log_level_of(stream->line, &level);
        log_line(level, "[pool %s] %s", pool, text);
    } else {
        log_line(LOG_LEVEL_WARNING, "[pool %s] child %d said into %s: \"%s\"", pool, (int)pid,
                 kind_names[kind], stream->line);
    }
}

static void take(struct stream *stream, enum stream_kind kind, const char *pool, pid_t pid, const char *bytes,
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n')
            stream->line[stream->count++] = bytes[i];
        if (bytes[i] == '\n' || stream->count == STREAM_LINE_BYTES)
            log_one(stream, kind, pool, pid);
    }
}

void stream_read(struct stream *stream, enum stream_kind kind, const char *pool, pid_t pid, bool all)
{
    char bytes[4096];
    ssize_t count = 1;
    for (int reads = all ? READS_MAX_AT_THE_END : READS_MAX; reads > 0 && stream->fd >= 0; reads--) {
        count = read(stream->fd, bytes, sizeof bytes);
        if (count > 0)
            take(stream, kind, pool, pid, bytes, (size_t)count);
        else if (count == 0 || errno != EINTR)
            break;
    }
    bool is_over = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    if ((is_over || all) && stream->count > 0)
        log_one(stream, kind, pool, pid);
    if (is_over)
        stream_close(stream);
}

void stream_close(struct stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
}
