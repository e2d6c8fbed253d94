/* The server's side of FastCGI: bytes in, callbacks out; answers in, bytes out. No I/O and no PHP in here.
 *
 * A connection carries records, in both directions. A record is a head of 8 bytes, content, and padding:
 *
 *     version=1  type  id (2 bytes)  content length (2)  padding length  reserved
 *
 * Numbers are big-endian. The web server opens a request under an id of its choice with BEGIN_REQUEST, then
 * sends two streams: PARAMS (name-value pairs) and STDIN (the body). A stream is any number of records, and
 * an empty one ends it. The answer is the stream STDOUT, perhaps STDERR, and an END_REQUEST. Ids are never 0;
 * records with id 0 are about the connection ("management"). One whole exchange, POST of "hi" kept alive:
 *
 *     01 01 00 01 00 08 00 00   00 01 01 00 00 00 00 00       BEGIN_REQUEST 1: role 1 (RESPONDER), keep
 *     01 04 00 01 00 14 04 00   0e 04 REQUEST_METHOD POST  00 00 00 00
 *                                                             PARAMS 1: 20 bytes, then 4 of padding; a pair
 *                                                             is both lengths, name, value
 *     01 04 00 01 00 00 00 00                                 PARAMS 1 ends
 *     01 05 00 01 00 02 06 00   h i  00 00 00 00 00 00        STDIN 1: 2 bytes
 *     01 05 00 01 00 00 00 00                                 STDIN 1 ends
 *   and back:
 *     01 06 00 01 00 14 04 00   Status: 200 OK\r\n\r\nhi  00 00 00 00
 *                                                             STDOUT 1: 20 bytes
 *     01 06 00 01 00 00 00 00                                 STDOUT 1 ends
 *     01 03 00 01 00 08 00 00   00 00 00 00 00 00 00 00       END_REQUEST 1: exit status 0, complete
 *
 * A length below 128 is one byte; any length may be four, with the top bit set: 80 00 00 0e is 14. A pair may
 * be cut anywhere by the end of a record and goes on in the next one, even in the middle of a length.
 *
 * The reader is given the bytes as they come, in whatever pieces, and calls a table of functions:
 *
 *     static const struct fcgi_handler handler = {.begin = on_begin, .param = on_param, ...};
 *     fcgi_reader_init(&reader, &fcgi_limits_default, connection);
 *     while ((n = recv(fd, piece, sizeof piece, 0)) > 0)
 *         fcgi_reader_feed(&reader, piece, (size_t)n, &handler);
 *
 * For the exchange above it calls begin(1, keep), param("REQUEST_METHOD", "POST"), params_end, input("hi"),
 * input_end. When the answer is written, with its END_REQUEST, fcgi_reader_request_ended() makes it ready for
 * the next request. How the bytes were cut changes nothing but the pieces in which `input` gets the body.
 *
 * One request at a time on a connection, as FCGI_MPXS_CONNS=0 tells. What is done with what is not that:
 *
 *     BEGIN_REQUEST while another id is open     `reject` with FCGI_CANT_MPX_CONN; the open one goes on
 *     BEGIN_REQUEST with another role            `reject` with FCGI_UNKNOWN_ROLE
 *     a record of an id that is not open         ignored, as the specification says: so is the rest of a body
 *                                                whose request has been answered
 *     a record of an id after its ABORT_REQUEST  ignored
 *     GET_VALUES                                 `get_values`; names other than the three are left out
 *     another management record                  `unknown_type`
 *     anything else                              `error`: a text with the offset in the connection, what was
 *                                                there and what was expected; then no more is taken
 */
#ifndef ORDEAL_FIBER_FCGI_H
#define ORDEAL_FIBER_FCGI_H

#include "runtime/fiber/fcgi/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the numbers of the protocol ---- */

enum { FCGI_VERSION = 1, FCGI_HEAD_BYTES = 8, FCGI_BEGIN_BYTES = 8, FCGI_CONTENT_BYTES_MAX = 65535 };

enum fcgi_type {
    FCGI_BEGIN_REQUEST = 1,
    FCGI_ABORT_REQUEST = 2,
    FCGI_END_REQUEST = 3,
    FCGI_PARAMS = 4,
    FCGI_STDIN = 5,
    FCGI_STDOUT = 6,
    FCGI_STDERR = 7,
    FCGI_DATA = 8,
    FCGI_GET_VALUES = 9,
    FCGI_GET_VALUES_RESULT = 10,
    FCGI_UNKNOWN_TYPE = 11,
    FCGI_TYPES /* the first number that is none */
};

enum fcgi_role { FCGI_RESPONDER = 1, FCGI_AUTHORIZER = 2, FCGI_FILTER = 3 };

enum { FCGI_KEEP_CONN = 1 }; /* in the flags of BEGIN_REQUEST */

enum fcgi_protocol_status {
    FCGI_REQUEST_COMPLETE = 0,
    FCGI_CANT_MPX_CONN = 1,
    FCGI_OVERLOADED = 2,
    FCGI_UNKNOWN_ROLE = 3
};

/* What GET_VALUES asked for, as a set of bits. */
enum fcgi_value { FCGI_MAX_CONNS = 1, FCGI_MAX_REQS = 2, FCGI_MPXS_CONNS = 4 };

/* ---- the reader ---- */

/* What one connection may cost. A connection that wants more is in error. Whatever these say, nothing is
 * allocated for what was only announced: memory grows with the bytes that really came. */
struct fcgi_limits {
    uint32_t params_bytes; /* content of the PARAMS records of one request. 1 MiB: web servers stop at 8 to
                            * 64 KiB of headers, and php-fpm's parameters are little more */
    uint32_t params_count; /* parameters of one request. 4096: Apache stops at 100 header fields */
    uint32_t name_bytes;   /* one parameter's name. 64 KiB, about a record: only a whole header line without
                            * a value comes near. A value may take all of params_bytes */
    uint64_t input_bytes;  /* the body of one request. No limit: it is streamed and costs the reader nothing;
                            * the application knows its own (post_max_size) */
};

extern const struct fcgi_limits fcgi_limits_default;

/* Called by fcgi_reader_feed with the reader's context; all are required. Bytes are valid during the call
 * only, are not ended by a NUL, and may contain any. A request's calls come in this order:
 * begin, param..., params_end, input..., input_end; an abort may come at any point and is its last. */
struct fcgi_handler {
    void (*begin)(void *context, uint16_t id, enum fcgi_role role, bool keep);
    void (*param)(void *context, uint16_t id, const char *name, size_t name_bytes, const char *value,
                  size_t value_bytes);
    void (*params_end)(void *context, uint16_t id);
    void (*input)(void *context, uint16_t id, const unsigned char *bytes, size_t count); /* count > 0 */
    void (*input_end)(void *context, uint16_t id);

    /* The web server wants no answer any more: END_REQUEST soon, then fcgi_reader_request_ended. */
    void (*abort)(void *context, uint16_t id);

    /* Answer with fcgi_put_end(out, id, 0, status). This id never was open. Without `keep`, and with no
     * other request open, the connection is to be closed after that. */
    void (*reject)(void *context, uint16_t id, enum fcgi_protocol_status status, bool keep);

    /* Answer with fcgi_put_values_result(out, asked, ...); `asked` is a set of enum fcgi_value. */
    void (*get_values)(void *context, unsigned asked);

    /* Answer with fcgi_put_unknown_type(out, type). */
    void (*unknown_type)(void *context, uint8_t type);

    /* Once at most, and nothing after it: close the connection. The text is the reader's. */
    void (*error)(void *context, const char *reason);
};

enum { FCGI_REASON_BYTES = 200 };

/* What the content of the present record is for. */
enum fcgi_content {
    FCGI_CONTENT_IGNORED,
    FCGI_CONTENT_BEGIN,
    FCGI_CONTENT_PARAMS,
    FCGI_CONTENT_INPUT,
    FCGI_CONTENT_VALUES
};

/* A name-value pair on its way in; see pair.h. */
struct fcgi_pair {
    uint64_t offset; /* in the connection, of its first byte */
    unsigned char lengths[8];
    uint8_t lengths_have;
    bool lengths_known;
    uint32_t name_bytes, value_bytes;
    struct fcgi_buffer text; /* name and value, if they do not come in one piece */
};

/* All fields are the reader's own. */
struct fcgi_reader {
    struct fcgi_limits limits;
    void *context;
    uint64_t offset;    /* bytes taken since the connection began */
    uint64_t record_at; /* where the present record began */

    unsigned char head[FCGI_HEAD_BYTES];
    uint8_t head_have;
    uint8_t padding_left;
    uint16_t content_left;
    enum fcgi_content content;
    unsigned char begin[FCGI_BEGIN_BYTES];
    uint8_t begin_have;
    unsigned asked;
    struct fcgi_pair param, value; /* of PARAMS and of GET_VALUES: one may come inside the other */

    struct {
        uint16_t id;
        bool open, params_ended, input_ended, aborted;
        uint32_t params_count, params_bytes;
        uint64_t input_bytes;
    } request;

    bool paused, failed;
    char reason[FCGI_REASON_BYTES];
};

void fcgi_reader_init(struct fcgi_reader *reader, const struct fcgi_limits *limits, void *context);
void fcgi_reader_free(struct fcgi_reader *reader);

/* Takes bytes and calls the handler; returns how many it took: all of them, unless it was paused or found an
 * error. After an error it takes nothing and calls nobody. The handler may call the two functions below, but
 * neither feed nor free the reader. */
size_t fcgi_reader_feed(struct fcgi_reader *reader, const void *bytes, size_t count,
                        const struct fcgi_handler *handler);

/* The open request's END_REQUEST is written: its id is closed, whatever of it is yet to come is ignored, and
 * another request may begin. */
void fcgi_reader_request_ended(struct fcgi_reader *reader);

/* Called by a handler: let fcgi_reader_feed return when this handler does. What it did not take is to be fed
 * again later. So a body is read as fast as it is used: nobody has to store what nobody wants yet. */
void fcgi_reader_pause(struct fcgi_reader *reader);

/* No request is open and no record begun: the connection may be closed and nobody loses anything. */
bool fcgi_reader_is_idle(const struct fcgi_reader *reader);

/* ---- the encoders ----
 *
 * Each puts whole records at the end of a buffer, padded to 8 bytes. False: no room or no memory; nothing was
 * put. */

enum { FCGI_STREAM_BYTES_MAX = 65528 }; /* content in one record of ours: with its head, 64 KiB exactly */

/* A piece of STDOUT or STDERR, in as many records as it takes. An empty piece puts nothing (it would end the
 * stream). For large ones see frames.h, which does not copy. */
bool fcgi_put_stream(struct fcgi_buffer *out, enum fcgi_type type, uint16_t id, const void *bytes,
                     size_t count);

/* The largest piece that fcgi_put_stream has room for. */
size_t fcgi_stream_room(const struct fcgi_buffer *out);

/* The empty record that ends a stream. */
bool fcgi_put_stream_end(struct fcgi_buffer *out, enum fcgi_type type, uint16_t id);

bool fcgi_put_end(struct fcgi_buffer *out, uint16_t id, uint32_t app_status,
                  enum fcgi_protocol_status protocol_status);

/* The numbers that GET_VALUES may ask for. Multiplexing is not among them: it is always 0. */
struct fcgi_values {
    uint32_t max_conns, max_reqs;
};
bool fcgi_put_values_result(struct fcgi_buffer *out, unsigned asked, const struct fcgi_values *values);

bool fcgi_put_unknown_type(struct fcgi_buffer *out, uint8_t type);

#endif
