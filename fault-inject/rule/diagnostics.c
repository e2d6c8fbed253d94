#include "fault-inject/rule/diagnostics.h"

#include <stdarg.h>

void diagnose(struct diagnostics *errors, const struct source_line *line, const char *at, const char *format,
              ...)
{
    if (errors->count++ >= DIAGNOSTICS_MAX)
        return;
    struct diagnostic *item = &errors->items[errors->count - 1];
    item->column = (size_t)(at - line->text.at) + 1;
    snprintf(item->where, sizeof item->where, "%.500s%c%u:%zu", line->origin, line->is_option ? ' ' : ':',
             line->number, item->column);
    size_t length = line->text.length < sizeof item->line ? line->text.length : sizeof item->line - 1;
    memcpy(item->line, line->text.at, length);
    item->line[length] = '\0';

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(item->message, sizeof item->message, format, arguments);
    va_end(arguments);
}

/* A terminal must not obey what a bad plan file contains. */
static void print_visibly(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        fputc((byte < 0x20 && byte != '\t') || byte == 0x7f ? '?' : byte, out);
    }
}

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Blanks up to the column, with tabs kept and the later bytes of UTF-8 characters left out. */
static void print_caret(const struct diagnostic *item, FILE *out, bool colour)
{
    size_t length = strlen(item->line);
    fputs("    ", out);
    for (size_t i = 0; i + 1 < item->column && i < length; i++)
        if (!continues_character(item->line[i]))
            fputc(item->line[i] == '\t' ? '\t' : ' ', out);
    fputs(colour ? "\033[1;32m^\033[0m\n" : "^\n", out);
}

void diagnostics_print(const struct diagnostics *errors, FILE *out, bool colour)
{
    size_t kept = errors->count < DIAGNOSTICS_MAX ? errors->count : DIAGNOSTICS_MAX;
    for (size_t i = 0; i < kept; i++) {
        const struct diagnostic *item = &errors->items[i];
        fputs(colour ? "\033[1m" : "", out);
        print_visibly(item->where, out);
        fputs(colour ? ":\033[0m " : ": ", out);
        print_visibly(item->message, out);
        fputs("\n    ", out);
        print_visibly(item->line, out);
        fputc('\n', out);
        print_caret(item, out, colour);
    }
    if (errors->count > kept)
        fprintf(out, "… and %zu more errors\n", errors->count - kept);
}
