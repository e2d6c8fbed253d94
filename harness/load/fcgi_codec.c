/*
 * FastCGI 1.0, the responder role, from the web server's side.
 *
 * Everything is records: version, type, request id, content length, padding length, content, padding. A
 * request is BEGIN_REQUEST, PARAMS (name-value pairs, then an empty one), STDIN (the body, then an empty
 * one). The answer is STDOUT (a CGI answer: header lines, an empty line, the body), perhaps STDERR,
 * END_REQUEST.
 *
 * Reading is strict: a record that a responder may not send here makes the answer malformed.
 */
#include "harness/load/marker.h"
#include "harness/load/protocol.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FCGI_VERSION = 1,
    FCGI_REQUEST_ID = 1,
    FCGI_HEADER_BYTES = 8,
    FCGI_ROLE_RESPONDER = 1,
    FCGI_KEEP_CONN = 1
};
enum {
    FCGI_BEGIN_REQUEST = 1,
    FCGI_END_REQUEST = 3,
    FCGI_PARAMS = 4,
    FCGI_STDIN = 5,
    FCGI_STDOUT = 6,
    FCGI_STDERR = 7
};
enum { STATE_HEADER, STATE_CONTENT, STATE_PADDING, STATE_FINISHED };

#define PARAMS_BYTES_MAX 65535u
#define STDIN_CHUNK 65528u /* a multiple of 8, as the specification recommends */
#define STDIN_RECORD (STDIN_CHUNK + FCGI_HEADER_BYTES)
#define VALUE_BYTES_SHORT 127u

/* ---- writing ---- */

#define RECORD(type, bytes)                                                                                  \
    {                                                                                                        \
        FCGI_VERSION, type, 0, FCGI_REQUEST_ID, (unsigned char)((bytes) >> 8), (unsigned char)((bytes)&255), \
            0, 0                                                                                             \
    }

static unsigned char *record_write(unsigned char *out, unsigned char type, size_t bytes)
{
    const unsigned char header[FCGI_HEADER_BYTES] = RECORD(type, bytes);
    memcpy(out, header, sizeof header);
    return out + sizeof header;
}

/* Lengths up to 127 take one byte, others four with the top bit set. */
static unsigned char *length_write(unsigned char *out, size_t bytes, bool wide)
{
    if (!wide) {
        *out = (unsigned char)bytes;
        return out + 1;
    }
    out[0] = (unsigned char)(bytes >> 24 | 0x80u);
    out[1] = (unsigned char)(bytes >> 16);
    out[2] = (unsigned char)(bytes >> 8);
    out[3] = (unsigned char)bytes;
    return out + 4;
}

static size_t param_bytes_max(size_t name_bytes, size_t value_bytes_max)
{
    return 8 + name_bytes + value_bytes_max;
}

/* A parameter is opened with the most its value can have, then the value is written, then it is closed. */
struct param {
    unsigned char *lengths, *value;
    bool wide;
};

static struct param param_open(unsigned char *out, const char *name, size_t value_bytes_max)
{
    size_t name_bytes = strlen(name);
    bool wide = value_bytes_max > VALUE_BYTES_SHORT;
    out = length_write(out, name_bytes, name_bytes > VALUE_BYTES_SHORT);
    struct param param = {.lengths = out, .wide = wide};
    out = length_write(out, 0, wide);
    memcpy(out, name, name_bytes);
    param.value = out + name_bytes;
    return param;
}

static unsigned char *param_close(const struct param *param, unsigned char *end)
{
    length_write(param->lengths, (size_t)(end - param->value), param->wide);
    return end;
}

static unsigned char *param_bytes(unsigned char *out, const char *name, const char *value, size_t bytes)
{
    struct param param = param_open(out, name, bytes);
    memcpy(param.value, value, bytes);
    return param_close(&param, param.value + bytes);
}

static unsigned char *param_template(unsigned char *out, const char *name, const char *prefix,
                                     size_t prefix_bytes, const struct template *template,
                                     const struct template_values *values)
{
    struct param param = param_open(out, name, prefix_bytes + template->bytes_max);
    memcpy(param.value, prefix, prefix_bytes);
    char *end = template_expand(template, values, (char *)param.value + prefix_bytes);
    return param_close(&param, (unsigned char *)end);
}

struct fixed_param {
    const char *name, *value;
};

/* What a web server would say, whatever is asked for (nginx's fastcgi_params). */
static unsigned char *fixed_params_write(unsigned char *out, const struct mix_line *line,
                                         const struct wire_settings *settings)
{
    bool form = line->body_text.count > 0;
    bool typed = (line->body_bytes > 0 || form) && !line->has_content_type;
    const struct fixed_param params[] = {
        {"GATEWAY_INTERFACE", "CGI/1.1"},
        {"SERVER_SOFTWARE", "ordeal-load"},
        {"SERVER_PROTOCOL", "HTTP/1.1"},
        {"SERVER_NAME", "localhost"},
        {"SERVER_ADDR", "127.0.0.1"},
        {"SERVER_PORT", "80"},
        {"REMOTE_ADDR", "127.0.0.1"},
        {"REMOTE_PORT", "0"},
        {"REQUEST_SCHEME", "http"},
        {"REDIRECT_STATUS", "200"},
        {"HTTP_HOST", settings->host},
        {"DOCUMENT_ROOT", settings->root},
        {"REQUEST_METHOD", line->method},
        {typed ? "CONTENT_TYPE" : NULL,
         form ? "application/x-www-form-urlencoded" : "application/octet-stream"},
    };
    for (size_t i = 0; i < sizeof params / sizeof params[0]; i++) {
        if (params[i].name != NULL)
            out = param_bytes(out, params[i].name, params[i].value, strlen(params[i].value));
    }
    return out;
}

/* "X-Foo" is spelled HTTP_X_FOO; Content-Type has a name of its own. */
static char *param_name(const char *header)
{
    if (strcasecmp(header, "Content-Type") == 0)
        return strdup("CONTENT_TYPE");
    char *name = NULL;
    if (asprintf(&name, "HTTP_%s", header) < 0)
        return NULL;
    for (char *at = name; *at != '\0'; at++)
        *at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
    return name;
}

static size_t fcgi_dynamic_bytes_max(const struct mix_line *line, const struct wire_settings *settings)
{
    size_t path = line->script.bytes_max + line->path_info.bytes_max;
    size_t bytes = param_bytes_max(15, strlen(settings->root) + line->script.bytes_max);
    bytes += param_bytes_max(11, line->script.bytes_max) + param_bytes_max(9, line->path_info.bytes_max);
    bytes += param_bytes_max(12, path) + param_bytes_max(12, line->query.bytes_max);
    bytes += param_bytes_max(11, path + 1 + line->query.bytes_max);
    bytes += param_bytes_max(14, 20) + param_bytes_max(20, MARKER_BYTES);
    for (size_t i = 0; i < line->header_count; i++)
        bytes += param_bytes_max(strlen(line->headers[i].name) + 5, line->headers[i].value.bytes_max);
    return bytes;
}

static bool fcgi_plan(struct wire_plan *plan, const struct wire_settings *settings, char *error,
                      size_t error_bytes)
{
    const struct mix_line *line = plan->line;
    size_t room = 1024 + strlen(settings->host) + strlen(settings->root);
    plan->fixed = malloc(room);
    for (size_t i = 0; i < line->header_count; i++)
        plan->header_names[i] = param_name(line->headers[i].name);
    if (plan->fixed == NULL) {
        snprintf(error, error_bytes, "out of memory");
        return false;
    }
    unsigned char *out = record_write(plan->fixed, FCGI_BEGIN_REQUEST, 8);
    const unsigned char begin[8] = {0, FCGI_ROLE_RESPONDER, settings->keep_alive ? FCGI_KEEP_CONN : 0};
    memcpy(out, begin, sizeof begin);
    out = record_write(out + sizeof begin, FCGI_PARAMS, 0);
    out = fixed_params_write(out, line, settings);
    plan->fixed_bytes = (size_t)(out - plan->fixed);
    size_t params = plan->fixed_bytes + fcgi_dynamic_bytes_max(line, settings);
    if (params > PARAMS_BYTES_MAX) {
        snprintf(error, error_bytes, "%s %s: its parameters may take %zu bytes, at most %u fit in a record",
                 line->method, line->target, params, PARAMS_BYTES_MAX);
        return false;
    }
    plan->head_bytes_max = params + 2 * FCGI_HEADER_BYTES;
    return true;
}

static unsigned char *request_uri_write(unsigned char *out, const struct mix_line *line,
                                        const struct template_values *values)
{
    size_t bytes_max = line->script.bytes_max + line->path_info.bytes_max + 1 + line->query.bytes_max;
    struct param param = param_open(out, "REQUEST_URI", bytes_max);
    char *end = template_expand(&line->script, values, (char *)param.value);
    end = template_expand(&line->path_info, values, end);
    if (line->has_query) {
        *end++ = '?';
        end = template_expand(&line->query, values, end);
    }
    return param_close(&param, (unsigned char *)end);
}

static size_t fcgi_write_head(const struct request *request, const struct wire_settings *settings,
                              unsigned char *out)
{
    const struct wire_plan *plan = request->plan;
    const struct mix_line *line = plan->line;
    struct template_values values = {settings->seed, request->number, request->marker};
    unsigned char *start = out;
    unsigned char *params = out + FCGI_HEADER_BYTES + 8;
    memcpy(out, plan->fixed, plan->fixed_bytes);
    out += plan->fixed_bytes;
    out = param_template(out, "SCRIPT_FILENAME", settings->root, strlen(settings->root), &line->script,
                         &values);
    out = param_template(out, "SCRIPT_NAME", "", 0, &line->script, &values);
    if (line->path_info.count > 0)
        out = param_template(out, "PATH_INFO", "", 0, &line->path_info, &values);
    out = request_uri_write(out, line, &values);
    out = param_template(out, "QUERY_STRING", "", 0, &line->query, &values);
    out = param_bytes(out, "HTTP_X_ORDEAL_MARKER", request->marker, MARKER_BYTES);
    for (size_t i = 0; i < line->header_count; i++)
        out = param_template(out, plan->header_names[i], "", 0, &line->headers[i].value, &values);
    char length[24] = "";
    if (request->body_bytes > 0)
        snprintf(length, sizeof length, "%llu", (unsigned long long)request->body_bytes);
    out = param_bytes(out, "CONTENT_LENGTH", length, strlen(length));
    record_write(params, FCGI_PARAMS, (size_t)(out - params) - FCGI_HEADER_BYTES);
    out = record_write(out, FCGI_PARAMS, 0);
    if (request->body_bytes == 0)
        out = record_write(out, FCGI_STDIN, 0);
    return (size_t)(out - start);
}

/* A body is cut into records of STDIN_CHUNK bytes and ended by an empty one; no body is part of the head. */
static uint64_t fcgi_body_wire_bytes(uint64_t body_bytes)
{
    if (body_bytes == 0)
        return 0;
    uint64_t records = (body_bytes + STDIN_CHUNK - 1) / STDIN_CHUNK;
    return body_bytes + (records + 1) * FCGI_HEADER_BYTES;
}

static int fcgi_body_pieces(const struct request *request, uint64_t wire_offset, struct iovec *iov,
                            int iov_max)
{
    static const unsigned char full[FCGI_HEADER_BYTES] = RECORD(FCGI_STDIN, STDIN_CHUNK);
    static const unsigned char empty[FCGI_HEADER_BYTES] = RECORD(FCGI_STDIN, 0);
    static _Thread_local unsigned char last[FCGI_HEADER_BYTES];
    uint64_t full_records = request->body_bytes / STDIN_CHUNK;
    uint64_t index = wire_offset / STDIN_RECORD < full_records ? wire_offset / STDIN_RECORD : full_records;
    size_t skip = (size_t)(wire_offset - index * STDIN_RECORD);
    int count = 0;
    uint64_t start = index * STDIN_CHUNK;
    assert(wire_offset < fcgi_body_wire_bytes(request->body_bytes));
    while (count + 2 <= iov_max) {
        uint64_t left = start < request->body_bytes ? request->body_bytes - start : 0;
        size_t bytes = (size_t)(left < STDIN_CHUNK ? left : STDIN_CHUNK);
        start += STDIN_CHUNK;
        if (skip >= FCGI_HEADER_BYTES + bytes) { /* the offset is in the empty record after a short one */
            skip -= FCGI_HEADER_BYTES + bytes;
            continue;
        }
        const unsigned char *header = bytes == STDIN_CHUNK ? full : bytes == 0 ? empty : last;
        if (header == last)
            record_write(last, FCGI_STDIN, bytes);
        if (skip < FCGI_HEADER_BYTES)
            iov[count++] = (struct iovec){(void *)(uintptr_t)(header + skip), FCGI_HEADER_BYTES - skip};
        size_t inside = skip < FCGI_HEADER_BYTES ? 0 : skip - FCGI_HEADER_BYTES;
        if (bytes == 0)
            break;
        const unsigned char *from = request->body + (start - STDIN_CHUNK) + inside;
        iov[count++] = (struct iovec){(void *)(uintptr_t)from, bytes - inside};
        skip = 0;
    }
    return count;
}

/* ---- reading ---- */

static enum progress headers_end(struct decoder *decoder)
{
    struct answer *answer = &decoder->answer;
    if (answer->status == 0)
        answer->status = 200;
    answer->phase = PHASE_BODY;
    return PROGRESS_MORE;
}

/* STDOUT's content: the CGI answer. `offset` is where its first byte stands in the answer. */
static enum progress stdout_content(struct decoder *decoder, const char *bytes, size_t count, uint64_t offset)
{
    while (count > 0 && decoder->answer.phase != PHASE_BODY) {
        const char *line;
        size_t line_bytes;
        uint64_t line_offset =
            offset - decoder->line_bytes; /* exact unless a record begins inside the line */
        size_t used = decoder_line(decoder, bytes, count, &line, &line_bytes);
        decoder->answer.phase = PHASE_HEADERS;
        if (line_bytes == SIZE_MAX || decoder->header_bytes > HEADER_BYTES_MAX)
            return decoder_malformed(decoder, line_offset, "header line over %d or headers over %d bytes",
                                     LINE_BYTES_MAX, HEADER_BYTES_MAX);
        bytes += used;
        count -= used;
        offset += used;
        if (line == NULL)
            continue;
        if (line_bytes > 0 && line[line_bytes - 1] == '\r')
            line_bytes--;
        enum progress progress = line_bytes == 0
                                     ? headers_end(decoder)
                                     : decoder_header(decoder, true, line, line_bytes, line_offset);
        if (progress != PROGRESS_MORE)
            return progress;
    }
    if (count > 0)
        decoder_body(decoder, bytes, count);
    return PROGRESS_MORE;
}

static void stderr_content(struct answer *answer, const char *bytes, size_t count)
{
    size_t room = ANSWER_HEAD_BYTES - answer->stderr_bytes;
    size_t kept = count < room ? count : room;
    memcpy(answer->errors + answer->stderr_bytes, bytes, kept);
    answer->stderr_bytes += (uint32_t)kept;
}

static enum progress record_type_check(struct decoder *decoder, unsigned type, unsigned bytes,
                                       uint64_t offset)
{
    struct fcgi_state *state = &decoder->wire.fcgi;
    if (type != FCGI_STDOUT && type != FCGI_STDERR && type != FCGI_END_REQUEST)
        return decoder_malformed(decoder, offset + 1,
                                 "record type %u, expected STDOUT (6), STDERR (7) or END_REQUEST (3)", type);
    if (type == FCGI_END_REQUEST && bytes != 8)
        return decoder_malformed(decoder, offset + 4, "END_REQUEST of %u bytes, expected 8", bytes);
    if (type == FCGI_STDOUT && state->stdout_ended)
        return decoder_malformed(decoder, offset + 1,
                                 "STDOUT after its end (an empty record), expected END_REQUEST (3)");
    if (type == FCGI_STDOUT && bytes == 0)
        state->stdout_ended = true;
    return PROGRESS_MORE;
}

static enum progress record_header(struct decoder *decoder, const unsigned char *header)
{
    struct fcgi_state *state = &decoder->wire.fcgi;
    uint64_t offset = decoder->offset - FCGI_HEADER_BYTES;
    unsigned id = (unsigned)header[2] << 8 | header[3];
    if (header[0] != FCGI_VERSION)
        return decoder_malformed(decoder, offset, "record version %u, expected %d", header[0], FCGI_VERSION);
    if (id != FCGI_REQUEST_ID)
        return decoder_malformed(decoder, offset + 2, "record of request id %u, expected %d", id,
                                 FCGI_REQUEST_ID);
    state->type = header[1];
    state->content_left = (uint32_t)header[4] << 8 | header[5];
    state->padding_left = header[6];
    state->have = 0;
    state->state = STATE_CONTENT;
    return record_type_check(decoder, state->type, state->content_left, offset);
}

static enum progress end_request(struct decoder *decoder, const unsigned char *content)
{
    struct answer *answer = &decoder->answer;
    unsigned status = content[4];
    uint64_t offset = decoder->offset - 8;
    if (status > REFUSAL_UNKNOWN_ROLE)
        return decoder_malformed(decoder, offset + 4, "protocolStatus %u in END_REQUEST, expected 0 to 3",
                                 status);
    answer->refusal = (enum refusal)status;
    if (answer->refusal != REFUSAL_NONE)
        return PROGRESS_MORE;
    if (answer->phase != PHASE_BODY)
        return decoder_malformed(decoder, offset - FCGI_HEADER_BYTES,
                                 answer->phase == PHASE_NOTHING
                                     ? "END_REQUEST without any STDOUT, expected an answer"
                                     : "END_REQUEST inside the header block, expected its empty line");
    if (answer->content_length >= 0 && (uint64_t)answer->content_length != answer->body_bytes &&
        !decoder->head_request)
        return decoder_malformed(decoder, offset - FCGI_HEADER_BYTES,
                                 "END_REQUEST after %llu bytes of body, expected the %lld of Content-Length",
                                 (unsigned long long)answer->body_bytes, (long long)answer->content_length);
    return PROGRESS_MORE;
}

/* Gathers the 8 bytes of a record header or of END_REQUEST's content; NULL while some are missing. */
static const unsigned char *gather(struct decoder *decoder, const char **at, const char *end)
{
    struct fcgi_state *state = &decoder->wire.fcgi;
    size_t available = (size_t)(end - *at);
    const unsigned char *whole = (const unsigned char *)*at;
    size_t wanted = 8 - state->have;
    size_t taken = available < wanted ? available : wanted;
    decoder->offset += taken;
    *at += taken;
    if (state->have == 0 && taken == 8)
        return whole;
    memcpy(state->gathered + state->have, whole, taken);
    state->have += (uint32_t)taken;
    return state->have == 8 ? state->gathered : NULL;
}

static enum progress content_take(struct decoder *decoder, const char **at, const char *end)
{
    struct fcgi_state *state = &decoder->wire.fcgi;
    size_t available = (size_t)(end - *at);
    size_t count = available < state->content_left ? available : state->content_left;
    const char *bytes = *at;
    enum progress progress = PROGRESS_MORE;
    if (state->type == FCGI_END_REQUEST) {
        const unsigned char *content = gather(decoder, at, end);
        state->content_left -= (uint32_t)count;
        return content == NULL ? PROGRESS_MORE : end_request(decoder, content);
    }
    if (state->type == FCGI_STDOUT)
        progress = stdout_content(decoder, bytes, count, decoder->offset);
    else
        stderr_content(&decoder->answer, bytes, count);
    decoder->offset += count;
    state->content_left -= (uint32_t)count;
    *at += count;
    return progress;
}

static void padding_take(struct decoder *decoder, const char **at, const char *end)
{
    struct fcgi_state *state = &decoder->wire.fcgi;
    size_t available = (size_t)(end - *at);
    size_t count = available < state->padding_left ? available : state->padding_left;
    state->padding_left -= (uint32_t)count;
    decoder->offset += count;
    *at += count;
}

/* Leaves the states that have nothing left to wait for. */
static void state_advance(struct fcgi_state *state)
{
    if (state->state == STATE_CONTENT && state->content_left == 0)
        state->state = STATE_PADDING;
    if (state->state == STATE_PADDING && state->padding_left == 0) {
        state->state = state->type == FCGI_END_REQUEST ? STATE_FINISHED : STATE_HEADER;
        state->have = 0;
    }
}

static enum progress fcgi_feed(struct decoder *decoder, const char *bytes, size_t count)
{
    struct fcgi_state *state = &decoder->wire.fcgi;
    const char *end = bytes + count;
    enum progress progress = PROGRESS_MORE;
    while (bytes < end && progress == PROGRESS_MORE) {
        if (state->state == STATE_HEADER) {
            const unsigned char *header = gather(decoder, &bytes, end);
            if (header != NULL)
                progress = record_header(decoder, header);
        } else if (state->state == STATE_CONTENT) {
            progress = content_take(decoder, &bytes, end);
        } else if (state->state == STATE_PADDING) {
            padding_take(decoder, &bytes, end);
        } else {
            return decoder_malformed(decoder, decoder->offset, "more bytes after END_REQUEST, expected none");
        }
        if (progress == PROGRESS_MORE && state->state != STATE_HEADER)
            state_advance(state);
    }
    if (progress != PROGRESS_MORE || state->state != STATE_FINISHED)
        return progress;
    decoder->answer.phase = PHASE_FINISHED;
    return PROGRESS_DONE;
}

static enum progress fcgi_closed(struct decoder *decoder)
{
    (void)decoder;
    return PROGRESS_MORE; /* a FastCGI answer never ends by closing */
}

const struct protocol protocol_fcgi = {
    .name = "FastCGI",
    .answer_end = "END_REQUEST",
    .plan = fcgi_plan,
    .write_head = fcgi_write_head,
    .body_wire_bytes = fcgi_body_wire_bytes,
    .body_pieces = fcgi_body_pieces,
    .feed = fcgi_feed,
    .closed = fcgi_closed,
};
