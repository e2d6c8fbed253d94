#include "runtime/fiber/worker/page.h"

#include "runtime/fiber/worker/limits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 21, VALUE_BYTES_MAX = 8192, END_BYTES = 256 };

struct page {
    const struct style *style;
    size_t length, row_at;
    unsigned fields, rows; /* before the next one: for commas */
    bool in_rows, full;
    char text[STATUS_BYTES_MAX];
};

/* Bytes that a value may not have, and what stands for them; other control characters become '?'. */
struct escape {
    char byte;
    const char *text;
};

struct style {
    const char *begin, *end;
    const char *rows, *rows_end, *row, *row_end, *row_next;
    const char *text_quote;
    const struct escape *escapes;
    bool times_are_numbers;
    void (*field)(struct page *page, const char *name, const char *value, const char *quote);
};

const struct page_kind page_kinds[PAGE_STYLES] = {
    [PAGE_TEXT] = {"text", "Content-type", "text/plain;charset=UTF-8"},
    [PAGE_JSON] = {"json", "Content-Type", "application/json"},
    [PAGE_XML] = {"xml", "Content-type", "text/xml;charset=UTF-8"},
    [PAGE_HTML] = {"html", "Content-type", "text/html;charset=UTF-8"},
};

/* ---- bytes ---- */

static void put(struct page *page, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof page->text - END_BYTES - page->length;
    va_start(arguments, format);
    int count = vsnprintf(page->text + page->length, room, format, arguments);
    va_end(arguments);
    if (count >= 0 && (size_t)count < room)
        page->length += (size_t)count;
    else
        page->full = true;
}

/* The end of a page always fits. */
static void put_end(struct page *page, const char *text)
{
    size_t count = strlen(text), room = sizeof page->text - page->length;
    if (count > room)
        return;
    memcpy(page->text + page->length, text, count);
    page->length += count;
}

/* ---- one field ---- */

static void text_field(struct page *page, const char *name, const char *value, const char *quote)
{
    (void)quote;
    put(page, "%s:%*s%s\n", name, NAME_COLUMNS - (int)strlen(name), "", value);
}

/* php-fpm spells one name in capitals, but not here. */
static void json_field(struct page *page, const char *name, const char *value, const char *quote)
{
    if (!strcmp(name, "request URI"))
        name = "request uri";
    put(page, "%s\"%s\":%s%s%s", page->fields ? "," : "", name, quote, value, quote);
}

static void xml_field(struct page *page, const char *name, const char *value, const char *quote)
{
    char tag[64];
    size_t length = 0;
    (void)quote;
    for (; name[length] && length + 1 < sizeof tag; length++) {
        char letter = name[length];
        bool is_capital = letter >= 'A' && letter <= 'Z';
        tag[length] = letter == ' ' ? '-' : is_capital ? (char)(letter | 0x20) : letter;
    }
    tag[length] = '\0';
    put(page, "<%s>%s</%s>%s", tag, value, tag, page->in_rows ? "" : "\n");
}

static void html_field(struct page *page, const char *name, const char *value, const char *quote)
{
    (void)quote;
    put(page, "<tr><th>%s</th><td>%s</td></tr>\n", name, value);
}

static const struct escape no_escapes[] = {{'\0', NULL}};
static const struct escape json_escapes[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'/', "\\/"}, {'\0', NULL}};
static const struct escape xml_escapes[] = {{'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},
                                            {'"', "&quot;"}, {'\'', "&#39;"}, {'\0', NULL}};

static const struct style styles[PAGE_STYLES] = {
    [PAGE_TEXT] = {.begin = "",
                   .end = "",
                   .rows = "",
                   .rows_end = "",
                   .row = "\n************************\n",
                   .row_end = "",
                   .row_next = "",
                   .text_quote = "",
                   .escapes = no_escapes,
                   .field = text_field},
    [PAGE_JSON] = {.begin = "{",
                   .end = "}",
                   .rows = ", \"processes\":[",
                   .rows_end = "]",
                   .row = "{",
                   .row_end = "}",
                   .row_next = ",",
                   .text_quote = "\"",
                   .escapes = json_escapes,
                   .times_are_numbers = true,
                   .field = json_field},
    [PAGE_XML] = {.begin = "<?xml version=\"1.0\" ?>\n<status>\n",
                  .end = "</status>",
                  .rows = "<processes>\n",
                  .rows_end = "</processes>\n",
                  .row = "<process>",
                  .row_end = "</process>\n",
                  .row_next = "",
                  .text_quote = "",
                  .escapes = xml_escapes,
                  .times_are_numbers = true,
                  .field = xml_field},
    [PAGE_HTML] = {.begin = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>PHP-FPM Status Page</title>"
                            "</head>\n<body>\n<table>\n",
                   .end = "</table>\n</body></html>",
                   .rows = "",
                   .rows_end = "",
                   .row = "</table>\n<table>\n",
                   .row_end = "",
                   .row_next = "",
                   .text_quote = "",
                   .escapes = xml_escapes,
                   .field = html_field},
};

/* ---- the page ---- */

struct page *page_new(enum page_style style)
{
    struct page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->style = &styles[style];
    put(page, "%s", page->style->begin);
    return page;
}

void page_free(struct page *page)
{
    free(page);
}

static void put_field(struct page *page, const char *name, const char *value, const char *quote)
{
    page->style->field(page, name, value, quote);
    page->fields++;
}

static const char *escape_of(const struct style *style, char byte, char room[2])
{
    for (const struct escape *escape = style->escapes; escape->text; escape++)
        if (escape->byte == byte)
            return escape->text;
    room[0] = (unsigned char)byte < 0x20 || byte == 0x7f ? '?' : byte;
    room[1] = '\0';
    return room;
}

/* JSON is UTF-8, and what a client sends may be anything: bytes above ASCII are told as '?'. */
static bool is_told(const struct style *style, char byte)
{
    return style == &styles[PAGE_TEXT] || (unsigned char)byte < 0x80;
}

void page_text(struct page *page, const char *name, const char *value)
{
    char text[VALUE_BYTES_MAX], room[2];
    size_t length = 0;
    for (; *value; value++) {
        const char *escaped = is_told(page->style, *value) ? escape_of(page->style, *value, room) : "?";
        size_t count = strlen(escaped);
        if (length + count >= sizeof text)
            break;
        memcpy(text + length, escaped, count);
        length += count;
    }
    text[length] = '\0';
    put_field(page, name, text, page->style->text_quote);
}

void page_number(struct page *page, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    put_field(page, name, text, "");
}

void page_time(struct page *page, const char *name, time_t value)
{
    char text[64];
    struct tm parts;
    if (page->style->times_are_numbers) {
        page_number(page, name, (uint64_t)value);
        return;
    }
    localtime_r(&value, &parts);
    strftime(text, sizeof text, "%d/%b/%Y:%H:%M:%S %z", &parts);
    put_field(page, name, text, "");
}

void page_rows(struct page *page)
{
    put(page, "%s", page->style->rows);
    page->in_rows = true;
}

void page_row(struct page *page)
{
    page->row_at = page->length;
    put(page, "%s%s", page->rows ? page->style->row_next : "", page->style->row);
    page->fields = 0;
}

bool page_row_end(struct page *page)
{
    put(page, "%s", page->style->row_end);
    page->rows++;
    if (page->full)
        page->length = page->row_at;
    return !page->full;
}

void page_end(struct page *page)
{
    if (page->in_rows)
        put_end(page, page->style->rows_end);
    put_end(page, page->style->end);
}

const char *page_bytes(const struct page *page, size_t *count)
{
    *count = page->length;
    return page->text;
}
