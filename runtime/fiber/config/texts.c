/* Values that are a text, or a list of words. */
#include "runtime/fiber/config/address.h"
#include "runtime/fiber/config/line.h"
#include "runtime/fiber/config/types.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

/* ---- $pool ---- */

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

char *text_expanded(const struct given *given, char expected[EXPECTED_BYTES])
{
    static const char token[] = "$pool";
    size_t tokens = count_of(given->value, token);
    if (tokens > 0 && !given->pool) {
        snprintf(expected, EXPECTED_BYTES, "no $pool here: this is no pool");
        return NULL;
    }
    size_t bytes = strlen(given->value) + tokens * (given->pool ? strlen(given->pool) : 0);
    char *text = bytes <= LINE_VALUE_BYTES_MAX ? malloc(bytes + 1) : NULL;
    if (text == NULL) {
        snprintf(expected, EXPECTED_BYTES, "at most 64K of text");
        return NULL;
    }
    char *to = text;
    const char *from = given->value;
    for (const char *at; (at = strstr(from, token)); from = at + strlen(token)) {
        to = mempcpy(to, from, (size_t)(at - from));
        to = stpcpy(to, given->pool);
    }
    strcpy(to, from);
    return text;
}

/* ---- quotes ---- */

/* Said without quotes, it is read as it is. */
static bool is_plain(const char *text)
{
    char line[16];
    size_t count = strlen(text);
    if (strpbrk(text, "\"'$;\r\n") ||
        (count > 0 && (strchr(" \t", text[0]) || strchr(" \t", text[count - 1]))))
        return false;
    if (count > sizeof line - 3)
        return true; /* too long to be one of the words that mean something */
    struct line read = line_read(line, (size_t)sprintf(line, "a=%s", text));
    bool is_same = read.kind == LINE_ENTRY && strcmp(read.value, text) == 0;
    line_free(&read);
    return is_same;
}

void text_print(const char *text, FILE *out)
{
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    putc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\"'\"'", out);
        else
            putc(*text, out);
    putc('\'', out);
}

/* ---- texts ---- */

static bool is_text(const char *text)
{
    return text != NULL;
}

static bool is_path(const char *text)
{
    return text[0] != '\0' && strlen(text) < 4096;
}

static bool is_uri(const char *text)
{
    return text[0] == '/' && text[1] != '\0' && !strpbrk(text, " ?#\t");
}

/* php-fpm writes to syslog then; this server does not. */
static bool is_file(const char *text)
{
    return is_path(text) && strcmp(text, "syslog") != 0;
}

static bool is_address(const char *text)
{
    struct address address;
    return address_parse(text, &address);
}

static bool is_id(const char *text)
{
    size_t count = strspn(text, "0123456789");
    return count > 0 && count < 10 && text[count] == '\0';
}

static bool is_user(const char *text)
{
    return is_id(text) || (text[0] && getpwnam(text));
}

static bool is_group(const char *text)
{
    return is_id(text) || (text[0] && getgrnam(text));
}

static bool set_checked(const struct directive *row, void *base, const struct given *given,
                        char expected[EXPECTED_BYTES], bool (*is_right)(const char *text), const char *kind)
{
    char *text = text_expanded(given, expected);
    if (text == NULL)
        return false;
    if (!is_right(text)) {
        snprintf(expected, EXPECTED_BYTES, "%s", kind);
        free(text);
        return false;
    }
    row->type->clear(row, base);
    *(char **)row_field(row, base) = text;
    return true;
}

static void print_text(const struct directive *row, const void *base, FILE *out)
{
    const char *text = *(char *const *)row_field_of(row, base);
    fprintf(out, text ? "%s = " : "; %s =", row->name);
    text_print(text ? text : "", out);
    putc('\n', out);
}

static void clear_text(const struct directive *row, void *base)
{
    char **field = row_field(row, base);
    free(*field);
    *field = NULL;
}

/* A type of texts is what is right, and the words for it. */
#define TEXT_TYPE(type, kind)                                                                                \
    static bool set_##type(const struct directive *row, void *base, const struct given *given,               \
                           char expected[EXPECTED_BYTES])                                                    \
    {                                                                                                        \
        return set_checked(row, base, given, expected, is_##type, kind);                                     \
    }                                                                                                        \
    const struct value_type type_##type = {.set = set_##type, .print = print_text, .clear = clear_text}

TEXT_TYPE(text, "a text");
TEXT_TYPE(path, "the name of a file or folder");
TEXT_TYPE(uri, "a path that starts with /, such as /status");
TEXT_TYPE(file, "the name of a file (syslog is php-fpm's, and not supported here)");
TEXT_TYPE(address, "/path (of up to 107 bytes), port, host:port or [address]:port");
TEXT_TYPE(user, "a user of this system, or a number");
TEXT_TYPE(group, "a group of this system, or a number");

/* ---- words ---- */

static void clear_words(const struct directive *row, void *base)
{
    char ***field = row_field(row, base);
    for (unsigned i = 0; i < list_count(row, base); i++)
        free((*field)[i]);
    free(*field);
    *field = NULL;
    *(unsigned *)((char *)base + row->count_offset) = 0;
}

/* Words between blanks or commas; none at all is a list as well. */
static bool set_words(const struct directive *row, void *base, const struct given *given,
                      char expected[EXPECTED_BYTES])
{
    char *text = text_expanded(given, expected), *rest = NULL;
    if (text == NULL)
        return false;
    clear_words(row, base);
    bool done = true;
    for (char *word = strtok_r(text, " \t,", &rest); word && done; word = strtok_r(NULL, " \t,", &rest)) {
        char **place = list_grow(row, base, sizeof *place);
        done = place && (*place = strdup(word));
    }
    free(text);
    if (!done)
        snprintf(expected, EXPECTED_BYTES, "at most %d words", CONFIG_LIST_MAX);
    return done;
}

static void print_words(const struct directive *row, const void *base, FILE *out)
{
    char *const *list = *(char **const *)row_field_of(row, base);
    fprintf(out, "%s =", row->name);
    for (unsigned i = 0; i < list_count(row, base); i++)
        fprintf(out, " %s", list[i]);
    putc('\n', out);
}

const struct value_type type_words = {.set = set_words, .print = print_words, .clear = clear_words};
