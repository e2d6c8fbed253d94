#include "runtime/fiber/master/listener.h"

#include "runtime/fiber/config/address.h"
#include "runtime/fiber/master/user.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int refuse(char problem[LISTENER_PROBLEM_BYTES], const char *what, const char *address,
                  const char *why)
{
    snprintf(problem, LISTENER_PROBLEM_BYTES, "unable to %s listening socket for address '%s': %s", what,
             address, why);
    return -1;
}

/* ---- Unix ---- */

static struct sockaddr_un unix_name(const struct address *address)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, address->path, sizeof name.sun_path);
    return name;
}

/* Somebody answers there, or would if he were less busy. */
static bool is_listened_on(const struct address *address)
{
    struct sockaddr_un name = unix_name(address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return true;
    bool is = connect(fd, (struct sockaddr *)&name, sizeof name) == 0 || errno == EAGAIN;
    close(fd);
    return is;
}

static void remove_stale(const struct address *address)
{
    struct stat found;
    if (lstat(address->path, &found) == 0 && S_ISSOCK(found.st_mode))
        unlink(address->path);
}

static bool set_owner(const struct pool_config *pool, char problem[LISTENER_PROBLEM_BYTES])
{
    struct user owner;
    if (!user_find(pool->listen_owner, pool->listen_group, &owner)) {
        refuse(problem, "find the owner of the", pool->listen, "no such user or group");
        return false;
    }
    uid_t uid = pool->listen_owner ? owner.uid : (uid_t)-1;
    gid_t gid = pool->listen_owner || pool->listen_group ? owner.gid : (gid_t)-1;
    if (chown(pool->listen, uid, gid) == 0 && chmod(pool->listen, pool->listen_mode) == 0)
        return true;
    refuse(problem, "set mode and owner of the", pool->listen, strerror(errno));
    return false;
}

static int open_unix(const struct pool_config *pool, const struct address *address,
                     char problem[LISTENER_PROBLEM_BYTES])
{
    struct sockaddr_un name = unix_name(address);
    if (is_listened_on(address))
        return refuse(problem, "bind", pool->listen, "another server is listening there");
    remove_stale(address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return refuse(problem, "create new", pool->listen, strerror(errno));
    mode_t before = umask(0777 & ~pool->listen_mode); /* at no time may more clients come in */
    int result = bind(fd, (struct sockaddr *)&name, sizeof name);
    int error = errno;
    umask(before);
    if (result == 0)
        return fd;
    close(fd);
    return refuse(problem, "bind", pool->listen, strerror(error));
}

/* ---- TCP ---- */

static int bind_one(const struct addrinfo *at)
{
    int on = 1, off = 0;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off); /* "::" is IPv4, too */
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* The first address of the name that can be had. */
static int bind_name(const char *host, const char *port, const char **why)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found;
    int result = getaddrinfo(host, port, &hints, &found);
    if (result != 0) {
        *why = gai_strerror(result);
        return -1;
    }
    int fd = -1;
    for (struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = bind_one(at);
    *why = strerror(errno);
    freeaddrinfo(found);
    return fd;
}

static int open_tcp(const struct pool_config *pool, const struct address *address,
                    char problem[LISTENER_PROBLEM_BYTES])
{
    const char *why;
    int fd = bind_name(address->host[0] ? address->host : "::", address->port, &why);
    if (fd < 0 && !address->host[0])
        fd = bind_name("0.0.0.0", address->port, &why); /* a system without IPv6 */
    return fd < 0 ? refuse(problem, "bind", pool->listen, why) : fd;
}

/* ---- both ---- */

bool listener_adjust(int fd, const struct pool_config *pool, char problem[LISTENER_PROBLEM_BYTES])
{
    if (pool->listen[0] == '/' && !set_owner(pool, problem))
        return false;
    if (listen(fd, pool->listen_backlog) == 0)
        return true;
    refuse(problem, "listen to", pool->listen, strerror(errno));
    return false;
}

int listener_open(const struct pool_config *pool, char problem[LISTENER_PROBLEM_BYTES])
{
    struct address address;
    if (!address_parse(pool->listen, &address))
        return refuse(problem, "understand", pool->listen, "no address");
    int fd = address.is_unix ? open_unix(pool, &address, problem) : open_tcp(pool, &address, problem);
    if (fd < 0 || listener_adjust(fd, pool, problem))
        return fd;
    listener_remove(pool->listen);
    close(fd);
    return -1;
}

void listener_remove(const char *address)
{
    if (address[0] == '/')
        unlink(address);
}
