/* Settings that depend on where the script is: [HOST=...] and [PATH=...] sections of php.ini, and .user.ini
 * files in the folders from the document root down to the script's.
 *
 * What the files of a folder say is kept for user_ini.cache_ttl seconds: one cache for the process, outside
 * of the images, as the answer is the same for every request. */
#include "runtime/fiber/sapi/internal.h"

#include <string.h>

struct cached {
    time_t expires;
    HashTable settings;
};

static HashTable cache; /* folder -> struct cached */
static bool cache_made;

static void free_setting(zval *value)
{
    if (Z_TYPE_P(value) == IS_STRING)
        zend_string_release(Z_STR_P(value));
}

static void free_cached(zval *value)
{
    struct cached *entry = Z_PTR_P(value);
    zend_hash_destroy(&entry->settings);
    free(entry);
}

static struct cached *cached_for(const char *folder, size_t length)
{
    if (!cache_made) {
        zend_hash_init(&cache, 0, NULL, free_cached, true);
        cache_made = true;
    }
    struct cached *entry = zend_hash_str_find_ptr(&cache, folder, length);
    if (entry)
        return entry;
    entry = pecalloc(1, sizeof *entry, true);
    zend_hash_init(&entry->settings, 0, NULL, free_setting, true);
    zend_hash_str_add_new_ptr(&cache, folder, length, entry);
    return entry;
}

/* The files of `folder` and, inside of the document root, of all folders above it, the nearest last. */
static void scan(char *folder, size_t length, const char *root, size_t root_len, HashTable *settings)
{
    if (strncmp(folder, root, root_len < length ? root_len : length) || length < root_len) {
        php_parse_user_ini_file(folder, PG(user_ini_filename), settings);
        return;
    }
    for (char *slash = folder + root_len; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        php_parse_user_ini_file(folder, PG(user_ini_filename), settings);
        *slash = '/';
    }
}

static void activate_files(const char *folder, size_t length)
{
    const char *root = params_get(&sapi_request()->params, "DOCUMENT_ROOT");
    if (!root)
        return;
    size_t root_len = strlen(root);
    if (root_len && root[root_len - 1] == '/')
        root_len--;
    struct cached *entry = cached_for(folder, length);
    time_t now = (time_t)sapi_get_request_time();
    if (now > entry->expires) {
        zend_hash_clean(&entry->settings);
        char *real = folder[0] == '/' ? NULL : tsrm_realpath(folder, NULL);
        char *path = real ? real : estrndup(folder, length);
        if (path[0] == '/')
            scan(path, strlen(path), root, root_len, &entry->settings);
        efree(path);
        entry->expires = now + PG(user_ini_cache_ttl);
    }
    php_ini_activate_config(&entry->settings, PHP_INI_PERDIR, PHP_INI_STAGE_HTACCESS);
}

static void activate_host(void)
{
    const char *name = params_get(&sapi_request()->params, "SERVER_NAME");
    if (!name)
        return;
    size_t length = strlen(name);
    char *lower = estrndup(name, length);
    zend_str_tolower(lower, length);
    php_ini_activate_per_host_config(lower, length);
    efree(lower);
}

int sapi_activate_user_ini(void)
{
    const char *script = SG(request_info).path_translated;
    if (!sapi_request() || !script)
        return FAILURE;
    if (php_ini_has_per_host_config())
        activate_host();
    bool files = PG(user_ini_filename) && *PG(user_ini_filename);
    if (!files && !php_ini_has_per_dir_config())
        return SUCCESS;
    char *folder = emalloc(strlen(script) + 2);
    strcpy(folder, script);
    size_t length = zend_dirname(folder, strlen(script));
    folder[length++] = '/';
    folder[length] = '\0';
    php_ini_activate_per_dir_config(folder, length);
    if (files)
        activate_files(folder, length);
    efree(folder);
    return SUCCESS;
}
