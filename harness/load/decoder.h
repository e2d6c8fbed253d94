/*
 * What has been understood of one answer so far. Both codecs fill the same struct, so that the judge does not
 * care by which protocol the answer came.
 *
 * A decoder is fed bytes as they come, in whatever pieces, and copies only what straddles two pieces:
 *
 *     decoder_begin(&d, false, true);
 *     while ((progress = protocol->feed(&d, bytes, count)) == PROGRESS_MORE)
 *         read more, or when the peer has closed: progress = protocol->closed(&d);
 *
 * PROGRESS_BAD leaves a reason that names the byte (counted from the start of the answer) and what was
 * expected there: "malformed at byte 9: record type 14, expected STDOUT (6), STDERR (7) or END_REQUEST (3)".
 * How the bytes were cut into pieces never changes the result.
 */
#ifndef ORDEAL_LOAD_DECODER_H
#define ORDEAL_LOAD_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ANSWER_HEAD_BYTES 160
#define ANSWER_TAIL_BYTES 128
#define ANSWER_MARKER_BYTES 64
#define REASON_BYTES 224
#define LINE_BYTES_MAX 8192
#define HEADER_BYTES_MAX 65536

enum progress { PROGRESS_MORE, PROGRESS_DONE, PROGRESS_BAD };

enum refusal { REFUSAL_NONE, REFUSAL_CANNOT_MULTIPLEX, REFUSAL_OVERLOADED, REFUSAL_UNKNOWN_ROLE };

/* How far an answer had come: said in the reason when it ends too early. */
enum phase { PHASE_NOTHING, PHASE_HEADERS, PHASE_BODY, PHASE_FINISHED };

struct answer {
    int status; /* 0: none seen yet */
    enum phase phase;
    enum refusal refusal; /* FastCGI's protocolStatus */
    bool will_close;      /* the target closes the connection after this answer */
    bool chunked;
    bool marker_seen;
    uint32_t marker_bytes;
    uint32_t head_bytes;
    uint32_t tail_bytes;
    uint32_t stderr_bytes;
    uint64_t body_bytes;
    int64_t content_length; /* -1: not said */
    char marker[ANSWER_MARKER_BYTES];
    char head[ANSWER_HEAD_BYTES];   /* the first bytes of the body */
    char tail[ANSWER_TAIL_BYTES];   /* its last bytes, when they are asked for */
    char errors[ANSWER_HEAD_BYTES]; /* the first bytes of FCGI_STDERR */
};

struct fcgi_state {
    uint32_t state, type, content_left, padding_left, have;
    bool stdout_ended;
    unsigned char gathered[8];
};

struct http_state {
    uint32_t state;
    uint64_t left;
};

struct decoder {
    struct answer answer;
    uint64_t offset;       /* bytes of the answer consumed */
    uint64_t header_bytes; /* of them in the header block */
    bool keep_tail;
    bool head_request; /* an answer to HEAD has no body */
    union {
        struct fcgi_state fcgi;
        struct http_state http;
    } wire;
    char reason[REASON_BYTES];
    uint32_t line_bytes;
    char line[LINE_BYTES_MAX]; /* the part of a header line that came in an earlier piece */
};

/* Everything that the next answer could be misled by is cleared; the big buffers are not touched. */
static inline void decoder_begin(struct decoder *decoder, bool head_request, bool keep_tail)
{
    memset(&decoder->answer, 0, offsetof(struct answer, marker));
    decoder->answer.content_length = -1;
    decoder->offset = 0;
    decoder->header_bytes = 0;
    decoder->keep_tail = keep_tail;
    decoder->head_request = head_request;
    memset(&decoder->wire, 0, sizeof decoder->wire);
    decoder->reason[0] = '\0';
    decoder->line_bytes = 0;
}

/* "malformed at byte OFFSET: ..."; always PROGRESS_BAD. */
enum progress decoder_malformed(struct decoder *decoder, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Body bytes: counted, and the first (and, if asked for, the last) of them kept. */
void decoder_body(struct decoder *decoder, const char *bytes, size_t count);

/*
 * Takes one line out of bytes[0..count). Returns how many bytes were consumed; when the line is complete,
 * *line points at it (without its line feed), otherwise *line is NULL. *line_bytes is SIZE_MAX when the line
 * is longer than LINE_BYTES_MAX.
 */
size_t decoder_line(struct decoder *decoder, const char *bytes, size_t count, const char **line,
                    size_t *line_bytes);

/* One "Name: value" line that begins at byte `offset`. cgi: "Status:" counts. PROGRESS_MORE when it is good.
 */
enum progress decoder_header(struct decoder *decoder, bool cgi, const char *line, size_t bytes,
                             uint64_t offset);

#endif
