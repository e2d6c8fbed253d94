/* Where a pool listens:
 *
 *     /run/fiber-fpm.sock     a Unix socket
 *     9000                    that TCP port of every address, IPv6 and IPv4
 *     127.0.0.1:9000          one address, or a name that has one
 *     [::1]:9000              an IPv6 address
 */
#ifndef ORDEAL_FIBER_CONFIG_ADDRESS_H
#define ORDEAL_FIBER_CONFIG_ADDRESS_H

#include <stdbool.h>

enum { ADDRESS_PATH_BYTES = 108, ADDRESS_HOST_BYTES = 256 };

struct address {
    bool is_unix;
    char path[ADDRESS_PATH_BYTES];
    char host[ADDRESS_HOST_BYTES]; /* "": every address */
    char port[6];
};

bool address_parse(const char *text, struct address *address);

#endif
