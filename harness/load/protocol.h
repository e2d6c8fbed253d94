/*
 * The two protocols, FastCGI and HTTP/1.1, behind one table of functions. The rest of the generator knows
 * only this: a request has a head, written into a buffer, and a body, whose wire form is described piece by
 * piece (so 8 MB are sent from one shared copy); an answer is fed to a decoder.
 */
#ifndef ORDEAL_LOAD_PROTOCOL_H
#define ORDEAL_LOAD_PROTOCOL_H

#include "harness/load/decoder.h"
#include "harness/load/marker.h"
#include "harness/load/mix.h"

#include <sys/uio.h>

/* What is the same for every request of a run. */
struct wire_settings {
    const char *root; /* FastCGI: DOCUMENT_ROOT */
    const char *host; /* Host: */
    uint64_t seed;
    bool keep_alive;
};

/* What is the same for every request of one mix line, worked out once. */
struct wire_plan {
    const struct mix_line *line;
    unsigned char *fixed; /* from malloc */
    size_t fixed_bytes;
    size_t head_bytes_max;
    char *header_names[MIX_HEADERS_MAX]; /* as the protocol spells them; from malloc */
};

/* One request. */
struct request {
    const struct wire_plan *plan;
    uint64_t number;
    char marker[MARKER_BYTES];
    const unsigned char *body;
    uint64_t body_bytes;
};

struct protocol {
    const char *name;
    const char *answer_end; /* what an answer ends with: "END_REQUEST" */
    bool (*plan)(struct wire_plan *plan, const struct wire_settings *settings, char *error,
                 size_t error_bytes);
    size_t (*write_head)(const struct request *request, const struct wire_settings *settings,
                         unsigned char *out);
    uint64_t (*body_wire_bytes)(uint64_t body_bytes);
    /* The wire form of the body from wire_offset on, as at most iov_max pieces; returns how many. */
    int (*body_pieces)(const struct request *request, uint64_t wire_offset, struct iovec *iov, int iov_max);
    enum progress (*feed)(struct decoder *decoder, const char *bytes, size_t count);
    enum progress (*closed)(struct decoder *decoder); /* the peer has closed: was that the end? */
};

extern const struct protocol protocol_fcgi;
extern const struct protocol protocol_http;

void wire_plan_free(struct wire_plan *plan);

#endif
