#include "harness/load/mix.h"

#include "harness/load/marker.h"
#include "harness/load/mix_body.h"
#include "harness/load/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIX_FILE_BYTES_MAX (1u << 20)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Where the reader is, for its messages. */
struct reader {
    const char *file;
    unsigned line_number;
    const char *line_start;
    char *error;
};

static const char *const methods[] = {"GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"};
static const char *const marker_modes[] = {
    [MARKER_HEADER] = "header", [MARKER_BODY] = "body", [MARKER_OFF] = "off"};

__attribute__((format(printf, 3, 4))) static bool refuse(const struct reader *reader, const char *at,
                                                         const char *format, ...)
{
    int used = snprintf(reader->error, MIX_ERROR_BYTES, "%s:%u:%td: ", reader->file, reader->line_number,
                        at - reader->line_start + 1);
    size_t offset = used < 0 ? 0 : (size_t)used;
    if (offset >= MIX_ERROR_BYTES)
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error + offset, MIX_ERROR_BYTES - offset, format, arguments);
    va_end(arguments);
    return false;
}

static bool refuse_word(const struct reader *reader, const char *at, const char *what, const char *word,
                        const char *const *words, size_t count)
{
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    const char *nearest = text_nearest(word, words, count);
    return refuse(reader, at, "unknown %s '%.60s', expected one of %s%s%s%s", what, word, list,
                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* The next token of the line, terminated in place; NULL at its end or at a comment. */
static char *next_token(char **cursor, bool *unclosed)
{
    char *at = *cursor + strspn(*cursor, " \t\r");
    *unclosed = false;
    if (*at == '\0' || *at == '#')
        return NULL;
    bool quoted = *at == '"';
    char *start = at + quoted;
    char *end = quoted ? strchr(start, '"') : start + strcspn(start, " \t\r");
    if (end == NULL) {
        *unclosed = true;
        end = start + strlen(start);
    }
    *cursor = *end == '\0' ? end : end + 1;
    *end = '\0';
    return start;
}

static bool read_template(const struct reader *reader, struct template *template, const char *text,
                          size_t bytes)
{
    size_t offset = 0;
    char message[256];
    if (template_parse(template, text, bytes, &offset, message, sizeof message))
        return true;
    return refuse(reader, text + offset, "%s", message);
}

static bool option_expect(const struct reader *reader, struct mix_line *line, char *value)
{
    uint64_t status;
    if (strlen(value) != 3 || !text_count(value, &status) || status < 100 || status > 599)
        return refuse(reader, value, "expect='%.20s', expected a status of 100 to 599, such as expect=500",
                      value);
    line->expect = (int)status;
    return true;
}

static bool option_marker(const struct reader *reader, struct mix_line *line, char *value)
{
    for (size_t i = 0; i < COUNT(marker_modes); i++) {
        if (strcmp(value, marker_modes[i]) == 0) {
            line->marker = (enum marker_mode)i;
            return true;
        }
    }
    return refuse_word(reader, value, "marker mode", value, marker_modes, COUNT(marker_modes));
}

static bool option_name(const struct reader *reader, struct mix_line *line, char *value)
{
    if (*value == '\0')
        return refuse(reader, value, "name= is empty, expected a label for the report");
    line->name = value;
    return true;
}

static bool option_body(const struct reader *reader, struct mix_line *line, char *value)
{
    char message[256];
    if (line->body != NULL || line->body_text.count > 0)
        return refuse(reader, value, "a second body=, expected at most one");
    if (strncmp(value, "text:", 5) == 0)
        return read_template(reader, &line->body_text, value + 5, strlen(value + 5));
    bool good = *value == '@' ? mix_body_file(line, reader->file, value + 1, message, sizeof message)
                              : mix_body_generated(line, value, message, sizeof message);
    return good || refuse(reader, value, "%s", message);
}

static bool header_name_is_good(const char *name)
{
    static const char token[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";
    return name[0] != '\0' && name[strspn(name, token)] == '\0';
}

static bool option_header(const struct reader *reader, struct mix_line *line, char *value)
{
    char *equals = strchr(value, '=');
    if (equals == NULL)
        return refuse(reader, value, "header:%.60s has no value, expected header:NAME=VALUE", value);
    *equals = '\0';
    if (!header_name_is_good(value))
        return refuse(reader, value, "'%.60s' is not a header name, expected letters, digits and '-'", value);
    if (line->header_count == MIX_HEADERS_MAX)
        return refuse(reader, value, "too many headers, at most %d a line", MIX_HEADERS_MAX);
    struct mix_header *header = &line->headers[line->header_count++];
    header->name = value;
    if (!read_template(reader, &header->value, equals + 1, strlen(equals + 1)))
        return false;
    line->has_content_type |= strcasecmp(value, "Content-Type") == 0;
    return true;
}

struct mix_option {
    const char *prefix;
    bool (*read)(const struct reader *reader, struct mix_line *line, char *value);
};

static const struct mix_option mix_options[] = {
    {"expect=", option_expect}, {"body=", option_body}, {"marker=", option_marker},
    {"header:", option_header}, {"name=", option_name},
};

static bool read_option(const struct reader *reader, struct mix_line *line, char *token)
{
    const char *prefixes[COUNT(mix_options)];
    for (size_t i = 0; i < COUNT(mix_options); i++) {
        size_t bytes = strlen(mix_options[i].prefix);
        if (strncmp(token, mix_options[i].prefix, bytes) == 0)
            return mix_options[i].read(reader, line, token + bytes);
        prefixes[i] = mix_options[i].prefix;
    }
    char word[32];
    size_t bytes = strcspn(token, "=:");
    bytes += token[bytes] != '\0';
    snprintf(word, sizeof word, "%.*s", (int)(bytes < 31 ? bytes : 31), token);
    return refuse_word(reader, token, "option", word, prefixes, COUNT(prefixes));
}

/* Cuts "/index.php/a/b?x=1" into its script, path information and query. */
static bool read_target(const struct reader *reader, struct mix_line *line, const char *target)
{
    if (target[0] != '/')
        return refuse(reader, target,
                      "target '%.60s' does not begin with '/', expected a path such as /hello.php", target);
    for (const char *at = target; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ' || *at == 0x7f)
            return refuse(reader, at, "a target has no spaces or control bytes, expected %%20");
    }
    line->target = target;
    size_t path_bytes = strcspn(target, "?");
    const char *script = strstr(target, ".php/");
    size_t script_bytes =
        script != NULL && (size_t)(script - target) < path_bytes ? (size_t)(script - target) + 4 : path_bytes;
    line->has_query = target[path_bytes] == '?';
    const char *query = target + path_bytes + line->has_query;
    return read_template(reader, &line->script, target, script_bytes) &&
           read_template(reader, &line->path_info, target + script_bytes, path_bytes - script_bytes) &&
           read_template(reader, &line->query, query, strlen(query));
}

static bool read_weight(const struct reader *reader, struct mix_line *line, const char *token)
{
    uint64_t weight;
    if (!text_count(token, &weight) || weight < 1 || weight > MIX_WEIGHT_MAX)
        return refuse(reader, token,
                      "weight '%.20s', expected a whole number of 1 to %d (WEIGHT METHOD TARGET)", token,
                      MIX_WEIGHT_MAX);
    line->weight = (uint32_t)weight;
    return true;
}

static bool read_method(const struct reader *reader, struct mix_line *line, const char *token)
{
    for (size_t i = 0; i < COUNT(methods); i++) {
        if (strcmp(token, methods[i]) == 0) {
            line->method = methods[i];
            return true;
        }
    }
    return refuse_word(reader, token, "method", token, methods, COUNT(methods));
}

static bool read_line(const struct reader *reader, struct mix *mix, char *text)
{
    bool unclosed;
    char *cursor = text;
    size_t bytes = strlen(text);
    char *token = next_token(&cursor, &unclosed);
    if (token == NULL)
        return true;
    if (bytes > MIX_LINE_BYTES_MAX)
        return refuse(reader, text, "line longer than %d bytes", MIX_LINE_BYTES_MAX);
    if (mix->count == MIX_LINES_MAX)
        return refuse(reader, text, "too many kinds of request, at most %d lines", MIX_LINES_MAX);
    struct mix_line *line = &mix->lines[mix->count++];
    line->expect = 200;
    for (int position = 0; token != NULL; position++, token = next_token(&cursor, &unclosed)) {
        if (unclosed)
            return refuse(reader, token - 1, "'\"' without a closing '\"'");
        bool good = position == 0   ? read_weight(reader, line, token)
                    : position == 1 ? read_method(reader, line, token)
                    : position == 2 ? read_target(reader, line, token)
                                    : read_option(reader, line, token);
        if (!good)
            return false;
    }
    if (line->method == NULL)
        return refuse(reader, cursor, "line ends, expected a method such as GET after the weight");
    if (line->target == NULL)
        return refuse(reader, cursor, "line ends, expected a target such as /hello.php after the method");
    mix->weight_sum += line->weight;
    return true;
}

bool mix_read_text(struct mix *mix, const char *name, const char *text, char error[MIX_ERROR_BYTES])
{
    struct reader reader = {.file = name, .error = error};
    *mix = (struct mix){.lines = calloc(MIX_LINES_MAX, sizeof *mix->lines), .text = strdup(text)};
    if (mix->lines == NULL || mix->text == NULL) {
        snprintf(error, MIX_ERROR_BYTES, "%s: out of memory", name);
        return false;
    }
    for (char *line = mix->text, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        reader.line_number++;
        reader.line_start = line;
        if (!read_line(&reader, mix, line))
            return false;
    }
    reader.line_start = mix->text;
    reader.line_number = 1;
    return mix->count > 0 ||
           refuse(&reader, mix->text, "no request in it, expected a line such as: 1 GET /hello.php");
}

bool mix_read_file(struct mix *mix, const char *path, char error[MIX_ERROR_BYTES])
{
    *mix = (struct mix){0};
    uint64_t bytes;
    unsigned char *text = mix_load_file(path, MIX_FILE_BYTES_MAX, &bytes, error, MIX_ERROR_BYTES);
    if (text == NULL)
        return false;
    bool good = mix_read_text(mix, path, (const char *)text, error);
    free(text);
    return good;
}

void mix_free(struct mix *mix)
{
    for (size_t i = 0; i < mix->count; i++)
        free(mix->lines[i].body);
    free(mix->lines);
    free(mix->text);
    *mix = (struct mix){0};
}

const struct mix_line *mix_choose(const struct mix *mix, uint64_t seed, uint64_t number)
{
    if (mix->count == 1)
        return &mix->lines[0];
    uint64_t ticket = request_random(seed, number, 77) % mix->weight_sum;
    const struct mix_line *line = mix->lines;
    while (ticket >= line->weight)
        ticket -= (line++)->weight;
    return line;
}
