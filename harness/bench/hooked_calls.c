/* What one hooked call costs: lock+unlock of an uncontended mutex, and read of one byte from /dev/zero.
 *
 * A second thread is parked throughout: with one thread only, glibc takes a path without atomic instructions
 * and the figure flatters. The run is cut in many short blocks; the smallest block is the cost without
 * interruptions.
 *
 *     $ hooked_calls 200 20000 2000
 *     {"lock_unlock_ns": 7.09, "read_ns": 282.3}
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *park(void *unused)
{
    pause();
    return unused;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double block_of_locks(pthread_mutex_t *mutex, long count)
{
    double start_ns = now_ns();
    for (long i = 0; i < count; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    return (now_ns() - start_ns) / (double)count;
}

static double block_of_reads(int fd, long count)
{
    char byte;
    double start_ns = now_ns();
    for (long i = 0; i < count; i++)
        if (read(fd, &byte, 1) != 1)
            exit(1);
    return (now_ns() - start_ns) / (double)count;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s BLOCKS LOCKS_A_BLOCK READS_A_BLOCK\n", argv[0]);
        return 2;
    }
    long blocks = atol(argv[1]), locks = atol(argv[2]), reads = atol(argv[3]);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    int fd = open("/dev/zero", O_RDONLY);
    double lock_ns = 1e18, read_ns = 1e18;
    if (fd < 0 || pthread_create(&thread, NULL, park, NULL) != 0)
        return 1;
    for (long i = 0; i < blocks; i++) {
        lock_ns = smaller(lock_ns, block_of_locks(&mutex, locks));
        read_ns = smaller(read_ns, block_of_reads(fd, reads));
    }
    printf("{\"lock_unlock_ns\": %.3f, \"read_ns\": %.3f}\n", lock_ns, read_ns);
    return 0;
}
