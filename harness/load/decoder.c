#include "harness/load/decoder.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

enum progress decoder_malformed(struct decoder *decoder, uint64_t offset, const char *format, ...)
{
    int used =
        snprintf(decoder->reason, REASON_BYTES, "malformed at byte %llu: ", (unsigned long long)offset);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(decoder->reason + used, REASON_BYTES - (size_t)used, format, arguments);
    va_end(arguments);
    return PROGRESS_BAD;
}

static void keep_tail(struct answer *answer, const char *bytes, size_t count)
{
    if (count >= ANSWER_TAIL_BYTES) {
        memcpy(answer->tail, bytes + count - ANSWER_TAIL_BYTES, ANSWER_TAIL_BYTES);
        answer->tail_bytes = ANSWER_TAIL_BYTES;
        return;
    }
    size_t old = answer->tail_bytes;
    size_t drop = old + count > ANSWER_TAIL_BYTES ? old + count - ANSWER_TAIL_BYTES : 0;
    memmove(answer->tail, answer->tail + drop, old - drop);
    memcpy(answer->tail + old - drop, bytes, count);
    answer->tail_bytes = (uint32_t)(old - drop + count);
}

void decoder_body(struct decoder *decoder, const char *bytes, size_t count)
{
    struct answer *answer = &decoder->answer;
    answer->body_bytes += count;
    if (answer->head_bytes < ANSWER_HEAD_BYTES) {
        size_t room = ANSWER_HEAD_BYTES - answer->head_bytes;
        size_t kept = count < room ? count : room;
        memcpy(answer->head + answer->head_bytes, bytes, kept);
        answer->head_bytes += (uint32_t)kept;
    }
    if (decoder->keep_tail)
        keep_tail(answer, bytes, count);
}

size_t decoder_line(struct decoder *decoder, const char *bytes, size_t count, const char **line,
                    size_t *line_bytes)
{
    const char *feed = memchr(bytes, '\n', count);
    size_t taken = feed != NULL ? (size_t)(feed - bytes) : count;
    size_t consumed = feed != NULL ? taken + 1 : taken;
    *line = NULL;
    *line_bytes = 0;
    decoder->header_bytes += consumed;
    if (decoder->line_bytes + taken > LINE_BYTES_MAX) {
        *line_bytes = SIZE_MAX;
        return consumed;
    }
    if (feed != NULL && decoder->line_bytes == 0) {
        *line = bytes;
        *line_bytes = taken;
        return consumed;
    }
    memcpy(decoder->line + decoder->line_bytes, bytes, taken);
    decoder->line_bytes += (uint32_t)taken;
    if (feed != NULL) {
        *line = decoder->line;
        *line_bytes = decoder->line_bytes;
        decoder->line_bytes = 0;
    }
    return consumed;
}

/* RFC 9110: the bytes a field name is made of, and those that a field value may not have. */
static const bool name_byte[256] = {
    ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1,         ['&'] = 1,         ['\''] = 1,
    ['*'] = 1, ['+'] = 1, ['-'] = 1, ['.'] = 1,         ['^'] = 1,         ['_'] = 1,
    ['`'] = 1, ['|'] = 1, ['~'] = 1, ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1,
};

static bool control_byte(unsigned char byte)
{
    return (byte < ' ' && byte != '\t') || byte == 0x7f;
}

struct field {
    const char *value;
    size_t bytes;
    uint64_t offset;
};

static enum progress field_status(struct decoder *decoder, const struct field *field)
{
    const char *text = field->value;
    if (decoder->answer.status != 0)
        return decoder_malformed(decoder, field->offset, "a second Status, expected one");
    bool digits = field->bytes >= 3 && text[0] >= '1' && text[0] <= '5' && text[1] >= '0' && text[1] <= '9' &&
                  text[2] >= '0' && text[2] <= '9' && (field->bytes == 3 || text[3] == ' ');
    if (!digits)
        return decoder_malformed(decoder, field->offset, "bad Status, expected three digits of 100 to 599");
    decoder->answer.status = (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0');
    return PROGRESS_MORE;
}

static enum progress field_content_length(struct decoder *decoder, const struct field *field)
{
    int64_t length = 0;
    if (field->bytes == 0 || field->bytes > 18)
        return decoder_malformed(decoder, field->offset, "bad Content-Length, expected 1 to 18 digits");
    for (size_t i = 0; i < field->bytes; i++) {
        char digit = field->value[i];
        if (digit < '0' || digit > '9')
            return decoder_malformed(decoder, field->offset + i, "bad Content-Length, expected a digit");
        length = length * 10 + (digit - '0');
    }
    if (decoder->answer.content_length >= 0 && decoder->answer.content_length != length)
        return decoder_malformed(decoder, field->offset, "a second, different Content-Length, expected one");
    decoder->answer.content_length = length;
    return PROGRESS_MORE;
}

static enum progress field_marker(struct decoder *decoder, const struct field *field)
{
    struct answer *answer = &decoder->answer;
    if (answer->marker_seen)
        return decoder_malformed(decoder, field->offset, "a second X-Ordeal-Marker, expected one");
    answer->marker_seen = true;
    answer->marker_bytes =
        (uint32_t)(field->bytes < ANSWER_MARKER_BYTES ? field->bytes : ANSWER_MARKER_BYTES);
    memcpy(answer->marker, field->value, answer->marker_bytes);
    return PROGRESS_MORE;
}

static enum progress field_transfer_encoding(struct decoder *decoder, const struct field *field)
{
    if (decoder->answer.chunked || field->bytes != 7 || strncasecmp(field->value, "chunked", 7) != 0)
        return decoder_malformed(decoder, field->offset, "bad Transfer-Encoding, expected chunked, once");
    decoder->answer.chunked = true;
    return PROGRESS_MORE;
}

static enum progress field_connection(struct decoder *decoder, const struct field *field)
{
    if (field->bytes == 5 && strncasecmp(field->value, "close", 5) == 0)
        decoder->answer.will_close = true;
    else if (field->bytes == 10 && strncasecmp(field->value, "keep-alive", 10) == 0)
        decoder->answer.will_close = false;
    return PROGRESS_MORE;
}

enum field_scope { SCOPE_BOTH, SCOPE_CGI, SCOPE_HTTP };

struct known_field {
    const char *name;
    size_t bytes;
    enum field_scope scope;
    enum progress (*read)(struct decoder *decoder, const struct field *field);
};

#define KNOWN(name, scope, read)                                                                             \
    {                                                                                                        \
        name, sizeof name - 1, scope, read                                                                   \
    }
static const struct known_field known_fields[] = {
    KNOWN("Status", SCOPE_CGI, field_status),
    KNOWN("Content-Length", SCOPE_BOTH, field_content_length),
    KNOWN("X-Ordeal-Marker", SCOPE_BOTH, field_marker),
    KNOWN("Transfer-Encoding", SCOPE_HTTP, field_transfer_encoding),
    KNOWN("Connection", SCOPE_HTTP, field_connection),
};

static const struct known_field *known_field(const char *name, size_t bytes, bool cgi)
{
    for (size_t i = 0; i < sizeof known_fields / sizeof known_fields[0]; i++) {
        const struct known_field *known = &known_fields[i];
        if (known->bytes == bytes && (known->name[0] | 0x20) == (name[0] | 0x20) &&
            strncasecmp(known->name, name, bytes) == 0)
            return known->scope == (cgi ? SCOPE_HTTP : SCOPE_CGI) ? NULL : known;
    }
    return NULL;
}

enum progress decoder_header(struct decoder *decoder, bool cgi, const char *line, size_t bytes,
                             uint64_t offset)
{
    size_t name = 0;
    while (name < bytes && name_byte[(unsigned char)line[name]])
        name++;
    if (name == 0 || name == bytes || line[name] != ':')
        return decoder_malformed(decoder, offset + name, "bad header line, expected 'Name: value'");
    size_t start = name + 1;
    while (start < bytes && (line[start] == ' ' || line[start] == '\t'))
        start++;
    size_t end = bytes;
    while (end > start && (line[end - 1] == ' ' || line[end - 1] == '\t'))
        end--;
    for (size_t i = start; i < end; i++) {
        if (control_byte((unsigned char)line[i]))
            return decoder_malformed(decoder, offset + i,
                                     "control byte 0x%02x in a header value, expected text",
                                     (unsigned char)line[i]);
    }
    const struct known_field *known = known_field(line, name, cgi);
    struct field field = {line + start, end - start, offset + start};
    return known == NULL ? PROGRESS_MORE : known->read(decoder, &field);
}
