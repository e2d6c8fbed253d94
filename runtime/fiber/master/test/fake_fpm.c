/* fiber-fpm without PHP, for test_master.py: the real master, options and configuration, and a worker that
 * does what its clients say. A client sends a line and gets one:
 *
 *     who          "PID GENERATION"
 *     ids          "UID GID FOLDER"
 *     env NAME     its value; "-": it is not set
 *     say out T    "said": T went to standard output; err, log: to standard error, to the log
 *     exit N       nothing: the worker exits with N
 *     die N        nothing: the worker gets signal N
 *     stay         "staying": from now on it ends for SIGKILL only
 *     hold         "held PID"; the next line gets "done PID", and a worker that drains waits for that
 *
 * A worker with FAKE_DIES in its environment gets that signal at once. The engine does not start while the
 * file that FAKE_ENGINE_FAILS names is there. */
#include "runtime/fiber/master/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS_MAX = 64, LINE_BYTES = 2048 };

static const struct worker_settings *worker;
static volatile sig_atomic_t draining, ended, reopened, stays;
static struct pollfd fds[1 + CLIENTS_MAX];
static unsigned clients;
static bool held[1 + CLIENTS_MAX];

static void on_quit(int signal)
{
    (void)signal;
    draining = !stays;
}

static void on_term(int signal)
{
    (void)signal;
    ended = !stays;
}

static void on_usr1(int signal)
{
    (void)signal;
    reopened = 1;
}

static void answer(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void answer(int fd, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vdprintf(fd, format, arguments);
    va_end(arguments);
}

/* ---- commands: each returns whether the connection stays ---- */

static bool who(unsigned client, const char *rest)
{
    (void)rest;
    answer(fds[client].fd, "%d %u\n", (int)getpid(), worker->generation);
    return false;
}

static bool ids(unsigned client, const char *rest)
{
    char folder[4096];
    (void)rest;
    answer(fds[client].fd, "%d %d %s\n", (int)getuid(), (int)getgid(),
           getcwd(folder, sizeof folder) ? folder : "?");
    return false;
}

static bool env(unsigned client, const char *rest)
{
    const char *value = getenv(rest);
    answer(fds[client].fd, "%s\n", value ? value : "-");
    return false;
}

static bool say(unsigned client, const char *rest)
{
    const char *text = strchr(rest, ' ');
    int fd = *rest == 'o' ? STDOUT_FILENO : *rest == 'e' ? STDERR_FILENO : worker->log_fd;
    if (text)
        dprintf(fd, "%s\n", text + 1);
    answer(fds[client].fd, "said\n");
    return false;
}

static bool exit_with(unsigned client, const char *rest)
{
    (void)client;
    _exit(atoi(rest));
}

static bool die(unsigned client, const char *rest)
{
    (void)client;
    signal(atoi(rest), SIG_DFL);
    raise(atoi(rest));
    return false;
}

static bool stay(unsigned client, const char *rest)
{
    (void)rest;
    stays = 1;
    answer(fds[client].fd, "staying\n");
    return false;
}

static bool hold(unsigned client, const char *rest)
{
    (void)rest;
    held[client] = true;
    answer(fds[client].fd, "held %d\n", (int)getpid());
    return true;
}

static const struct {
    const char *word;
    bool (*run)(unsigned client, const char *rest);
} commands[] = {
    {"who", who},         {"ids", ids},  {"env ", env},  {"say ", say},
    {"exit ", exit_with}, {"die ", die}, {"stay", stay}, {"hold", hold},
};

static bool obey(unsigned client)
{
    char line[LINE_BYTES];
    ssize_t count = read(fds[client].fd, line, sizeof line - 1);
    if (count <= 0)
        return false;
    line[count] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (held[client]) {
        answer(fds[client].fd, "done %d\n", (int)getpid());
        return false;
    }
    worker->score->requests++;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strncmp(line, commands[i].word, strlen(commands[i].word)) == 0)
            return commands[i].run(client, line + strlen(commands[i].word));
    return false;
}

/* ---- the loop ---- */

static void take_client(void)
{
    int fd = clients < CLIENTS_MAX ? accept4(worker->listen_fd, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (fd < 0)
        return;
    clients++;
    held[clients] = false;
    fds[clients] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static void drop_client(unsigned client)
{
    close(fds[client].fd);
    fds[client] = fds[clients];
    held[client] = held[clients];
    clients--;
}

static void serve_clients(void)
{
    for (unsigned client = clients; client >= 1; client--)
        if (fds[client].revents && !obey(client))
            drop_client(client);
    if (fds[0].revents && !draining)
        take_client();
}

static int fake_worker(const struct worker_settings *settings)
{
    sigset_t blocked, before;
    worker = settings;
    if (getenv("FAKE_DIES"))
        die(0, getenv("FAKE_DIES"));
    signal(SIGQUIT, on_quit);
    signal(SIGTERM, on_term);
    signal(SIGUSR1, on_usr1);
    sigfillset(&blocked);
    sigprocmask(SIG_BLOCK, &blocked, &before); /* signals come during ppoll() only */
    fcntl(settings->listen_fd, F_SETFL, O_NONBLOCK);
    fds[0] = (struct pollfd){.fd = settings->listen_fd, .events = POLLIN};
    settings->score->state = WORKER_RUNNING;
    while (!ended && !(draining && clients == 0)) {
        fds[0].fd = draining ? -1 : settings->listen_fd;
        int count = ppoll(fds, 1 + clients, NULL, &before);
        if (reopened)
            dprintf(settings->log_fd, "NOTICE: child %d has reopened\n", (int)getpid());
        reopened = 0;
        if (count > 0)
            serve_clients();
    }
    return 0;
}

static bool fake_engine(const struct php_options *options, char problem[MASTER_PROBLEM_BYTES])
{
    const char *file = getenv("FAKE_ENGINE_FAILS");
    if (file && access(file, F_OK) == 0) {
        snprintf(problem, MASTER_PROBLEM_BYTES, "the fake engine fails");
        return false;
    }
    if (options->ini_entries)
        fputs(options->ini_entries, stderr);
    return true;
}

int main(int argc, char **argv)
{
    static const struct master_php php = {
        .engine_start = fake_engine, .worker_run = fake_worker, .version = "fake-fpm 1"};
    return command_run(argc, argv, &php);
}
