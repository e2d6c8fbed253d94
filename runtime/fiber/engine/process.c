#include "runtime/fiber/engine/process.h"

#include "runtime/fiber/real.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct process_state first, now; /* `now`: what the process has */

/* ---- interned texts: there are never many ---- */

struct text {
    struct text *next;
    char bytes[];
};
static struct text *texts;

static const char *intern(const char *bytes)
{
    if (!bytes)
        return NULL;
    for (const struct text *text = texts; text; text = text->next)
        if (!strcmp(text->bytes, bytes))
            return text->bytes;
    struct text *text = malloc(sizeof *text + strlen(bytes) + 1);
    if (!text)
        return "/";
    strcpy(text->bytes, bytes);
    text->next = texts;
    texts = text;
    return text->bytes;
}

static const char *where(void)
{
    char path[PATH_MAX];
    return intern(getcwd(path, sizeof path) ? path : "/");
}

void process_begin(void)
{
    first.mask = REAL(umask)(0);
    REAL(umask)(first.mask);
    first.env = environ;
    first.cwd = where();
    first.locale = intern(REAL(setlocale)(LC_ALL, NULL));
    first.tz = intern(getenv("TZ"));
    now = first;
}

const struct process_state *process_first(void)
{
    return &first;
}

void process_apply(const struct process_state *state)
{
    environ = now.env = state->env;
    if (state->tz != now.tz) {
        now.tz = state->tz;
        tzset();
    }
    if (state->cwd != now.cwd) {
        /* It may be gone, or have another name: then it must not be somebody else's. */
        bool there = !REAL(chdir)(state->cwd);
        now.cwd = there ? state->cwd : NULL;
        if (!there && REAL(chdir)("/"))
            abort();
    }
    if (state->locale != now.locale && REAL(setlocale)(LC_ALL, state->locale))
        now.locale = state->locale;
    text_domain_apply(&state->text);
    if (state->mask != now.mask) {
        REAL(umask)(state->mask);
        now.mask = state->mask;
    }
}

int process_chdir(struct process_state *state, const char *path)
{
    if (path == now.cwd)
        return 0;
    int result = REAL(chdir)(path);
    if (!result)
        state->cwd = now.cwd = where();
    return result;
}

int process_fchdir(struct process_state *state, int fd)
{
    int result = REAL(fchdir)(fd);
    if (!result)
        state->cwd = now.cwd = where();
    return result;
}

char *process_setlocale(struct process_state *state, int category, const char *locale)
{
    char *result = REAL(setlocale)(category, locale);
    if (!locale || !result)
        return result;
    state->locale = now.locale = intern(REAL(setlocale)(LC_ALL, NULL));
    return REAL(setlocale)(category, NULL); /* the query above has overwritten the text */
}

mode_t process_umask(struct process_state *state, mode_t mask)
{
    state->mask = now.mask = mask & 0777;
    return REAL(umask)(mask);
}

/* ---- the environment: glibc keeps one array for the process and resizes it, so a slot has arrays of its
 * own. Entries that scripts gave are theirs (putenv(3)); setenv()'s are copies, which live as long as the
 * request. */

static void drop_array(char **env)
{
    if (env != first.env)
        free(env);
}

static bool is_entry_of(const char *entry, const char *name, size_t name_len)
{
    return !strncmp(entry, name, name_len) && entry[name_len] == '=';
}

/* A new array in which `entry` stands for the name; NULL: nothing does. */
static int replace(struct process_state *state, const char *name, size_t name_len, char *entry)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **env = malloc((count + 2) * sizeof *env);
    if (!env) {
        errno = ENOMEM;
        return -1;
    }
    bool placed = false;
    for (size_t i = 0; i < count; i++) {
        bool same = is_entry_of(environ[i], name, name_len);
        if (!same)
            env[kept++] = environ[i];
        else if (entry && !placed)
            env[kept++] = entry;
        placed |= same;
    }
    if (entry && !placed)
        env[kept++] = entry;
    env[kept] = NULL;
    drop_array(state->env);
    environ = now.env = state->env = env;
    if (name_len == 2 && !memcmp(name, "TZ", 2))
        state->tz = now.tz = intern(entry ? entry + 3 : NULL);
    return 0;
}

int process_putenv(struct process_state *state, char *entry)
{
    const char *equals = strchr(entry, '=');
    return equals ? replace(state, entry, (size_t)(equals - entry), entry)
                  : replace(state, entry, strlen(entry), NULL);
}

int process_setenv(struct process_state *state, const char *name, const char *value, int overwrite)
{
    if (!name || !*name || strchr(name, '=')) {
        errno = EINVAL;
        return -1;
    }
    if (!overwrite && getenv(name))
        return 0;
    char *entry;
    if (asprintf(&entry, "%s=%s", name, value) < 0) {
        errno = ENOMEM;
        return -1;
    }
    return replace(state, name, strlen(name), entry);
}

int process_unsetenv(struct process_state *state, const char *name)
{
    if (!name || !*name || strchr(name, '=')) {
        errno = EINVAL;
        return -1;
    }
    return replace(state, name, strlen(name), NULL);
}

void process_reset(struct process_state *state)
{
    if (environ == state->env)
        environ = now.env = first.env;
    text_domain_reset(&state->text);
    if (state->env)
        drop_array(state->env);
    *state = first;
}
