/* Every directive is one row of one table: where it belongs, what its value may be, where it is kept, and
 * what it is if the file does not say. Reading, printing and freeing a configuration are loops over this
 * table.
 *
 * A value has a type, and a type is four functions (types.h). */
#ifndef ORDEAL_FIBER_CONFIG_DIRECTIVES_H
#define ORDEAL_FIBER_CONFIG_DIRECTIVES_H

#include "runtime/fiber/config/config.h"

enum directive_scope { SCOPE_GLOBAL, SCOPE_POOL };

/* Words that a value is chosen from; a NULL word ends the list. */
struct choice {
    const char *word;
    int value;
};

struct value_type;

struct directive {
    const char *name;
    enum directive_scope scope;
    const struct value_type *type;
    size_t offset, width; /* of the field; width 0: the value is only checked */
    size_t count_offset;  /* of lists: where their number is */
    const char *standard; /* as a file would say it; NULL: the field stays 0 */
    int64_t min, max;     /* of numbers, in the smallest unit */
    const struct choice *choices;
    bool admin;          /* of settings */
    const char *refusal; /* of choices: said after the words */
};

enum { DIRECTIVES_MAX = 64 };

extern const struct directive directives[];
extern const unsigned directives_count;

/* NULL: none has this name in this scope. */
const struct directive *directive_named(const char *name, enum directive_scope scope);

/* The name, among those of this scope, that takes the fewest changes. */
const char *directive_nearest(const char *name, enum directive_scope scope);

/* Why php-fpm has this directive and this server does not; NULL: php-fpm has none. */
const char *directive_foreign(const char *name);

#endif
