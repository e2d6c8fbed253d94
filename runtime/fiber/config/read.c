/* Files, includes and sections; what an entry means is in the table of directives. */
#include "runtime/fiber/config/check.h"
#include "runtime/fiber/config/line.h"
#include "runtime/fiber/config/types.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 1 << 20, FILES_MAX = 256, DEPTH_MAX = 8, POOL_NAME_BYTES_MAX = 64 };

/* Where something was said. */
struct place {
    const char *file; /* NULL: nowhere */
    unsigned line;
};

struct reader {
    struct fiber_config *config;
    struct config_error *error;
    struct place now;
    int pool; /* whose section this is; -1: [global] */
    unsigned depth;

    char *files[FILES_MAX]; /* names of all files, so that places can point to them */
    unsigned files_count;

    struct place sections[CONFIG_POOLS_MAX];
    struct place directives[CONFIG_POOLS_MAX][DIRECTIVES_MAX];
};

__attribute__((format(printf, 3, 4))) static bool fail(struct reader *reader, struct place place,
                                                       const char *format, ...)
{
    struct config_error *error = reader->error;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    for (char *at = error->text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?'; /* it came from a file, and goes to a terminal */
    snprintf(error->file, sizeof error->file, "%s", place.file ? place.file : "");
    error->line = place.line;
    return false;
}

/* ---- what a scope is kept in ---- */

static void *scope_base(const struct reader *reader, enum directive_scope scope)
{
    return scope == SCOPE_GLOBAL ? (void *)reader->config : (void *)&reader->config->pools[reader->pool];
}

static const char *scope_pool(const struct reader *reader)
{
    return reader->pool < 0 ? NULL : reader->config->pools[reader->pool].name;
}

static bool set_standards(struct reader *reader, enum directive_scope scope)
{
    char expected[EXPECTED_BYTES];
    for (unsigned i = 0; i < directives_count; i++) {
        const struct directive *row = &directives[i];
        struct given given = {.value = row->standard, .pool = scope_pool(reader)};
        if (row->scope == scope && row->standard &&
            !row->type->set(row, scope_base(reader, scope), &given, expected))
            return fail(reader, reader->now, "%s: expected %s", row->name, expected);
    }
    return true;
}

/* ---- sections ---- */

static bool open_pool(struct reader *reader, const char *name)
{
    struct fiber_config *config = reader->config;
    for (unsigned i = 0; i < config->pools_count; i++)
        if (strcmp(config->pools[i].name, name) == 0)
            return fail(reader, reader->now, "there is a pool [%s] already, in %s:%u", name,
                        reader->sections[i].file, reader->sections[i].line);
    if (config->pools_count >= CONFIG_POOLS_MAX)
        return fail(reader, reader->now, "expected at most %d pools", CONFIG_POOLS_MAX);
    if (strlen(name) > POOL_NAME_BYTES_MAX)
        return fail(reader, reader->now, "expected the name of a pool with at most %d bytes",
                    POOL_NAME_BYTES_MAX);
    struct pool_config *pool = &config->pools[config->pools_count];
    if (!(pool->name = strdup(name)))
        return fail(reader, reader->now, "no memory");
    reader->pool = (int)config->pools_count;
    reader->sections[config->pools_count++] = reader->now;
    return set_standards(reader, SCOPE_POOL);
}

static bool open_section(struct reader *reader, const char *name)
{
    if (strcasecmp(name, "global") != 0)
        return open_pool(reader, name);
    reader->pool = -1;
    return true;
}

/* ---- entries ---- */

static const struct directive *find(struct reader *reader, const struct line *line)
{
    enum directive_scope scope = reader->pool < 0 ? SCOPE_GLOBAL : SCOPE_POOL;
    const struct directive *row = directive_named(line->name, scope);
    if (row != NULL)
        return row;
    const char *why = directive_foreign(line->name);
    if (why != NULL)
        fail(reader, reader->now, "%s is php-fpm's, and not supported here: %s", line->name, why);
    else if (directive_named(line->name, scope == SCOPE_POOL ? SCOPE_GLOBAL : SCOPE_POOL))
        fail(reader, reader->now, "%s belongs in %s", line->name,
             scope == SCOPE_POOL ? "[global]" : "a pool");
    else
        fail(reader, reader->now, "unknown directive %s, the nearest known one is %s", line->name,
             directive_nearest(line->name, scope));
    return NULL;
}

static bool set_entry(struct reader *reader, const struct line *line)
{
    char expected[EXPECTED_BYTES] = "";
    const struct directive *row = find(reader, line);
    if (row == NULL)
        return false;
    if (row->type->keyed != (line->key != NULL))
        return fail(reader, reader->now,
                    row->type->keyed ? "expected %s[name] = value" : "expected %s = value", row->name);
    struct given given = {.key = line->key, .value = line->value, .pool = scope_pool(reader)};
    if (!row->type->set(row, scope_base(reader, row->scope), &given, expected))
        return fail(reader, reader->now, "bad value \"%.100s\" of %s%s%.100s%s: expected %s", line->value,
                    row->name, line->key ? "[" : "", line->key ? line->key : "", line->key ? "]" : "",
                    expected);
    if (reader->pool >= 0)
        reader->directives[reader->pool][row - directives] = reader->now;
    return true;
}

/* ---- files ---- */

static bool read_file(struct reader *reader, const char *path);

static bool is_file(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

/* A pattern is of the folder of the file that has it. One without wildcards must be there. */
static bool include(struct reader *reader, const char *pattern)
{
    char path[4096];
    const char *slash = strrchr(reader->now.file, '/');
    int folder = pattern[0] != '/' && slash ? (int)(slash - reader->now.file) + 1 : 0;
    if (snprintf(path, sizeof path, "%.*s%s", folder, reader->now.file, pattern) >= (int)sizeof path)
        return fail(reader, reader->now, "include: the name is too long");
    glob_t found;
    int result = glob(path, 0, NULL, &found);
    bool is_missing = result == GLOB_NOMATCH && !strpbrk(path, "*?[");
    if (is_missing || (result != 0 && result != GLOB_NOMATCH)) {
        globfree(&found);
        return fail(reader, reader->now, "include: there is no file %.300s", path);
    }
    struct reader before = {.now = reader->now, .pool = reader->pool};
    bool done = true;
    for (size_t i = 0; result == 0 && i < found.gl_pathc && done; i++) {
        done = is_file(found.gl_pathv[i])
                   ? read_file(reader, found.gl_pathv[i])
                   : fail(reader, before.now, "include: %.300s is not a regular file", found.gl_pathv[i]);
        reader->pool = before.pool;
    }
    globfree(&found);
    if (done)
        reader->now = before.now;
    return done;
}

static bool take_line(struct reader *reader, const struct line *line)
{
    switch (line->kind) {
    case LINE_SECTION:
        return open_section(reader, line->name);
    case LINE_ENTRY:
        return strcmp(line->name, "include") == 0 && !line->key ? include(reader, line->value)
                                                                : set_entry(reader, line);
    case LINE_BAD:
        return fail(reader, reader->now, "%s", line->problem);
    default:
        return true;
    }
}

static bool read_lines(struct reader *reader, const char *text, size_t count)
{
    const char *end = text + count;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (line_end == NULL)
            line_end = end;
        reader->now.line++;
        struct line line = line_read(text, (size_t)(line_end - text));
        bool done = take_line(reader, &line);
        line_free(&line);
        if (!done)
            return false;
        text = line_end + 1;
    }
    return true;
}

/* All of a file; NULL: `reader` has the error. */
static char *file_text(struct reader *reader, const char *path, size_t *count)
{
    FILE *file = fopen(path, "re");
    char *text = malloc(FILE_BYTES_MAX + 1);
    *count = file && text ? fread(text, 1, FILE_BYTES_MAX + 1, file) : 0;
    bool whole = file && text && !ferror(file) && *count <= FILE_BYTES_MAX;
    if (!whole && *count > FILE_BYTES_MAX)
        fail(reader, reader->now, "expected at most 1M of text");
    else if (!whole)
        fail(reader, reader->now, "cannot be read: %s", strerror(errno));
    if (file)
        fclose(file);
    if (whole)
        return text;
    free(text);
    return NULL;
}

static bool read_file(struct reader *reader, const char *path)
{
    if (reader->depth >= DEPTH_MAX)
        return fail(reader, reader->now, "include: expected at most %d files, one in the other", DEPTH_MAX);
    if (reader->files_count >= FILES_MAX)
        return fail(reader, reader->now, "include: expected at most %d files", FILES_MAX);
    char *name = reader->files[reader->files_count++] = strdup(path);
    if (name == NULL)
        return fail(reader, reader->now, "no memory");
    reader->now = (struct place){.file = name};
    size_t count;
    char *text = file_text(reader, path, &count);
    reader->depth++;
    bool done = text && read_lines(reader, text, count);
    reader->depth--;
    free(text);
    return done;
}

/* ---- the whole ---- */

static bool check(struct reader *reader)
{
    struct conflict conflict;
    if (reader->config->pools_count == 0)
        return fail(reader, (struct place){.file = reader->files[0]},
                    "expected at least one pool: a section such as [www]");
    if (config_check(reader->config, &conflict))
        return true;
    const struct directive *row = directive_named(conflict.directive, SCOPE_POOL);
    struct place place = reader->directives[conflict.pool][row - directives];
    if (place.file == NULL)
        place = reader->sections[conflict.pool];
    return fail(reader, place, "[pool %s] %s %s", reader->config->pools[conflict.pool].name,
                conflict.directive, conflict.text);
}

bool config_read(const char *path, struct fiber_config *config, struct config_error *error)
{
    *config = (struct fiber_config){0};
    *error = (struct config_error){0};
    struct reader *reader = calloc(1, sizeof *reader);
    config->path = strdup(path);
    config->pools = calloc(CONFIG_POOLS_MAX, sizeof *config->pools);
    if (!reader || !config->path || !config->pools) {
        snprintf(error->text, sizeof error->text, "no memory");
        free(reader);
        config_free(config);
        return false;
    }
    *reader = (struct reader){.config = config, .error = error, .pool = -1};
    bool done = set_standards(reader, SCOPE_GLOBAL) && read_file(reader, path) && check(reader);
    for (unsigned i = 0; i < reader->files_count; i++)
        free(reader->files[i]);
    free(reader);
    if (!done)
        config_free(config);
    return done;
}

/* ---- what a configuration is made of ---- */

static void clear(enum directive_scope scope, void *base)
{
    for (unsigned i = 0; i < directives_count; i++)
        if (directives[i].scope == scope && directives[i].type->clear)
            directives[i].type->clear(&directives[i], base);
}

void config_free(struct fiber_config *config)
{
    for (unsigned i = 0; i < config->pools_count; i++) {
        clear(SCOPE_POOL, &config->pools[i]);
        free(config->pools[i].name);
    }
    free(config->pools);
    clear(SCOPE_GLOBAL, config);
    free(config->path);
    *config = (struct fiber_config){0};
}

static void print(enum directive_scope scope, const void *base, FILE *out)
{
    for (unsigned i = 0; i < directives_count; i++)
        if (directives[i].scope == scope)
            directives[i].type->print(&directives[i], base, out);
}

void config_print(const struct fiber_config *config, FILE *out)
{
    fputs("[global]\n", out);
    print(SCOPE_GLOBAL, config, out);
    for (unsigned i = 0; i < config->pools_count; i++) {
        fprintf(out, "\n[%s]\n", config->pools[i].name);
        print(SCOPE_POOL, &config->pools[i], out);
    }
}
