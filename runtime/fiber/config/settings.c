/* Lists that grow by an item a line: php_value[name] = value, env[NAME] = value. */
#include "runtime/fiber/config/types.h"

#include <stdlib.h>
#include <string.h>

static unsigned *count_field(const struct directive *row, void *base)
{
    return (unsigned *)(void *)((char *)base + row->count_offset);
}

unsigned list_count(const struct directive *row, const void *base)
{
    return *(const unsigned *)(const void *)((const char *)base + row->count_offset);
}

void *list_grow(const struct directive *row, void *base, size_t item_bytes)
{
    unsigned *count = count_field(row, base);
    void *items;
    memcpy(&items, row_field(row, base), sizeof items);
    if (*count >= CONFIG_LIST_MAX || !(items = realloc(items, (*count + 1) * item_bytes)))
        return NULL;
    memcpy(row_field(row, base), &items, sizeof items);
    void *item = (char *)items + *count * item_bytes;
    memset(item, 0, item_bytes);
    ++*count;
    return item;
}

static void print_item(const struct directive *row, const char *name, const char *value, FILE *out)
{
    fprintf(out, "%s[%s] = ", row->name, name);
    text_print(value, out);
    putc('\n', out);
}

static bool too_many(char expected[EXPECTED_BYTES])
{
    snprintf(expected, EXPECTED_BYTES, "at most %d of them in a pool", CONFIG_LIST_MAX);
    return false;
}

/* ---- php_value, php_flag, and the admin ones ---- */

static bool add_setting(const struct directive *row, void *base, const struct given *given, const char *value,
                        char expected[EXPECTED_BYTES])
{
    struct given text = {.value = value, .pool = given->pool};
    char *copy = text_expanded(&text, expected);
    if (copy == NULL)
        return false;
    struct php_setting *item = list_grow(row, base, sizeof *item);
    if (item == NULL || !(item->name = strdup(given->key))) {
        free(copy);
        return too_many(expected);
    }
    item->value = copy;
    item->admin = row->admin;
    return true;
}

static bool set_setting(const struct directive *row, void *base, const struct given *given,
                        char expected[EXPECTED_BYTES])
{
    return add_setting(row, base, given, given->value, expected);
}

static bool set_flag(const struct directive *row, void *base, const struct given *given,
                     char expected[EXPECTED_BYTES])
{
    bool on;
    if (bool_parse(given->value, &on))
        return add_setting(row, base, given, on ? "1" : "0", expected);
    snprintf(expected, EXPECTED_BYTES, "on or off");
    return false;
}

/* All four directives share one list: printed and freed once, by php_value and php_admin_value. */
static void print_setting(const struct directive *row, const void *base, FILE *out)
{
    const struct php_setting *list = *(struct php_setting *const *)row_field_of(row, base);
    for (unsigned i = 0; i < list_count(row, base); i++)
        if (list[i].admin == row->admin)
            print_item(row, list[i].name, list[i].value, out);
}

static void print_nothing(const struct directive *row, const void *base, FILE *out)
{
    (void)row, (void)base, (void)out;
}

static void clear_setting(const struct directive *row, void *base)
{
    struct php_setting **field = row_field(row, base);
    for (unsigned i = 0; i < list_count(row, base); i++) {
        free((*field)[i].name);
        free((*field)[i].value);
    }
    free(*field);
    *field = NULL;
    *count_field(row, base) = 0;
}

const struct value_type type_setting = {
    .keyed = true, .set = set_setting, .print = print_setting, .clear = clear_setting};
const struct value_type type_flag = {
    .keyed = true, .set = set_flag, .print = print_nothing, .clear = clear_setting};

/* ---- env ---- */

/* As in php-fpm, a value that starts with a dollar is a variable of the server's own environment. */
static bool set_env(const struct directive *row, void *base, const struct given *given,
                    char expected[EXPECTED_BYTES])
{
    struct given text = *given;
    if (text.value[0] == '$' && strncmp(text.value, "$pool", 5) != 0) {
        const char *value = getenv(text.value + 1);
        text.value = value ? value : "";
    }
    if (strchr(given->key, '=')) {
        snprintf(expected, EXPECTED_BYTES, "a name without =");
        return false;
    }
    char *copy = text_expanded(&text, expected);
    if (copy == NULL)
        return false;
    struct env_setting *item = list_grow(row, base, sizeof *item);
    if (item == NULL || !(item->name = strdup(given->key))) {
        free(copy);
        return too_many(expected);
    }
    item->value = copy;
    return true;
}

static void print_env(const struct directive *row, const void *base, FILE *out)
{
    const struct env_setting *list = *(struct env_setting *const *)row_field_of(row, base);
    for (unsigned i = 0; i < list_count(row, base); i++)
        print_item(row, list[i].name, list[i].value, out);
}

static void clear_env(const struct directive *row, void *base)
{
    struct env_setting **field = row_field(row, base);
    for (unsigned i = 0; i < list_count(row, base); i++) {
        free((*field)[i].name);
        free((*field)[i].value);
    }
    free(*field);
    *field = NULL;
    *count_field(row, base) = 0;
}

const struct value_type type_env = {.keyed = true, .set = set_env, .print = print_env, .clear = clear_env};
