#include "runtime/fiber/master/user.h"

#include "runtime/fiber/master/log.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool find_group(const char *group, gid_t *gid)
{
    const struct group *found = getgrnam(group);
    if (!found && !is_number(group))
        return false;
    *gid = found ? found->gr_gid : (gid_t)strtoul(group, NULL, 10);
    return true;
}

bool user_find(const char *user, const char *group, struct user *result)
{
    *result = (struct user){.uid = geteuid(), .gid = getegid()};
    const struct passwd *found = NULL;
    if (user) {
        found = getpwnam(user);
        if (!found && !is_number(user))
            return false;
        result->uid = found ? found->pw_uid : (uid_t)strtoul(user, NULL, 10);
        if (!found)
            found = getpwuid(result->uid);
    }
    if (found) {
        result->gid = found->pw_gid;
        snprintf(result->name, sizeof result->name, "%s", found->pw_name);
        snprintf(result->home, sizeof result->home, "%s", found->pw_dir);
    }
    return !group || find_group(group, &result->gid);
}

bool user_become(const struct user *user)
{
    bool done = user->name[0] ? initgroups(user->name, user->gid) == 0 : setgroups(1, &user->gid) == 0;
    return done && setgid(user->gid) == 0 && setuid(user->uid) == 0;
}

static bool check(const struct pool_config *pool, bool root_allowed)
{
    struct user user;
    if (!user_find(pool->user, pool->group, &user)) {
        log_line(LOG_LEVEL_ERROR, "[pool %s] cannot find the user or the group", pool->name);
        return false;
    }
    if (geteuid() != 0) {
        if (pool->user)
            log_line(LOG_LEVEL_NOTICE,
                     "[pool %s] 'user' directive is ignored when the server is not running as root",
                     pool->name);
        return true;
    }
    if (root_allowed)
        return true;
    if (!pool->user)
        log_line(LOG_LEVEL_ALERT, "[pool %s] user has not been defined", pool->name);
    else if (user.uid == 0 || user.gid == 0)
        log_line(LOG_LEVEL_ERROR, "[pool %s] please specify user and group other than root", pool->name);
    return pool->user && user.uid != 0 && user.gid != 0;
}

bool users_check(const struct fiber_config *config, bool root_allowed)
{
    for (unsigned i = 0; i < config->pools_count; i++)
        if (!check(&config->pools[i], root_allowed))
            return false;
    return true;
}
