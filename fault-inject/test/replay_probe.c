/* A program whose threads and processes run in another order each time: what a replay has to cope with.
 *
 * It forks two children; each process runs three threads; each thread makes the same calls of its own. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 2, THREADS = 3, ROUNDS = 20 };

static void *work(void *number)
{
    char path[] = "/tmp/ordeal-probe-XXXXXX", buffer[64];
    int fd = mkstemp(path);
    if (fd < 0)
        abort();
    unlink(path);
    for (int i = 0; i < ROUNDS; i++) {
        (void)!write(fd, buffer, sizeof buffer);
        flock(fd, LOCK_SH);
        (void)!pread(fd, buffer, sizeof buffer, 0);
        if ((i + (int)(intptr_t)number) % 5 == 0)
            sched_yield();
    }
    close(fd);
    return number;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            run_threads();
            return 0;
        }
    }
    run_threads();
    for (int i = 0; i < CHILDREN; i++)
        waitpid(children[i], NULL, 0);
    return 0;
}
