/* A large piece of a stream as records that are sent from where they lie: heads and padding from in here, the
 * content from the caller's memory, which must stay until it is sent.
 *
 *     head | content | head | content | padding        100,000 bytes: records of 65,528 and of 34,472
 *
 *     while (count > 0) {
 *         size_t covered = fcgi_frames_set(&frames, FCGI_STDOUT, 1, bytes, count);   // at most 1 MiB at once
 *         while (!fcgi_frames_are_sent(&frames)) {
 *             ssize_t sent = writev(fd, fcgi_frames_parts(&frames), fcgi_frames_count(&frames));
 *             fcgi_frames_drop(&frames, (size_t)sent);
 *         }
 *         bytes += covered, count -= covered;
 *     }
 *
 * Between a set and its last byte nothing else may be sent on the connection: a record is not to be cut.
 */
#ifndef ORDEAL_FIBER_FCGI_FRAMES_H
#define ORDEAL_FIBER_FCGI_FRAMES_H

#include "runtime/fiber/fcgi/fcgi.h"

#include <sys/uio.h> /* struct iovec */

enum { FCGI_FRAMES_RECORDS_MAX = 16, FCGI_FRAMES_PARTS_MAX = 2 * FCGI_FRAMES_RECORDS_MAX + 1 };

struct fcgi_frames {
    struct iovec parts[FCGI_FRAMES_PARTS_MAX];
    unsigned char heads[FCGI_FRAMES_RECORDS_MAX][FCGI_HEAD_BYTES];
    int first, count; /* parts[first .. count) are not sent yet */
};

/* Describes as many of the bytes as 16 records hold; returns how many these are. The structure must not move
 * until they are sent. */
size_t fcgi_frames_set(struct fcgi_frames *frames, enum fcgi_type type, uint16_t id, const void *bytes,
                       size_t count);

/* `sent` bytes of the parts are away. */
void fcgi_frames_drop(struct fcgi_frames *frames, size_t sent);

static inline const struct iovec *fcgi_frames_parts(const struct fcgi_frames *frames)
{
    return frames->parts + frames->first;
}

static inline int fcgi_frames_count(const struct fcgi_frames *frames)
{
    return frames->count - frames->first;
}

static inline bool fcgi_frames_are_sent(const struct fcgi_frames *frames)
{
    return frames->first == frames->count;
}

#endif
