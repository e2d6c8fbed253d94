#include "harness/load/target.h"

#include "harness/load/text.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

struct scheme {
    const char *prefix;
    const struct protocol *protocol;
    bool is_unix;
    const char *port; /* when the URL names none; NULL: it must */
};

static const struct scheme schemes[] = {
    {"unix:", &protocol_fcgi, true, NULL},
    {"http+unix:", &protocol_http, true, NULL},
    {"fcgi://", &protocol_fcgi, false, NULL},
    {"http://", &protocol_http, false, "80"},
};
#define SCHEMES (sizeof schemes / sizeof schemes[0])

static bool unknown_scheme(const char *text, char *error, size_t error_bytes)
{
    const char *prefixes[SCHEMES];
    char word[24];
    for (size_t i = 0; i < SCHEMES; i++)
        prefixes[i] = schemes[i].prefix;
    size_t bytes = strcspn(text, ":");
    bytes += strspn(text + bytes, ":/");
    snprintf(word, sizeof word, "%.*s", (int)(bytes < 23 ? bytes : 23), text);
    const char *nearest = text_nearest(word, prefixes, SCHEMES);
    snprintf(error, error_bytes,
             "'%.200s' is no target, expected unix:/PATH, fcgi://HOST:PORT, http://HOST:PORT or "
             "http+unix:/PATH%s%s%s",
             text, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return false;
}

static bool unix_address(struct target *target, const char *path, char *error, size_t error_bytes)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path || path[0] == '\0') {
        snprintf(error, error_bytes, "'%s': expected a socket path of 1 to %zu bytes after the ':'",
                 target->text, sizeof address.sun_path - 1);
        return false;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    memcpy(&target->address, &address, sizeof address);
    target->address_bytes = sizeof address;
    snprintf(target->host, sizeof target->host, "localhost");
    return true;
}

/* Cuts "host:port", "[::1]:port" (and a trailing '/') into its two parts. */
static bool host_and_port(const char *text, char *host, size_t host_bytes, const char **port)
{
    bool bracket = text[0] == '[';
    size_t bytes = bracket ? strcspn(text, "]") : strcspn(text, ":/");
    const char *after = text + bytes;
    if (bracket && *after++ != ']')
        return false;
    size_t skip = bracket ? 1 : 0;
    if (bytes - skip == 0 || bytes - skip >= host_bytes)
        return false;
    snprintf(host, host_bytes, "%.*s", (int)(bytes - skip), text + skip);
    if (*after == '\0' || strcmp(after, "/") == 0)
        return *port != NULL;
    *port = after + 1;
    size_t digits = strspn(*port, "0123456789");
    return *after == ':' && digits >= 1 && digits <= 5 && atoi(*port) <= 65535 && atoi(*port) > 0 &&
           ((*port)[digits] == '\0' || strcmp(*port + digits, "/") == 0);
}

static bool tcp_address(struct target *target, const struct scheme *scheme, const char *text, char *error,
                        size_t error_bytes)
{
    char host[256], port[6];
    const char *found = scheme->port;
    if (!host_and_port(text, host, sizeof host, &found)) {
        snprintf(
            error, error_bytes,
            "'%s': expected HOST:PORT after '%s', such as %s127.0.0.1:9000 (no path: that is in the mix)",
            target->text, scheme->prefix, scheme->prefix);
        return false;
    }
    snprintf(port, sizeof port, "%.*s", (int)strspn(found, "0123456789"), found);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *results = NULL;
    int status = getaddrinfo(host, port, &hints, &results);
    if (status != 0) {
        snprintf(error, error_bytes, "'%s': cannot look up '%s': %s", target->text, host,
                 gai_strerror(status));
        return false;
    }
    memcpy(&target->address, results->ai_addr, results->ai_addrlen);
    target->address_bytes = results->ai_addrlen;
    freeaddrinfo(results);
    bool six = strchr(host, ':') != NULL;
    snprintf(target->host, sizeof target->host, "%s%s%s:%s", six ? "[" : "", host, six ? "]" : "", port);
    return true;
}

bool target_parse(struct target *target, const char *text, char *error, size_t error_bytes)
{
    *target = (struct target){.text = text};
    for (size_t i = 0; i < SCHEMES; i++) {
        size_t bytes = strlen(schemes[i].prefix);
        if (strncmp(text, schemes[i].prefix, bytes) != 0)
            continue;
        target->protocol = schemes[i].protocol;
        return schemes[i].is_unix ? unix_address(target, text + bytes, error, error_bytes)
                                  : tcp_address(target, &schemes[i], text + bytes, error, error_bytes);
    }
    return unknown_scheme(text, error, error_bytes);
}

int target_connect(const struct target *target, int *fd)
{
    const struct sockaddr *address = (const struct sockaddr *)&target->address;
    *fd = socket(target->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return errno;
    if (target->address.ss_family != AF_UNIX) {
        int on = 1;
        setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return connect(*fd, address, target->address_bytes) == 0 ? 0 : errno;
}

/* Waits for a connect under way; 0 or errno. */
static int connect_wait(int fd, int timeout_ms)
{
    struct pollfd waited = {.fd = fd, .events = POLLOUT};
    int status = poll(&waited, 1, timeout_ms);
    int failure = 0;
    socklen_t bytes = sizeof failure;
    if (status == 0)
        return ETIMEDOUT;
    if (status < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &bytes) != 0)
        return errno;
    return failure;
}

int target_probe(const struct target *target, int timeout_ms, char *error, size_t error_bytes)
{
    int fd;
    int failure = target_connect(target, &fd);
    if (failure == EINPROGRESS)
        failure = connect_wait(fd, timeout_ms);
    if (failure == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    if (failure == EAGAIN)
        return TARGET_BUSY;
    snprintf(error, error_bytes, "cannot reach %s: %s; is the target running and listening there?",
             target->text, strerror(failure));
    return -1;
}
