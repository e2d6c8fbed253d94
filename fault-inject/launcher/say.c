#include "fault-inject/launcher/say.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One write for the whole line, so that lines of several processes do not mix. */
static void say_list(const char *format, va_list arguments)
{
    char line[2048] = "ordeal: ";
    size_t length = strlen(line);
    int added = vsnprintf(line + length, sizeof line - length - 1, format, arguments);
    length += added < 0 ? 0 : (size_t)added;
    if (length > sizeof line - 2)
        length = sizeof line - 2;
    line[length++] = '\n';
    fflush(stderr);
    if (write(STDERR_FILENO, line, length) < 0)
        return;
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
}

int refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
    return EXIT_USAGE;
}

int give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
    return EXIT_LAUNCHER;
}

bool wants_colour(FILE *out)
{
    return getenv("NO_COLOR") == NULL && isatty(fileno(out));
}

const char *size_text(uint64_t bytes, char out[SIZE_TEXT_MAX])
{
    if (bytes < 1000000)
        snprintf(out, SIZE_TEXT_MAX, "%" PRIu64 " bytes", bytes);
    else
        snprintf(out, SIZE_TEXT_MAX, "%.1f MB", (double)bytes / 1e6);
    return out;
}

static bool is_plain(const char *argument)
{
    if (*argument == '\0')
        return false;
    for (; *argument != '\0'; argument++)
        if (!isalnum((unsigned char)*argument) && strchr("_-./=:,+@%", *argument) == NULL)
            return false;
    return true;
}

void print_quoted(FILE *out, const char *argument)
{
    if (is_plain(argument)) {
        fputs(argument, out);
        return;
    }
    fputc('\'', out);
    for (; *argument != '\0'; argument++)
        if (*argument == '\'')
            fputs("'\\''", out);
        else
            fputc(*argument, out);
    fputc('\'', out);
}

void print_command(FILE *out, char *const *argv)
{
    for (size_t i = 0; argv[i] != NULL; i++) {
        fputs(i == 0 ? "" : " ", out);
        print_quoted(out, argv[i]);
    }
}
