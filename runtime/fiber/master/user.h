/* Who a worker runs as. */
#ifndef ORDEAL_FIBER_USER_H
#define ORDEAL_FIBER_USER_H

#include "runtime/fiber/config/config.h"

struct user {
    uid_t uid;
    gid_t gid;
    char name[64], home[256]; /* "": the system knows no such user */
};

/* By names or numbers; without a group it is the user's own, without a user it is ours. */
bool user_find(const char *user, const char *group, struct user *result);

/* For good: groups, group, user. */
bool user_become(const struct user *user);

/* May pools run as they want to? As php-fpm: workers of root's master have to be somebody else, unless
 * `root_allowed`. False: the reason was logged. */
bool users_check(const struct fiber_config *config, bool root_allowed);

#endif
