/* The parameters of one FastCGI request: what a CGI program would find in its environment.
 *
 *     struct params params = {0};
 *     params_add(&params, "SCRIPT_NAME", 11, "/a.php", 6);
 *     params_get(&params, "SCRIPT_NAME");                    // "/a.php"
 *     params_put(&params, "ORIG_SCRIPT_NAME", "/a.php/b");   // as the SAPI corrects what a web server sent
 *     params_put(&params, "PATH_INFO", NULL);                // gone
 *     params_free(&params);
 *
 * A name that comes again replaces its value. Values are NUL-terminated copies that stay where they are until
 * params_free(), also when they are replaced: PHP keeps pointers to them through the whole request. */
#ifndef ORDEAL_FIBER_PARAMS_H
#define ORDEAL_FIBER_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct param {
    const char *name;
    char *value; /* NULL: removed */
    uint32_t name_len, value_len;
    uint32_t hash;
};

struct params_block;

struct params {
    struct param *items; /* in the order in which they came */
    unsigned count, capacity;
    struct params_block *blocks; /* the memory of names and values */
};

/* False when there is no memory: the request is then answered as overloaded. */
bool params_add(struct params *params, const char *name, size_t name_len, const char *value,
                size_t value_len);

/* The same for texts; returns the copy. A NULL value removes the parameter and gives NULL. */
char *params_put(struct params *params, const char *name, const char *value);

char *params_get(const struct params *params, const char *name);
char *params_find(const struct params *params, const char *name, size_t name_len);

void params_free(struct params *params);

#endif
