/*
 * The marker of a request: a text that no other request of the run has, sent in X-Ordeal-Marker and expected
 * back. 19 bytes, always: eight hex digits of the run, '-', ten hex digits of the request's number.
 *
 *     4f6cdd1d-00000000ff      request 255 of the run with seed 1
 *
 * Whatever is chosen for a request (its mix line, its {sid:16}) is a pure function of the seed and its
 * number, so the same seed sends the same requests, in whatever order the answers come back.
 */
#ifndef ORDEAL_LOAD_MARKER_H
#define ORDEAL_LOAD_MARKER_H

#include <stdint.h>

#define MARKER_BYTES 19

/* splitmix64's finaliser: every bit of the result depends on every bit of the value. */
static inline uint64_t mix_bits(uint64_t value)
{
    value += 0x9e3779b97f4a7c15ull;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

/* The random number of one request for one purpose (salt). */
static inline uint64_t request_random(uint64_t seed, uint64_t number, uint64_t salt)
{
    return mix_bits(mix_bits(seed ^ (salt << 32)) + number);
}

static inline char *hex_write(char *out, uint64_t value, unsigned digits)
{
    static const char hex[] = "0123456789abcdef";
    for (unsigned i = digits; i-- > 0; value >>= 4)
        out[i] = hex[value & 15u];
    return out + digits;
}

static inline void marker_write(char out[MARKER_BYTES], uint64_t seed, uint64_t number)
{
    char *end = hex_write(out, mix_bits(seed), 8);
    *end = '-';
    hex_write(end + 1, number, 10);
}

#endif
