/* Takes connections from the socket that all workers of the pool share, but only while a request could run
 * here: what is not accepted waits in the kernel, for another worker or for later. */
#include "runtime/defect.h"
#include "runtime/fiber/worker/conn.h"
#include "runtime/fiber/worker/limits.h"
#include "runtime/fiber/worker/worker_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How long nothing is accepted when descriptors or memory are out. */
static const struct timeval exhausted_pause = {.tv_usec = 100000};

static bool has_room(const struct worker *worker)
{
    if (DEFECT(B14))
        return true;
    return worker->flight.count + worker->queue.count < worker->in_flight_max &&
           worker->connections_count < worker->connections_max;
}

static void pause_accepting(struct worker *worker)
{
    worker->accepting = false;
    event_del(worker->acceptable);
}

static void on_exhausted(struct worker *worker, int reason)
{
    char text[120];
    snprintf(text, sizeof text, "accept: %s (%u connections are open); trying again in 100 ms",
             strerror(reason), worker->connections_count);
    worker_log(worker, "WARNING", text);
    pause_accepting(worker);
    event_add(worker->accept_again, &exhausted_pause);
}

/* True: there may be another one. */
static bool accept_one(struct worker *worker)
{
    struct sockaddr_storage peer = {0};
    socklen_t length = sizeof peer;
    int fd = accept4(worker->listen_fd, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        conn_open(worker, fd, (struct sockaddr *)&peer);
        return true;
    }
    if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO)
        return true;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        on_exhausted(worker, errno);
    return false;
}

static void on_acceptable(evutil_socket_t fd, short what, void *argument)
{
    (void)fd, (void)what;
    struct worker *worker = argument;
    for (int i = 0; i < ACCEPTS_PER_TURN && worker->accepting && has_room(worker); i++)
        if (!accept_one(worker))
            return;
    if (worker->accepting && !has_room(worker))
        pause_accepting(worker);
}

static void on_accept_again(evutil_socket_t fd, short what, void *argument)
{
    (void)fd, (void)what;
    accept_adjust(argument);
}

void accept_adjust(struct worker *worker)
{
    if (worker->listen_fd < 0 || worker->accepting || !has_room(worker) ||
        event_pending(worker->accept_again, EV_TIMEOUT, NULL))
        return;
    worker->accepting = true;
    event_add(worker->acceptable, NULL);
}

bool accept_start(struct worker *worker)
{
    worker->acceptable =
        event_new(worker->base, worker->listen_fd, EV_READ | EV_PERSIST, on_acceptable, worker);
    worker->accept_again = event_new(worker->base, -1, 0, on_accept_again, worker);
    if (!worker->acceptable || !worker->accept_again || evutil_make_socket_nonblocking(worker->listen_fd))
        return false;
    accept_adjust(worker);
    return true;
}

void accept_stop(struct worker *worker)
{
    if (worker->listen_fd < 0)
        return;
    pause_accepting(worker);
    event_del(worker->accept_again);
    close(worker->listen_fd);
    worker->listen_fd = -1;
}
