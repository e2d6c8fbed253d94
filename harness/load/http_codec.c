/*
 * HTTP/1.1, the client's side: one request at a time on a connection, answers framed by Content-Length, by
 * chunks, or by the end of the connection.
 *
 * Reading is strict (RFC 9112 without its leniencies): CR LF only, no folded lines, no Content-Length beside
 * chunks, nothing after the end of an answer.
 */
#include "harness/load/protocol.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum http_read_state {
    READ_STATUS_LINE,
    READ_HEADERS,
    READ_BODY_COUNTED,
    READ_BODY_UNTIL_CLOSED,
    READ_CHUNK_SIZE,
    READ_CHUNK,
    READ_CHUNK_END,
    READ_TRAILERS,
    READ_FINISHED,
};

#define CHUNK_DIGITS_MAX 12

/* ---- writing ---- */

static bool http_plan(struct wire_plan *plan, const struct wire_settings *settings, char *error,
                      size_t error_bytes)
{
    const struct mix_line *line = plan->line;
    bool form = line->body_text.count > 0;
    bool typed = (line->body_bytes > 0 || form) && !line->has_content_type;
    char *fixed = NULL;
    int used = asprintf(
        &fixed, " HTTP/1.1\r\nHost: %s\r\nUser-Agent: ordeal-load\r\n%s%s%sX-Ordeal-Marker: ", settings->host,
        settings->keep_alive ? "" : "Connection: close\r\n", typed ? "Content-Type: " : "",
        !typed ? ""
        : form ? "application/x-www-form-urlencoded\r\n"
               : "application/octet-stream\r\n");
    if (used < 0) {
        snprintf(error, error_bytes, "out of memory");
        return false;
    }
    plan->fixed = (unsigned char *)fixed;
    plan->fixed_bytes = (size_t)used;
    plan->head_bytes_max = strlen(line->method) + 2 + line->script.bytes_max + line->path_info.bytes_max +
                           line->query.bytes_max + (size_t)used + MARKER_BYTES + 64;
    for (size_t i = 0; i < line->header_count; i++)
        plan->head_bytes_max += strlen(line->headers[i].name) + 4 + line->headers[i].value.bytes_max;
    return true;
}

static char *bytes_write(char *out, const void *bytes, size_t count)
{
    memcpy(out, bytes, count);
    return out + count;
}

static char *text_write(char *out, const char *text)
{
    return bytes_write(out, text, strlen(text));
}

static size_t http_write_head(const struct request *request, const struct wire_settings *settings,
                              unsigned char *out)
{
    const struct mix_line *line = request->plan->line;
    struct template_values values = {settings->seed, request->number, request->marker};
    char *at = text_write((char *)out, line->method);
    *at++ = ' ';
    at = template_expand(&line->script, &values, at);
    at = template_expand(&line->path_info, &values, at);
    if (line->has_query) {
        *at++ = '?';
        at = template_expand(&line->query, &values, at);
    }
    at = bytes_write(at, request->plan->fixed, request->plan->fixed_bytes);
    at = bytes_write(at, request->marker, MARKER_BYTES);
    at = text_write(at, "\r\n");
    for (size_t i = 0; i < line->header_count; i++) {
        at = text_write(at, line->headers[i].name);
        at = text_write(at, ": ");
        at = template_expand(&line->headers[i].value, &values, at);
        at = text_write(at, "\r\n");
    }
    bool has_body =
        request->body_bytes > 0 || strcmp(line->method, "POST") == 0 || strcmp(line->method, "PUT") == 0;
    if (has_body)
        at += sprintf(at, "Content-Length: %llu\r\n", (unsigned long long)request->body_bytes);
    at = text_write(at, "\r\n");
    return (size_t)(at - (char *)out);
}

static uint64_t http_body_wire_bytes(uint64_t body_bytes)
{
    return body_bytes;
}

static int http_body_pieces(const struct request *request, uint64_t wire_offset, struct iovec *iov,
                            int iov_max)
{
    if (iov_max < 1 || wire_offset >= request->body_bytes)
        return 0;
    const unsigned char *from = request->body + wire_offset;
    iov[0] = (struct iovec){(void *)(uintptr_t)from, request->body_bytes - wire_offset};
    return 1;
}

/* ---- reading ---- */

static enum progress status_line(struct decoder *decoder, const char *line, size_t bytes, uint64_t offset)
{
    static const char version[] = "HTTP/1.";
    for (size_t i = 0; i < sizeof version - 1; i++) {
        if (i >= bytes || line[i] != version[i])
            return decoder_malformed(decoder, offset + i, "bad status line, expected 'HTTP/1.1 200 ...'");
    }
    if (bytes < 12 || (line[7] != '0' && line[7] != '1') || line[8] != ' ')
        return decoder_malformed(decoder, offset + 7, "bad status line, expected 'HTTP/1.1 200 ...'");
    bool digits = line[9] >= '1' && line[9] <= '5' && line[10] >= '0' && line[10] <= '9' && line[11] >= '0' &&
                  line[11] <= '9' && (bytes == 12 || line[12] == ' ');
    if (!digits)
        return decoder_malformed(decoder, offset + 9, "bad status, expected three digits of 100 to 599");
    decoder->answer.status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
    decoder->answer.will_close = line[7] == '0';
    decoder->wire.http.state = READ_HEADERS;
    return PROGRESS_MORE;
}

static void finish(struct decoder *decoder)
{
    decoder->wire.http.state = READ_FINISHED;
    decoder->answer.phase = PHASE_FINISHED;
}

/* An interim answer (100 Continue): forget it, the real one follows. */
static void interim(struct decoder *decoder)
{
    decoder->answer.status = 0;
    decoder->answer.content_length = -1;
    decoder->answer.chunked = false;
    decoder->wire.http.state = READ_STATUS_LINE;
}

static enum progress headers_end(struct decoder *decoder, uint64_t offset)
{
    struct answer *answer = &decoder->answer;
    struct http_state *state = &decoder->wire.http;
    answer->phase = PHASE_BODY;
    if (answer->chunked && answer->content_length >= 0)
        return decoder_malformed(decoder, offset,
                                 "Content-Length and Transfer-Encoding, expected one of them");
    if (answer->status == 101)
        return decoder_malformed(decoder, offset, "status 101, expected no change of protocol");
    if (answer->status < 200)
        interim(decoder);
    else if (decoder->head_request || answer->status == 204 || answer->status == 304)
        finish(decoder);
    else if (answer->chunked)
        state->state = READ_CHUNK_SIZE;
    else if (answer->content_length < 0)
        state->state = READ_BODY_UNTIL_CLOSED;
    else {
        state->left = (uint64_t)answer->content_length;
        state->state = READ_BODY_COUNTED;
        if (state->left == 0)
            finish(decoder);
    }
    if (state->state == READ_BODY_UNTIL_CLOSED)
        answer->will_close = true;
    return PROGRESS_MORE;
}

static enum progress header_line(struct decoder *decoder, const char *line, size_t bytes, uint64_t offset)
{
    if (bytes == 0)
        return headers_end(decoder, offset);
    return decoder_header(decoder, false, line, bytes, offset);
}

static enum progress chunk_size(struct decoder *decoder, const char *line, size_t bytes, uint64_t offset)
{
    size_t digits = 0;
    uint64_t size = 0;
    for (; digits < bytes && isxdigit((unsigned char)line[digits]); digits++) {
        int digit = tolower((unsigned char)line[digits]);
        size = size << 4 | (uint64_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
        if (digits == CHUNK_DIGITS_MAX)
            return decoder_malformed(decoder, offset + digits, "chunk size over %d digits", CHUNK_DIGITS_MAX);
    }
    if (digits == 0 || (digits < bytes && line[digits] != ';' && line[digits] != ' '))
        return decoder_malformed(decoder, offset + digits, "bad chunk size, expected hexadecimal digits");
    decoder->wire.http.left = size;
    decoder->wire.http.state = size > 0 ? READ_CHUNK : READ_TRAILERS;
    return PROGRESS_MORE;
}

static enum progress chunk_end(struct decoder *decoder, const char *line, size_t bytes, uint64_t offset)
{
    (void)line;
    if (bytes > 0)
        return decoder_malformed(decoder, offset, "bytes after the chunk, expected CR LF");
    decoder->wire.http.state = READ_CHUNK_SIZE;
    return PROGRESS_MORE;
}

static enum progress trailer_line(struct decoder *decoder, const char *line, size_t bytes, uint64_t offset)
{
    (void)line;
    (void)offset;
    if (bytes == 0)
        finish(decoder);
    return PROGRESS_MORE;
}

typedef enum progress (*line_reader)(struct decoder *decoder, const char *line, size_t bytes,
                                     uint64_t offset);

static const line_reader line_readers[] = {
    [READ_STATUS_LINE] = status_line, [READ_HEADERS] = header_line,   [READ_CHUNK_SIZE] = chunk_size,
    [READ_CHUNK_END] = chunk_end,     [READ_TRAILERS] = trailer_line, [READ_FINISHED] = NULL,
};

static enum progress line_take(struct decoder *decoder, const char **at, const char *end)
{
    const char *line;
    size_t bytes;
    uint64_t offset = decoder->offset - decoder->line_bytes;
    size_t used = decoder_line(decoder, *at, (size_t)(end - *at), &line, &bytes);
    uint32_t state = decoder->wire.http.state;
    if (decoder->answer.phase == PHASE_NOTHING)
        decoder->answer.phase = PHASE_HEADERS;
    if (state >= READ_CHUNK_SIZE && state <= READ_CHUNK_END)
        decoder->header_bytes = 0; /* only header blocks are limited, not the number of chunks */
    if (bytes == SIZE_MAX || decoder->header_bytes > HEADER_BYTES_MAX)
        return decoder_malformed(decoder, offset, "header line over %d or headers over %d bytes",
                                 LINE_BYTES_MAX, HEADER_BYTES_MAX);
    *at += used;
    decoder->offset += used;
    if (line == NULL)
        return PROGRESS_MORE;
    if (bytes == 0 || line[bytes - 1] != '\r')
        return decoder_malformed(decoder, offset + bytes, "LF without CR, expected CR LF");
    return line_readers[state](decoder, line, bytes - 1, offset);
}

static void body_take(struct decoder *decoder, const char **at, const char *end)
{
    struct http_state *state = &decoder->wire.http;
    size_t count = (size_t)(end - *at);
    if (state->state != READ_BODY_UNTIL_CLOSED && count > state->left)
        count = (size_t)state->left;
    decoder_body(decoder, *at, count);
    decoder->offset += count;
    *at += count;
    if (state->state == READ_BODY_UNTIL_CLOSED)
        return;
    state->left -= count;
    if (state->left > 0)
        return;
    if (state->state == READ_CHUNK)
        state->state = READ_CHUNK_END;
    else
        finish(decoder);
}

static enum progress http_feed(struct decoder *decoder, const char *bytes, size_t count)
{
    struct http_state *state = &decoder->wire.http;
    const char *end = bytes + count;
    enum progress progress = PROGRESS_MORE;
    while (bytes < end && progress == PROGRESS_MORE) {
        switch ((enum http_read_state)state->state) {
        case READ_BODY_COUNTED:
        case READ_BODY_UNTIL_CLOSED:
        case READ_CHUNK:
            body_take(decoder, &bytes, end);
            break;
        case READ_FINISHED:
            return decoder_malformed(decoder, decoder->offset, "more bytes after the answer, expected none");
        default:
            progress = line_take(decoder, &bytes, end);
        }
    }
    if (progress != PROGRESS_MORE)
        return progress;
    return state->state == READ_FINISHED ? PROGRESS_DONE : PROGRESS_MORE;
}

static enum progress http_closed(struct decoder *decoder)
{
    if (decoder->wire.http.state != READ_BODY_UNTIL_CLOSED)
        return PROGRESS_MORE;
    finish(decoder);
    return PROGRESS_DONE;
}

const struct protocol protocol_http = {
    .name = "HTTP",
    .answer_end = "the end of the answer",
    .plan = http_plan,
    .write_head = http_write_head,
    .body_wire_bytes = http_body_wire_bytes,
    .body_pieces = http_body_pieces,
    .feed = http_feed,
    .closed = http_closed,
};
