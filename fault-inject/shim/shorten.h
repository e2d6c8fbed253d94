/* Asking the real call for less than the target asked for: how a short read or write is made.
 *
 * The bytes not asked for stay where they are, so a target that loops gets everything and one that does not
 * loses the rest. A vector is cut at the byte where the limit falls; the cut copy lives in the wrapper's
 * frame.
 */
#ifndef ORDEAL_SHIM_SHORTEN_H
#define ORDEAL_SHIM_SHORTEN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { SHORTEN_IOV_MAX = 16 };

static inline uint64_t iov_bytes(const struct iovec *iov, int count)
{
    uint64_t bytes = 0;
    for (int i = 0; iov != NULL && i < count; i++)
        bytes += iov[i].iov_len;
    return bytes;
}

/* Copies the head of iov, at most limit_bytes of it, into cut[SHORTEN_IOV_MAX]; returns the number of
 * entries. */
static inline int cut_iov(struct iovec *cut, const struct iovec *iov, int count, uint64_t limit_bytes)
{
    int used = 0;
    for (; used < count && used < SHORTEN_IOV_MAX && limit_bytes > 0; used++) {
        cut[used] = iov[used];
        if (cut[used].iov_len > limit_bytes)
            cut[used].iov_len = (size_t)limit_bytes;
        limit_bytes -= cut[used].iov_len;
    }
    return used;
}

#endif
