/* One line of a configuration file, as PHP's own INI reader takes it for php-fpm:
 *
 *     ; a comment                      nothing
 *     [www]                            a section
 *     ping.response = pong ; why       an entry: name and value
 *     env[PATH] = "/bin:${HOME}/bin"   an entry with a key; ${NAME} is of the environment, or empty
 *     name = 'as ${it} is'             nothing is replaced between single quotes
 *     name = "say \"hi\""              a backslash before a quote or a backslash is taken away, no other one
 *     name = off                       words without quotes: off no false none null are "", on yes true are
 * "1"
 *
 * A # is no comment, as in PHP: such a line is refused. */
#ifndef ORDEAL_FIBER_CONFIG_LINE_H
#define ORDEAL_FIBER_CONFIG_LINE_H

#include <stddef.h>

enum { LINE_VALUE_BYTES_MAX = 65536 };

enum line_kind { LINE_NOTHING, LINE_SECTION, LINE_ENTRY, LINE_BAD };

struct line {
    enum line_kind kind;
    char *name;          /* of the section or of the entry */
    char *key;           /* between brackets; NULL: none */
    char *value;         /* of an entry */
    const char *problem; /* LINE_BAD: what is wrong */
};

/* Takes `count` bytes without the line feed. Free the result with line_free(). */
struct line line_read(const char *bytes, size_t count);
void line_free(struct line *line);

#endif
