#include "runtime/fiber/config/line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct span {
    const char *at, *end;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static struct span trim(struct span span)
{
    while (span.at < span.end && is_blank(*span.at))
        span.at++;
    while (span.end > span.at && is_blank(span.end[-1]))
        span.end--;
    return span;
}

static char *copy(struct span span)
{
    return strndup(span.at, (size_t)(span.end - span.at));
}

static struct line bad(const char *problem)
{
    return (struct line){.kind = LINE_BAD, .problem = problem};
}

/* ---- values ---- */

/* A value while it is put together. */
struct value {
    FILE *out;
    char *text;
    size_t bytes;
    const char *problem;
};

static void put(struct value *value, const char *text, size_t count)
{
    if (value->problem || count == 0)
        return;
    value->bytes += count;
    if (value->bytes > LINE_VALUE_BYTES_MAX)
        value->problem = "the value is longer than 64K";
    else if (fwrite(text, 1, count, value->out) != count)
        value->problem = "no memory";
}

/* At a '$': ${NAME} is replaced; returns what follows. A lone dollar is a dollar. */
static const char *put_variable(struct value *value, struct span rest)
{
    char name[256];
    if (rest.end - rest.at < 2 || rest.at[1] != '{') {
        put(value, rest.at, 1);
        return rest.at + 1;
    }
    const char *start = rest.at + 2;
    const char *end = memchr(start, '}', (size_t)(rest.end - start));
    if (end == NULL || end == start || (size_t)(end - start) >= sizeof name) {
        value->problem = "expected ${NAME}";
        return rest.end;
    }
    memcpy(name, start, (size_t)(end - start));
    name[end - start] = '\0';
    const char *text = getenv(name);
    if (text != NULL)
        put(value, text, strlen(text));
    return end + 1;
}

static const char *put_single(struct value *value, struct span rest)
{
    const char *start = rest.at + 1;
    const char *end = memchr(start, '\'', (size_t)(rest.end - start));
    if (end == NULL) {
        value->problem = "expected a closing '";
        return rest.end;
    }
    put(value, start, (size_t)(end - start));
    return end + 1;
}

static const char *put_double(struct value *value, struct span rest)
{
    for (rest.at++; rest.at < rest.end && *rest.at != '"';) {
        bool escaped = *rest.at == '\\' && rest.at + 1 < rest.end && strchr("\"\\'", rest.at[1]);
        if (!escaped && *rest.at == '$') {
            rest.at = put_variable(value, rest);
        } else {
            rest.at += escaped;
            put(value, rest.at++, 1);
        }
    }
    if (rest.at >= rest.end && !value->problem)
        value->problem = "expected a closing \"";
    return rest.at < rest.end ? rest.at + 1 : rest.end;
}

/* Up to a quote, a dollar or a comment. Blanks before a comment or at the end are not of the value. */
static const char *put_plain(struct value *value, struct span rest)
{
    const char *end = rest.at;
    while (end < rest.end && !strchr("\"'$;", *end))
        end++;
    struct span plain = {rest.at, end};
    if (end == rest.end || *end == ';')
        while (plain.end > plain.at && is_blank(plain.end[-1]))
            plain.end--;
    put(value, plain.at, (size_t)(plain.end - plain.at));
    return end;
}

static const char *put_piece(struct value *value, struct span rest)
{
    switch (*rest.at) {
    case '"':
        return put_double(value, rest);
    case '\'':
        return put_single(value, rest);
    case '$':
        return put_variable(value, rest);
    case ';':
        return rest.end;
    default:
        return put_plain(value, rest);
    }
}

static const struct {
    const char *word, *value;
} words[] = {
    {"on", "1"}, {"yes", "1"},  {"true", "1"}, {"off", ""},
    {"no", ""},  {"false", ""}, {"none", ""},  {"null", ""},
};

/* The value of a word that stands alone, without quotes; NULL: it is none. */
static const char *word_value(struct span text)
{
    const char *comment = memchr(text.at, ';', (size_t)(text.end - text.at));
    if (comment != NULL)
        text = trim((struct span){text.at, comment});
    size_t count = (size_t)(text.end - text.at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == count && strncasecmp(words[i].word, text.at, count) == 0)
            return words[i].value;
    return NULL;
}

static const char *read_value(struct span text, char **result)
{
    const char *word = word_value(text);
    if (word != NULL)
        return (*result = strdup(word)) ? NULL : "no memory";
    struct value value = {0};
    value.out = open_memstream(&value.text, &(size_t){0});
    if (value.out == NULL)
        return "no memory";
    while (text.at < text.end && !value.problem)
        text.at = put_piece(&value, text);
    if (fclose(value.out) != 0 && !value.problem)
        value.problem = "no memory";
    if (value.problem)
        free(value.text);
    else
        *result = value.text;
    return value.problem;
}

/* ---- lines ---- */

static struct line read_section(struct span text)
{
    const char *close = memchr(text.at, ']', (size_t)(text.end - text.at));
    if (close == NULL)
        return bad("expected ] after the name of the section");
    struct span after = trim((struct span){close + 1, text.end});
    if (after.at < after.end && *after.at != ';')
        return bad("expected nothing after the name of the section");
    struct span name = trim((struct span){text.at + 1, close});
    if (name.at == name.end)
        return bad("expected the name of a section between [ and ]");
    struct line line = {.kind = LINE_SECTION, .name = copy(name)};
    return line.name ? line : bad("no memory");
}

/* "env[PATH]" is a name and a key. */
static const char *split_key(struct span *name, struct span *key)
{
    const char *open = memchr(name->at, '[', (size_t)(name->end - name->at));
    if (open == NULL)
        return NULL;
    if (name->end[-1] != ']')
        return "expected ] after the key";
    *key = trim((struct span){open + 1, name->end - 1});
    *name = trim((struct span){name->at, open});
    return key->at == key->end ? "expected a key between [ and ]" : NULL;
}

static struct line read_entry(struct span text)
{
    const char *equals = memchr(text.at, '=', (size_t)(text.end - text.at));
    if (equals == NULL)
        return bad("expected [section], name = value, or a comment that starts with ;");
    struct span name = trim((struct span){text.at, equals}), key = {NULL, NULL};
    if (name.at == name.end)
        return bad("expected a name before =");
    const char *problem = split_key(&name, &key);
    if (problem != NULL)
        return bad(problem);
    struct line line = {.kind = LINE_ENTRY, .name = copy(name), .key = key.at ? copy(key) : NULL};
    problem = read_value(trim((struct span){equals + 1, text.end}), &line.value);
    if (!problem && (!line.name || (key.at && !line.key)))
        problem = "no memory";
    if (problem == NULL)
        return line;
    line_free(&line);
    return bad(problem);
}

struct line line_read(const char *bytes, size_t count)
{
    struct span text = trim((struct span){bytes, bytes + count});
    if (memchr(bytes, '\0', count))
        return bad("a NUL byte");
    if (text.at == text.end || *text.at == ';')
        return (struct line){.kind = LINE_NOTHING};
    if (*text.at == '#')
        return bad("a comment starts with ;");
    return *text.at == '[' ? read_section(text) : read_entry(text);
}

void line_free(struct line *line)
{
    free(line->name);
    free(line->key);
    free(line->value);
    *line = (struct line){0};
}
