/* Which file is the script? A web server sends what it believes; this puts it right, as php-fpm does.
 *
 *     SCRIPT_FILENAME=/docroot/info.php/test  SCRIPT_NAME=/info.php/test  PATH_INFO=/info.php/test
 *
 * becomes, with cgi.fix_pathinfo, when /docroot/info.php is the file that there is:
 *
 *     SCRIPT_FILENAME=/docroot/info.php       SCRIPT_NAME=/info.php       PATH_INFO=/test
 *     PATH_TRANSLATED=/docroot/test           and ORIG_... for each that was changed. */
#include "runtime/defect.h"
#include "runtime/fiber/sapi/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* What the web server sent, and what is found; all texts live in the request's parameters. */
struct place {
    struct params *params;
    char *path;        /* the script's file, so far; NULL: none */
    char *script_name; /* SCRIPT_NAME, so far */
    char *path_info;
    char *uri;    /* becomes request_uri; NULL: not decided */
    bool proxied; /* by Apache's mod_proxy_fcgi, which puts a URL into SCRIPT_FILENAME */
    struct {
        char *filename, *script_name, *path_info, *path_translated;
    } given;
};

static bool starts(const char *text, const char *prefix)
{
    return text && !strncasecmp(text, prefix, strlen(prefix));
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Puts `value` into `name`; what was sent before stays to be seen as ORIG_name. */
static char *correct(struct params *params, const char *name, const char *value, const char *orig_name,
                     const char *orig)
{
    if (orig)
        params_put(params, orig_name, orig);
    return params_put(params, name, value);
}

/* proxy:fcgi://localhost:9000/docroot/info.php?a=b -> /docroot/info.php */
static void strip_proxy(struct place *place)
{
    static const char *const prefixes[] = {"proxy:fcgi://", "proxy:balancer://"};
    char *name = place->given.filename;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!starts(name, prefixes[i]))
            continue;
        const char *path = strchr(name + strlen(prefixes[i]), '/');
        if (path) {
            memmove(name, path, strlen(path) + 1);
            place->proxied = true;
        }
        name[strcspn(name, "?")] = '\0';
    }
}

/* IIS puts SCRIPT_NAME before PATH_INFO. */
static void strip_iis(struct place *place)
{
    const char *software = params_get(place->params, "SERVER_SOFTWARE");
    if (!starts(software, "Microsoft-IIS") || !place->script_name || !place->path_info)
        return;
    size_t length = strlen(place->script_name);
    if (strncmp(place->path_info, place->script_name, length))
        return;
    const char *rest = place->path_info[length] ? place->path_info + length : NULL;
    place->path_info = correct(place->params, "PATH_INFO", rest, "ORIG_PATH_INFO", place->path_info);
}

/* With PATH_INFO=/info.php/test, and the file of the first part found: what is left is SCRIPT_NAME. */
static void split_path_info(struct place *place, char *rest)
{
    struct params *params = place->params;
    const char *given_name = place->given.script_name;
    char first = rest[0];
    params_put(params, "ORIG_PATH_INFO", place->given.path_info);
    rest[0] = '\0';
    if (same(given_name, place->path_info))
        place->uri = place->given.script_name;
    else
        place->uri = correct(params, "SCRIPT_NAME", place->path_info, "ORIG_SCRIPT_NAME", given_name);
    rest[0] = first;
}

/* mod_proxy_fcgi sends no PATH_INFO; it is still at the end of SCRIPT_NAME. */
static void cut_script_name(struct place *place, const char *rest)
{
    size_t name_len = place->script_name ? strlen(place->script_name) : 0, rest_len = strlen(rest);
    if (name_len <= rest_len || strcmp(place->script_name + name_len - rest_len, rest))
        return;
    params_put(place->params, "ORIG_SCRIPT_NAME", place->given.script_name);
    place->script_name[name_len - rest_len] = '\0';
    place->uri = params_put(place->params, "SCRIPT_NAME", place->script_name);
}

/* `file` was found by cutting `cut` bytes off the end of place->path: these are the PATH_INFO. */
static void take_path_info(struct place *place, const char *file, size_t cut)
{
    char *rest;
    bool changed;
    if (place->proxied) {
        rest = place->path + strlen(file);
        changed = cut && !same(place->given.path_info, rest);
    } else {
        size_t length = place->path_info ? strlen(place->path_info) : 0;
        rest = length > cut ? place->path_info + length - cut : NULL;
        changed = rest && rest != place->given.path_info;
    }
    if (!changed)
        return;
    if (place->given.path_info)
        split_path_info(place, rest);
    else if (place->proxied)
        cut_script_name(place, rest);
    place->path_info = params_put(place->params, "PATH_INFO", rest);
}

/* PATH_TRANSLATED = DOCUMENT_ROOT + PATH_INFO; without a DOCUMENT_ROOT the file's name without SCRIPT_NAME is
 * taken. */
static void translate(struct place *place, const char *file)
{
    const char *root = params_get(place->params, "DOCUMENT_ROOT");
    size_t length = root ? strlen(root) : 0;
    if (root) {
        if (length && root[length - 1] == '/')
            length--;
    } else if (place->script_name && strstr(file, place->script_name)) {
        root = file;
        length = strlen(file) - strlen(place->script_name);
    } else {
        return;
    }
    char *text;
    spprintf(&text, 0, "%.*s%s", (int)length, root, place->path_info ? place->path_info : "");
    correct(place->params, "PATH_TRANSLATED", text, "ORIG_PATH_TRANSLATED", place->given.path_translated);
    efree(text);
}

/* The file itself is not there: takes the longest beginning of its name that is a file. */
static void walk_back(struct place *place)
{
    char *file = estrdup(place->path), *slash;
    size_t length = strlen(file);
    struct stat st;
    while ((slash = strrchr(file, '/')) || (slash = strrchr(file, '\\'))) {
        *slash = '\0';
        if (stat(file, &st) || !S_ISREG(st.st_mode))
            continue;
        take_path_info(place, file, length - strlen(file));
        if (!same(place->given.filename, file))
            place->path = correct(place->params, "SCRIPT_FILENAME", file, "ORIG_SCRIPT_FILENAME",
                                  place->given.filename);
        translate(place, file);
        break;
    }
    if (!slash) {
        correct(place->params, "SCRIPT_FILENAME", NULL, "ORIG_SCRIPT_FILENAME", place->given.filename);
        place->path = NULL;
        SG(sapi_headers).http_response_code = 404;
    }
    efree(file);
    if (place->uri)
        return;
    place->uri = place->script_name;
    if (!same(place->given.script_name, place->script_name))
        place->uri = correct(place->params, "SCRIPT_NAME", place->script_name, "ORIG_SCRIPT_NAME",
                             place->given.script_name);
}

/* The file is there as it was named. */
static void take_as_named(struct place *place, bool redirected)
{
    struct params *params = place->params;
    if (!same(place->given.filename, place->path))
        place->path =
            correct(params, "SCRIPT_FILENAME", place->path, "ORIG_SCRIPT_FILENAME", place->given.filename);
    if (redirected && !place->proxied) {
        if (place->given.path_info)
            correct(params, "PATH_INFO", NULL, "ORIG_PATH_INFO", place->given.path_info);
        if (place->given.path_translated)
            correct(params, "PATH_TRANSLATED", NULL, "ORIG_PATH_TRANSLATED", place->given.path_translated);
    }
    place->uri = place->script_name;
    if (place->script_name != place->given.script_name)
        place->uri =
            correct(params, "SCRIPT_NAME", place->script_name, "ORIG_SCRIPT_NAME", place->given.script_name);
}

static void fix_path_info(struct place *place)
{
    char *redirect = params_get(place->params, "REDIRECT_URL");
    char *translated = place->given.path_translated;
    if (!params_get(place->params, "DOCUMENT_ROOT") && PG(doc_root))
        params_put(place->params, "DOCUMENT_ROOT", PG(doc_root));
    /* Apache's Action: SCRIPT_FILENAME and SCRIPT_NAME are the handler, PATH_TRANSLATED is the script. */
    if (!place->proxied && translated && redirect && !same(translated, place->path)) {
        place->path = translated;
        place->script_name = redirect;
    }
    size_t length = strlen(place->path);
    char *real = length && place->path[length - 1] != '/' ? tsrm_realpath(place->path, NULL) : NULL;
    if (length && !real)
        walk_back(place);
    else
        take_as_named(place, redirect != NULL);
    if (real)
        efree(real);
}

/* No /../ in it. */
static bool is_plain(const char *path)
{
    for (const char *dots = strstr(path, ".."); dots; dots = strstr(dots + 1, ".."))
        if ((dots == path || dots[-1] == '/') && (!dots[2] || dots[2] == '/'))
            return false;
    return true;
}

void sapi_find_script(struct request *request)
{
    struct params *params = &request->params;
    struct place place = {
        .params = params,
        .script_name = params_get(params, "SCRIPT_NAME"),
        .path_info = params_get(params, "PATH_INFO"),
        .given.filename = params_get(params, "SCRIPT_FILENAME"),
        .given.path_translated = params_get(params, "PATH_TRANSLATED"),
    };
    if (!place.given.filename && !place.given.path_translated)
        return;
    place.given.script_name = place.script_name;
    strip_iis(&place);
    place.given.path_info = place.path_info;
    strip_proxy(&place);
    place.path = place.given.filename ? place.given.filename : place.given.path_translated;

    if (FIBER_G(fix_pathinfo)) {
        fix_path_info(&place);
    } else {
        place.uri = place.path_info ? place.path_info : place.script_name;
        if (!FIBER_G(discard_path) && place.given.path_translated)
            place.path = place.given.path_translated;
    }
    SG(request_info).request_uri = place.uri;
    if (place.path && is_plain(place.path))
        SG(request_info).path_translated = estrdup(place.path);
}

bool sapi_extension_denied(const struct request *request, const char *path)
{
    const struct request_rules *rules = request->rules;
    if (!rules->limit_extensions_count || DEFECT(N7))
        return false;
    size_t length = strlen(path);
    for (unsigned i = 0; i < rules->limit_extensions_count; i++) {
        const char *extension = rules->limit_extensions[i];
        size_t end = strlen(extension);
        if (length > end && !strcasecmp(path + length - end, extension))
            return false;
    }
    return true;
}
