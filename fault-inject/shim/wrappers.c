/* One wrapper a row of hooks.def. The way through when nothing is armed: one load, one branch, one jump.
 *
 * For each row two functions are made: the exported one, which decides whether to look closer, and its cold
 * half, which describes the call (OBJECT and SIZE columns), obeys shim_enter(), makes the real call with what
 * is left of it, and reports to shim_leave(). The cold half is also taken before the next definition has been
 * looked up, so that the fast one needs no stack frame. How a failure is spelled comes from the FAIL column,
 * through FAILED_*.
 */
#include "fault-inject/shim/shim.h"
#include "fault-inject/shim/shorten.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The object column: what the call is about. */
#define NOTHING
#define FD(fd_) call_.object = (uint64_t)(fd_);
#define PATH(path_) call_.path = (path_);
#define AT(dirfd_, path_) call_.object = (uint64_t)(dirfd_), call_.path = (path_);
#define ADDRESS(address_) call_.object = (uint64_t)(address_);
#define MUTEX(mutex_) ADDRESS(mutex_)
#define MAPPING(address_, flags_) call_.object = (uint64_t)(address_), call_.flags = (flags_);

/* The size column. */
#define NO_SIZE
#define BYTES(n_) call_.size = (uint64_t)(n_);
#define IOV_BYTES(iov_, count_) call_.size = iov_bytes((iov_), (count_));
#define MSG_BYTES(message_)                                                                                  \
    call_.size = (message_) ? iov_bytes((message_)->msg_iov, (int)(message_)->msg_iovlen) : 0;

/* The shortness column. */
#define NO_SHORT
#define SHORT_BYTES(n_)                                                                                      \
    if (call_.short_bytes != 0 && (n_) > call_.short_bytes)                                                  \
        (n_) = call_.short_bytes;
#define SHORT_IOV(iov_, count_)                                                                              \
    struct iovec cut_[SHORTEN_IOV_MAX];                                                                      \
    if (call_.short_bytes != 0) {                                                                            \
        (count_) = cut_iov(cut_, (iov_), (count_), call_.short_bytes);                                       \
        (iov_) = cut_;                                                                                       \
    }
#define SHORT_MSG(message_)                                                                                  \
    struct iovec cut_[SHORTEN_IOV_MAX];                                                                      \
    struct msghdr shorter_;                                                                                  \
    if (call_.short_bytes != 0) {                                                                            \
        shorter_ = *(message_);                                                                              \
        shorter_.msg_iovlen =                                                                                \
            (size_t)cut_iov(cut_, (message_)->msg_iov, (int)(message_)->msg_iovlen, call_.short_bytes);      \
        shorter_.msg_iov = cut_;                                                                             \
        (message_) = &shorter_;                                                                              \
    }

/* The drop column: what a call that was not made answers. */
#define NO_DROP 0
#define DROP_SIZE call_.size
#define DROP_ZERO 0

/* The fail column. */
#define FAILED_MINUS_ONE(ret_) return errno = call_.err, (ret_)-1
#define FAILED_NULL_PTR(ret_) return errno = call_.err, NULL
#define FAILED_MAP_FAIL(ret_) return errno = call_.err, MAP_FAILED
#define FAILED_RETURNS_ERR(ret_) return call_.err
#define FAILED_EAI(ret_) return call_.err
#define FAILED_LEFT_OVER(ret_) return duration_s

#define WITH_CALLER(...) (const void *caller_, __VA_ARGS__)
#define GIVE_CALLER(...) (__builtin_return_address(0), __VA_ARGS__)

#define HOOK_BY_HAND(...)
#define HOOK(name_, family_, fail_, short_, drop_, object_, size_, errnos_, ret_, params_, args_)            \
    APART static ret_ name_##_armed WITH_CALLER params_                                                      \
    {                                                                                                        \
        struct shim_call call_ = shim_call_of(HOOK_##name_, caller_);                                        \
        object_ size_ shim_enter(&call_);                                                                    \
        if (call_.fail)                                                                                      \
            FAILED_##fail_(ret_);                                                                            \
        if (call_.drop)                                                                                      \
            return (ret_)(drop_);                                                                            \
        short_ ret_ result_ = REAL(name_) args_;                                                             \
        shim_leave(&call_, (int64_t)result_);                                                                \
        return result_;                                                                                      \
    }                                                                                                        \
    EXPORT ret_ name_ params_                                                                                \
    {                                                                                                        \
        __typeof__(&name_) next_ = (__typeof__(&name_))shim_found(HOOK_##name_);                             \
        if (UNLIKELY(next_ == NULL || shim_armed(HOOK_##name_)))                                             \
            return name_##_armed GIVE_CALLER args_;                                                          \
        return next_ args_;                                                                                  \
    }

#include "fault-inject/hooks.def"
