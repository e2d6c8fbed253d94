/* gettext's settings, which libc keeps for the process: the domain that gettext() looks into, and for each
 * domain the folder of its catalogues and the character set of its texts. A slot remembers what its request
 * set; when another slot is loaded, that is undone and the other's is done. */
#ifndef ORDEAL_FIBER_ENGINE_TEXT_DOMAIN_H
#define ORDEAL_FIBER_ENGINE_TEXT_DOMAIN_H

#include <stdbool.h>

struct text_binding;

/* All of it zero: nothing was set. */
struct text_state {
    char *domain; /* NULL: not set */
    struct text_binding *bindings;
};

/* Makes the process have this state instead of the one that it was made to have before. */
void text_domain_apply(const struct text_state *state);

/* The three calls, for a slot whose state is applied. */
char *text_domain_set(struct text_state *state, const char *domain);
char *text_domain_bind(struct text_state *state, const char *domain, const char *folder);
char *text_domain_set_codeset(struct text_state *state, const char *domain, const char *codeset);

/* Undoes it, if it is applied, and forgets it. */
void text_domain_reset(struct text_state *state);

#endif
