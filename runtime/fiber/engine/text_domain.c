#include "runtime/fiber/engine/text_domain.h"

#include <dlfcn.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

struct text_binding {
    struct text_binding *next;
    char *domain, *folder, *codeset; /* what the request set; NULL: not set */
    char *folder_before, *codeset_before;
};

static const struct text_state *applied; /* NULL: nobody's */
static char *domain_before;

/* The executable defines these calls itself: here libc's are meant. */
static char *(*libc_text_domain)(const char *);
static char *(*libc_bind)(const char *, const char *);
static char *(*libc_codeset)(const char *, const char *);

static bool find_calls(void)
{
    if (!libc_codeset) {
        libc_text_domain = (char *(*)(const char *))dlsym(RTLD_NEXT, "textdomain");
        libc_bind = (char *(*)(const char *, const char *))dlsym(RTLD_NEXT, "bindtextdomain");
        libc_codeset = (char *(*)(const char *, const char *))dlsym(RTLD_NEXT, "bind_textdomain_codeset");
    }
    return libc_text_domain && libc_bind && libc_codeset;
}

static void replace(char **text, const char *with)
{
    free(*text);
    *text = with ? strdup(with) : NULL;
}

static void undo(const struct text_state *state)
{
    if (state->domain)
        libc_text_domain(domain_before ? domain_before : "messages");
    for (const struct text_binding *binding = state->bindings; binding; binding = binding->next) {
        if (binding->folder && binding->folder_before)
            libc_bind(binding->domain, binding->folder_before);
        if (binding->codeset) /* there is no way back to "not set", which is the locale's */
            libc_codeset(binding->domain,
                         binding->codeset_before ? binding->codeset_before : nl_langinfo(CODESET));
    }
}

void text_domain_apply(const struct text_state *state)
{
    bool differs = state != applied && (state->domain || state->bindings || applied);
    if (!differs || !find_calls())
        return;
    if (applied)
        undo(applied);
    applied = state->domain || state->bindings ? state : NULL;
    if (state->domain)
        libc_text_domain(state->domain);
    for (const struct text_binding *binding = state->bindings; binding; binding = binding->next) {
        if (binding->folder)
            libc_bind(binding->domain, binding->folder);
        if (binding->codeset)
            libc_codeset(binding->domain, binding->codeset);
    }
}

char *text_domain_set(struct text_state *state, const char *domain)
{
    if (!find_calls())
        return NULL;
    if (!domain)
        return libc_text_domain(NULL);
    if (!state->domain)
        replace(&domain_before, libc_text_domain(NULL));
    char *result = libc_text_domain(domain);
    if (result)
        replace(&state->domain, domain);
    applied = state;
    return result;
}

static struct text_binding *binding_of(struct text_state *state, const char *domain)
{
    struct text_binding *binding = state->bindings;
    while (binding && strcmp(binding->domain, domain) != 0)
        binding = binding->next;
    if (binding || !(binding = calloc(1, sizeof *binding)))
        return binding;
    replace(&binding->domain, domain);
    replace(&binding->folder_before, libc_bind(domain, NULL));
    replace(&binding->codeset_before, libc_codeset(domain, NULL));
    binding->next = state->bindings;
    state->bindings = binding;
    applied = state;
    return binding;
}

char *text_domain_bind(struct text_state *state, const char *domain, const char *folder)
{
    if (!find_calls())
        return NULL;
    struct text_binding *binding = domain && *domain && folder ? binding_of(state, domain) : NULL;
    char *result = libc_bind(domain, folder);
    if (binding && result)
        replace(&binding->folder, folder);
    return result;
}

char *text_domain_set_codeset(struct text_state *state, const char *domain, const char *codeset)
{
    if (!find_calls())
        return NULL;
    struct text_binding *binding = domain && *domain && codeset ? binding_of(state, domain) : NULL;
    char *result = libc_codeset(domain, codeset);
    if (binding && result)
        replace(&binding->codeset, codeset);
    return result;
}

void text_domain_reset(struct text_state *state)
{
    if (applied == state) {
        undo(state);
        applied = NULL;
    }
    free(state->domain);
    for (struct text_binding *binding = state->bindings, *next; binding; binding = next) {
        next = binding->next;
        free(binding->domain);
        free(binding->folder);
        free(binding->codeset);
        free(binding->folder_before);
        free(binding->codeset_before);
        free(binding);
    }
    *state = (struct text_state){0};
}
