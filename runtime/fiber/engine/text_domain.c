#include "runtime/fiber/engine/text_domain.h"

#include "runtime/fiber/real.h"

#include <langinfo.h>
#include <libintl.h>
#include <stdlib.h>
#include <string.h>

struct text_binding {
    struct text_binding *next;
    char *domain, *folder, *codeset; /* what the request set; NULL: not set */
    char *folder_before, *codeset_before;
};

static const struct text_state *applied; /* NULL: nobody's */
static char *domain_before;

static void replace(char **text, const char *with)
{
    free(*text);
    *text = with ? strdup(with) : NULL;
}

static void undo(const struct text_state *state)
{
    if (state->domain)
        REAL(textdomain)(domain_before ? domain_before : "messages");
    for (const struct text_binding *binding = state->bindings; binding; binding = binding->next) {
        if (binding->folder && binding->folder_before)
            REAL(bindtextdomain)(binding->domain, binding->folder_before);
        /* there is no way back to "not set", which is the locale's */
        const char *codeset = binding->codeset_before ? binding->codeset_before : nl_langinfo(CODESET);
        if (binding->codeset)
            REAL(bind_textdomain_codeset)(binding->domain, codeset);
    }
}

void text_domain_apply(const struct text_state *state)
{
    bool differs = state != applied && (state->domain || state->bindings || applied);
    if (!differs)
        return;
    if (applied)
        undo(applied);
    applied = state->domain || state->bindings ? state : NULL;
    if (state->domain)
        REAL(textdomain)(state->domain);
    for (const struct text_binding *binding = state->bindings; binding; binding = binding->next) {
        if (binding->folder)
            REAL(bindtextdomain)(binding->domain, binding->folder);
        if (binding->codeset)
            REAL(bind_textdomain_codeset)(binding->domain, binding->codeset);
    }
}

char *text_domain_set(struct text_state *state, const char *domain)
{
    if (!domain)
        return REAL(textdomain)(NULL);
    if (!state->domain)
        replace(&domain_before, REAL(textdomain)(NULL));
    char *result = REAL(textdomain)(domain);
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
    replace(&binding->folder_before, REAL(bindtextdomain)(domain, NULL));
    replace(&binding->codeset_before, REAL(bind_textdomain_codeset)(domain, NULL));
    binding->next = state->bindings;
    state->bindings = binding;
    applied = state;
    return binding;
}

char *text_domain_bind(struct text_state *state, const char *domain, const char *folder)
{
    struct text_binding *binding = domain && *domain && folder ? binding_of(state, domain) : NULL;
    char *result = REAL(bindtextdomain)(domain, folder);
    if (binding && result)
        replace(&binding->folder, folder);
    return result;
}

char *text_domain_set_codeset(struct text_state *state, const char *domain, const char *codeset)
{
    struct text_binding *binding = domain && *domain && codeset ? binding_of(state, domain) : NULL;
    char *result = REAL(bind_textdomain_codeset)(domain, codeset);
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
