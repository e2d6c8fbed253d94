#include "runtime/fiber/config/address.h"

#include <stdlib.h>
#include <string.h>

static bool copy(char *to, size_t room, const char *text, size_t count)
{
    if (count >= room)
        return false;
    memcpy(to, text, count);
    to[count] = '\0';
    return true;
}

static bool parse_port(const char *text, struct address *address)
{
    size_t count = strspn(text, "0123456789");
    if (count == 0 || text[count] != '\0' || !copy(address->port, sizeof address->port, text, count))
        return false;
    long port = strtol(text, NULL, 10);
    return port >= 1 && port <= 65535;
}

bool address_parse(const char *text, struct address *address)
{
    *address = (struct address){.is_unix = text[0] == '/'};
    if (address->is_unix)
        return copy(address->path, sizeof address->path, text, strlen(text)) && text[1] != '\0';
    const char *colon = strrchr(text, ':');
    if (colon == NULL)
        return parse_port(text, address);
    struct {
        const char *at;
        size_t count;
    } host = {text, (size_t)(colon - text)};
    if (host.count >= 2 && text[0] == '[' && colon[-1] == ']') {
        host.at++;
        host.count -= 2;
    } else if (memchr(text, ':', host.count)) {
        return false; /* an IPv6 address wants brackets */
    }
    return host.count > 0 && copy(address->host, sizeof address->host, host.at, host.count) &&
           parse_port(colon + 1, address);
}
