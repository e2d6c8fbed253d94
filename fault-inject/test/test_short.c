/* Every row that may fall short does, and a loop around it still moves every byte, once. */
#include "fault-inject/hooks.h"
#include "fault-inject/test/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 100, SHORT_BYTES = 7 };

/* Two descriptors: what is written to [1] can be read from [0]. */
struct channel {
    int fd[2];
};

static ssize_t call_read(struct channel *c, char *buf, size_t n)
{
    return read(c->fd[0], buf, n);
}
static ssize_t call_recv(struct channel *c, char *buf, size_t n)
{
    return recv(c->fd[0], buf, n, 0);
}
static ssize_t call_recvfrom(struct channel *c, char *buf, size_t n)
{
    return recvfrom(c->fd[0], buf, n, 0, NULL, NULL);
}
static ssize_t call_pread(struct channel *c, char *buf, size_t n)
{
    ssize_t got = pread(c->fd[0], buf, n, lseek(c->fd[0], 0, SEEK_CUR));
    lseek(c->fd[0], got > 0 ? got : 0, SEEK_CUR);
    return got;
}

/* The vector forms get the buffer in two pieces, so that a cut falls into either. */
static int two_pieces(struct iovec iov[2], char *buf, size_t n)
{
    size_t head = n / 2;
    iov[0] = (struct iovec){buf, head};
    iov[1] = (struct iovec){buf + head, n - head};
    return 2;
}
static ssize_t call_readv(struct channel *c, char *buf, size_t n)
{
    struct iovec iov[2];
    return readv(c->fd[0], iov, two_pieces(iov, buf, n));
}
static ssize_t call_preadv(struct channel *c, char *buf, size_t n)
{
    struct iovec iov[2];
    ssize_t got = preadv(c->fd[0], iov, two_pieces(iov, buf, n), lseek(c->fd[0], 0, SEEK_CUR));
    lseek(c->fd[0], got > 0 ? got : 0, SEEK_CUR);
    return got;
}
static ssize_t call_recvmsg(struct channel *c, char *buf, size_t n)
{
    struct iovec iov[2];
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = (size_t)two_pieces(iov, buf, n)};
    return recvmsg(c->fd[0], &message, 0);
}
static ssize_t call_write(struct channel *c, char *buf, size_t n)
{
    return write(c->fd[1], buf, n);
}
static ssize_t call_send(struct channel *c, char *buf, size_t n)
{
    return send(c->fd[1], buf, n, 0);
}
static ssize_t call_sendto(struct channel *c, char *buf, size_t n)
{
    return sendto(c->fd[1], buf, n, 0, NULL, 0);
}
static ssize_t call_pwrite(struct channel *c, char *buf, size_t n)
{
    ssize_t put = pwrite(c->fd[1], buf, n, lseek(c->fd[1], 0, SEEK_CUR));
    lseek(c->fd[1], put > 0 ? put : 0, SEEK_CUR);
    return put;
}
static ssize_t call_writev(struct channel *c, char *buf, size_t n)
{
    struct iovec iov[2];
    return writev(c->fd[1], iov, two_pieces(iov, buf, n));
}
static ssize_t call_pwritev(struct channel *c, char *buf, size_t n)
{
    struct iovec iov[2];
    ssize_t put = pwritev(c->fd[1], iov, two_pieces(iov, buf, n), lseek(c->fd[1], 0, SEEK_CUR));
    lseek(c->fd[1], put > 0 ? put : 0, SEEK_CUR);
    return put;
}
static ssize_t call_sendmsg(struct channel *c, char *buf, size_t n)
{
    struct iovec iov[2];
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = (size_t)two_pieces(iov, buf, n)};
    return sendmsg(c->fd[1], &message, 0);
}
static ssize_t call_sendfile(struct channel *c, char *buf, size_t n)
{
    int source = temporary_file();
    assert_int_equal(pwrite(source, buf, n, 0), (ssize_t)n);
    ssize_t put = sendfile(c->fd[1], source, NULL, n);
    close(source);
    return put;
}

enum medium { PAIR, FILE_ON_DISK };
enum direction { IN, OUT };

static const struct short_case {
    enum hook_id hook;
    enum direction direction;
    enum medium medium;
    ssize_t (*call)(struct channel *, char *, size_t);
} cases[] = {
    {HOOK_read, IN, PAIR, call_read},
    {HOOK_recv, IN, PAIR, call_recv},
    {HOOK_recvfrom, IN, PAIR, call_recvfrom},
    {HOOK_readv, IN, PAIR, call_readv},
    {HOOK_recvmsg, IN, PAIR, call_recvmsg},
    {HOOK_pread, IN, FILE_ON_DISK, call_pread},
    {HOOK_preadv, IN, FILE_ON_DISK, call_preadv},
    {HOOK_write, OUT, PAIR, call_write},
    {HOOK_send, OUT, PAIR, call_send},
    {HOOK_sendto, OUT, PAIR, call_sendto},
    {HOOK_writev, OUT, PAIR, call_writev},
    {HOOK_sendmsg, OUT, PAIR, call_sendmsg},
    {HOOK_sendfile, OUT, PAIR, call_sendfile},
    {HOOK_pwrite, OUT, FILE_ON_DISK, call_pwrite},
    {HOOK_pwritev, OUT, FILE_ON_DISK, call_pwritev},
};

static struct channel open_channel(enum medium medium)
{
    struct channel c;
    if (medium == PAIR) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, c.fd), 0);
        return c;
    }
    char path[64];
    c.fd[0] = temporary_file();
    snprintf(path, sizeof path, "/proc/self/fd/%d", c.fd[0]);
    c.fd[1] = open(path, O_RDWR); /* an offset of its own */
    assert_true(c.fd[1] >= 0);
    return c;
}

static void close_channel(struct channel *c)
{
    close(c->fd[0]);
    close(c->fd[1]);
}

static void pattern(char *buf)
{
    for (int i = 0; i < MESSAGE_BYTES; i++)
        buf[i] = (char)(i * 31 + 7);
}

/* Moves the whole message through one side's call while it is cut to SHORT_BYTES at every second call. */
static void check_case(const struct short_case *test)
{
    char rule[64], sent[MESSAGE_BYTES], received[MESSAGE_BYTES];
    const char *name = hook_table[test->hook].name;
    struct channel c = open_channel(test->medium);
    pattern(sent);
    if (test->direction == IN)
        assert_int_equal(write(c.fd[1], sent, sizeof sent), MESSAGE_BYTES);
    char *buf = test->direction == IN ? received : sent;
    snprintf(rule, sizeof rule, "%s:nth=1+2:short=%d", name, SHORT_BYTES);
    arm(rule);
    ssize_t first = test->call(&c, buf, MESSAGE_BYTES);
    ssize_t second = test->call(&c, buf + first, MESSAGE_BYTES - (size_t)first);
    disarm();
    if (first != SHORT_BYTES || second != MESSAGE_BYTES - SHORT_BYTES)
        fail_msg("%s: moved %zd and %zd bytes instead of %d and %d", name, first, second, SHORT_BYTES,
                 MESSAGE_BYTES - SHORT_BYTES);
    if (test->direction == OUT)
        assert_int_equal(read(c.fd[0], received, sizeof received), MESSAGE_BYTES);
    assert_memory_equal(sent, received, MESSAGE_BYTES);
    close_channel(&c);
}

static void short_calls_lose_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++)
        check_case(&cases[i]);
}

static void every_row_that_may_be_short_is_tested(void **state)
{
    (void)state;
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        if (hook_table[hook].shortness == SHORTNESS_NONE)
            continue;
        bool tested = false;
        for (size_t i = 0; i < LENGTH(cases); i++)
            tested |= cases[i].hook == (enum hook_id)hook;
        if (!tested)
            fail_msg("%s may be short, but test_short.c has no case for it", hook_table[hook].name);
    }
}

static void recvmsg_still_reports_what_the_kernel_wrote(void **state)
{
    (void)state;
    struct channel c = open_channel(PAIR);
    int passed = temporary_file();
    char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x', got[16];
    struct iovec iov = {&byte, 1};
    struct msghdr out = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&out);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &passed, sizeof passed);
    assert_int_equal(sendmsg(c.fd[1], &out, 0), 1);

    char received_control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec in_iov = {got, sizeof got};
    struct msghdr in = {.msg_iov = &in_iov,
                        .msg_iovlen = 1,
                        .msg_control = received_control,
                        .msg_controllen = sizeof received_control};
    arm("recvmsg:short=1");
    ssize_t n = recvmsg(c.fd[0], &in, MSG_CMSG_CLOEXEC);
    disarm();
    assert_int_equal(n, 1);
    assert_int_equal(in.msg_controllen, sizeof received_control);
    assert_true((in.msg_flags & MSG_CMSG_CLOEXEC) != 0);
    assert_ptr_equal(in.msg_iov, &in_iov);
    int arrived;
    memcpy(&arrived, CMSG_DATA(CMSG_FIRSTHDR(&in)), sizeof arrived);
    assert_true(arrived > 2);
    close(arrived);
    close(passed);
    close_channel(&c);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_calls_lose_nothing),
        cmocka_unit_test(every_row_that_may_be_short_is_tested),
        cmocka_unit_test(recvmsg_still_reports_what_the_kernel_wrote),
    };
    return run_under_shim(argc, argv, tests, LENGTH(tests));
}
