/* Names of hosts: libc asks files and servers, in ways that cannot be waited for, so a helper thread asks it.
 */
#include "runtime/fiber/seam/seam.h"

#include "runtime/fiber/planted.h"
#include "runtime/fiber/sched/sched.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>

struct lookup {
    const char *node, *service;
    const struct addrinfo *hints;
    struct addrinfo **found;
    int result, error;
};

static void look_up(void *argument)
{
    struct lookup *lookup = argument;
    lookup->result = REAL(getaddrinfo)(lookup->node, lookup->service, lookup->hints, lookup->found);
    lookup->error = errno;
}

/* A number needs no asking. */
static bool is_number(const char *node)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, node, address) == 1 || inet_pton(AF_INET6, node, address) == 1;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    if (!SEAM_TAKES(getaddrinfo) || !node)
        return REAL(getaddrinfo)(node, service, hints, found);
    struct lookup lookup = {.node = node, .service = service, .hints = hints, .found = found};
    if (is_number(node) || DEFECT(B5) || (DEFECT(B21) && planted.tls_seen))
        return REAL(getaddrinfo)(node, service, hints, found);
    sched_offload(look_up, &lookup);
    errno = lookup.error;
    return lookup.result;
}

struct name_lookup {
    const struct sockaddr *address;
    socklen_t address_len;
    char *host, *service;
    socklen_t host_len, service_len;
    int flags, result, error;
};

static void look_up_name(void *argument)
{
    struct name_lookup *lookup = argument;
    lookup->result = REAL(getnameinfo)(lookup->address, lookup->address_len, lookup->host, lookup->host_len,
                                       lookup->service, lookup->service_len, lookup->flags);
    lookup->error = errno;
}

int getnameinfo(const struct sockaddr *address, socklen_t address_len, char *host, socklen_t host_len,
                char *service, socklen_t service_len, int flags)
{
    struct name_lookup lookup = {address, address_len, host, service, host_len, service_len, flags, 0, 0};
    if (!SEAM_TAKES(getnameinfo) || (flags & NI_NUMERICHOST))
        look_up_name(&lookup);
    else
        sched_offload(look_up_name, &lookup);
    errno = lookup.error;
    return lookup.result;
}

/* ---- the old forms, whose answer is one block for the whole process: the caller uses it at once ---- */

enum { HOST_BYTES = 16 << 10 };

struct host_lookup {
    const char *name;
    const void *address; /* for the other way round */
    socklen_t address_len;
    int family;
    struct hostent entry, *found;
    char texts[HOST_BYTES];
    int host_error;
};

static void look_up_host(void *argument)
{
    struct host_lookup *lookup = argument;
    if (lookup->name)
        gethostbyname_r(lookup->name, &lookup->entry, lookup->texts, sizeof lookup->texts, &lookup->found,
                        &lookup->host_error);
    else
        gethostbyaddr_r(lookup->address, lookup->address_len, lookup->family, &lookup->entry, lookup->texts,
                        sizeof lookup->texts, &lookup->found, &lookup->host_error);
}

/* A pointer into the texts of one answer, as one into the texts of its copy. */
static void *moved(const struct host_lookup *from, struct host_lookup *to, const void *at)
{
    return at ? to->texts + ((const char *)at - from->texts) : NULL;
}

static char **moved_list(const struct host_lookup *from, struct host_lookup *to, char **list)
{
    char **copy = moved(from, to, list);
    for (size_t i = 0; copy && copy[i]; i++)
        copy[i] = moved(from, to, copy[i]);
    return copy;
}

static struct hostent *host_of(const struct host_lookup *asked)
{
    static struct host_lookup answer;
    struct host_lookup lookup = *asked;
    sched_offload(look_up_host, &lookup);
    h_errno = lookup.host_error;
    if (!lookup.found)
        return NULL;
    answer = lookup;
    answer.entry.h_name = lookup.name && lookup.entry.h_name == lookup.name
                              ? lookup.entry.h_name
                              : moved(&lookup, &answer, lookup.entry.h_name);
    answer.entry.h_aliases = moved_list(&lookup, &answer, lookup.entry.h_aliases);
    answer.entry.h_addr_list = moved_list(&lookup, &answer, lookup.entry.h_addr_list);
    return &answer.entry;
}

struct hostent *gethostbyname(const char *name)
{
    if (!SEAM_TAKES(gethostbyname))
        return REAL(gethostbyname)(name);
    return host_of(&(struct host_lookup){.name = name});
}

struct hostent *gethostbyaddr(const void *address, socklen_t length, int family)
{
    if (!SEAM_TAKES(gethostbyaddr))
        return REAL(gethostbyaddr)(address, length, family);
    return host_of(&(struct host_lookup){.address = address, .address_len = length, .family = family});
}
