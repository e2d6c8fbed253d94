/* What the system keeps for the process, and a script takes for its own. */
#include "runtime/fiber/engine/slot.h"
#include "runtime/fiber/seam/seam.h"

#include "runtime/fiber/sched/sched.h"

#include <errno.h>
#include <libintl.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

int chdir(const char *path)
{
    return SEAM_TAKES(chdir) ? process_chdir(&slot_current->process, path) : REAL(chdir)(path);
}

int fchdir(int fd)
{
    return SEAM_TAKES(fchdir) ? process_fchdir(&slot_current->process, fd) : REAL(fchdir)(fd);
}

char *setlocale(int category, const char *locale)
{
    return SEAM_TAKES(setlocale) ? process_setlocale(&slot_current->process, category, locale)
                                 : REAL(setlocale)(category, locale);
}

mode_t umask(mode_t mask)
{
    return SEAM_TAKES(umask) ? process_umask(&slot_current->process, mask) : REAL(umask)(mask);
}

char *textdomain(const char *domain)
{
    return SEAM_TAKES(textdomain) ? text_domain_set(&slot_current->process.text, domain)
                                  : REAL(textdomain)(domain);
}

char *bindtextdomain(const char *domain, const char *folder)
{
    return SEAM_TAKES(bindtextdomain) ? text_domain_bind(&slot_current->process.text, domain, folder)
                                      : REAL(bindtextdomain)(domain, folder);
}

char *bind_textdomain_codeset(const char *domain, const char *codeset)
{
    return SEAM_TAKES(bind_textdomain_codeset)
               ? text_domain_set_codeset(&slot_current->process.text, domain, codeset)
               : REAL(bind_textdomain_codeset)(domain, codeset);
}

int putenv(char *entry)
{
    return SEAM_TAKES(putenv) ? process_putenv(&slot_current->process, entry) : REAL(putenv)(entry);
}

int setenv(const char *name, const char *value, int overwrite)
{
    return SEAM_TAKES(setenv) ? process_setenv(&slot_current->process, name, value, overwrite)
                              : REAL(setenv)(name, value, overwrite);
}

int unsetenv(const char *name)
{
    return SEAM_TAKES(unsetenv) ? process_unsetenv(&slot_current->process, name) : REAL(unsetenv)(name);
}

int chroot(const char *path)
{
    if (!SEAM_TAKES(chroot))
        return REAL(chroot)(path);
    errno = EPERM;
    return -1;
}

/* max_execution_time. What was left of an earlier limit is never asked for. */
int setitimer(__itimer_which_t which, const struct itimerval *value, struct itimerval *old)
{
    if (!SEAM_TAKES(setitimer) || which != ITIMER_PROF || !value)
        return REAL(setitimer)(which, value, old);
    if (old)
        *old = (struct itimerval){0};
    sched_limit_cpu((int64_t)value->it_value.tv_sec * SEAM_S_NS + (int64_t)value->it_value.tv_usec * 1000);
    return 0;
}

void *dlopen(const char *path, int mode)
{
    if (seam_disabled[SEAM_dlopen])
        return REAL(dlopen)(path, mode);
    return REAL(dlopen)(path, mode & ~RTLD_DEEPBIND);
}
