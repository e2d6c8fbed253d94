/*
 * Where the load goes. Four spellings, two protocols, two kinds of socket:
 *
 *     unix:/run/php.sock              FastCGI over a unix socket
 *     fcgi://127.0.0.1:9000           FastCGI over TCP
 *     http://127.0.0.1:8080           HTTP over TCP (IPv6 as http://[::1]:8080)
 *     http+unix:/run/nginx.sock       HTTP over a unix socket
 */
#ifndef ORDEAL_LOAD_TARGET_H
#define ORDEAL_LOAD_TARGET_H

#include "harness/load/protocol.h"

#include <sys/socket.h>

struct target {
    const char *text;
    const struct protocol *protocol;
    struct sockaddr_storage address;
    socklen_t address_bytes;
    char host[280]; /* for Host: and HTTP_HOST */
};

/* Reads the URL and looks its name up. False with a message when it is no target. */
bool target_parse(struct target *target, const char *text, char *error, size_t error_bytes);

/*
 * Proves that someone listens: connects, waiting at most timeout_ms. Returns the connected socket
 * (non-blocking), TARGET_BUSY when the listen queue is full, or -1 with a message.
 */
#define TARGET_BUSY (-2)
int target_probe(const struct target *target, int timeout_ms, char *error, size_t error_bytes);

/* A new non-blocking socket on its way to the target: 0 connected, or errno (EINPROGRESS: wait). */
int target_connect(const struct target *target, int *fd);

#endif
