#include "fault-inject/launcher/preload.h"

#include "fault-inject/launcher/say.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const places[] = {"../lib/libordeal.so", "../lib/ordeal/libordeal.so"};

/* ld.so splits LD_PRELOAD at colons and blanks, and has no way to quote them. */
static bool is_fit(const char *path)
{
    if (strpbrk(path, ": ") == NULL)
        return true;
    say("the library's path has a colon or a blank, which LD_PRELOAD cannot carry: %s", path);
    return false;
}

static bool find_named(const char *named, char *out, size_t out_size)
{
    char resolved[PATH_MAX];
    if (realpath(named, resolved) == NULL) {
        say("ORDEAL_LIB names %s: %s", named, strerror(errno));
        return false;
    }
    snprintf(out, out_size, "%s", resolved);
    return is_fit(out);
}

bool preload_find(char *out, size_t out_size)
{
    const char *named = getenv("ORDEAL_LIB");
    if (named != NULL && *named != '\0')
        return find_named(named, out, out_size);
    char self[PATH_MAX], candidate[PATH_MAX + 64], resolved[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL)
        *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s", self, places[i]);
        if (realpath(candidate, resolved) != NULL) {
            snprintf(out, out_size, "%s", resolved);
            return is_fit(out);
        }
    }
    say("libordeal.so is neither in %s/../lib nor in %s/../lib/ordeal; build it (make build), or name it in "
        "ORDEAL_LIB",
        self, self);
    return false;
}

bool preload_set(const char *library)
{
    const char *old = getenv("LD_PRELOAD");
    size_t length = strlen(library);
    bool first = old != NULL && strncmp(old, library, length) == 0 &&
                 (old[length] == '\0' || old[length] == ':' || old[length] == ' ');
    if (first)
        return true;
    char *list;
    bool chained = old != NULL && *old != '\0';
    if (asprintf(&list, "%s%s%s", library, chained ? ":" : "", chained ? old : "") < 0)
        return false;
    bool set = setenv("LD_PRELOAD", list, 1) == 0;
    free(list);
    return set;
}
