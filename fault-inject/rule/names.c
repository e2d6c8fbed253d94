#include "fault-inject/rule/names.h"

#include <ctype.h>

bool name_is_valid(struct span name)
{
    if (name.length == 0 || name.length >= CONTROL_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.length; i++)
        if (!isalnum((unsigned char)name.at[i]) && memchr("_-.", name.at[i], 3) == NULL)
            return false;
    return true;
}

int mark_find(const struct control_page *page, struct span name)
{
    uint32_t count = atomic_load(&page->mark_count);
    for (uint32_t i = 0; i < count && i < CONTROL_MARKS_MAX; i++)
        if (span_is(name, page->marks[i].name))
            return (int)i;
    return -1;
}

int rendezvous_find(const struct control_page *page, struct span name)
{
    uint32_t count = atomic_load(&page->rendezvous_count);
    for (uint32_t i = 0; i < count && i < CONTROL_RENDEZVOUS_MAX; i++)
        if (span_is(name, page->rendezvous[i].name))
            return (int)i;
    return -1;
}

static void copy_name(char to[CONTROL_NAME_MAX], struct span name)
{
    memset(to, 0, CONTROL_NAME_MAX);
    memcpy(to, name.at, name.length);
}

int mark_enter(struct control_page *page, struct span name)
{
    int index = mark_find(page, name);
    if (index >= 0)
        return index;
    uint32_t count = atomic_load(&page->mark_count);
    if (count == CONTROL_MARKS_MAX)
        return -1;
    copy_name(page->marks[count].name, name);
    atomic_store(&page->mark_count, count + 1);
    return (int)count;
}

int rendezvous_enter(struct control_page *page, struct span name)
{
    int index = rendezvous_find(page, name);
    if (index >= 0)
        return index;
    uint32_t count = atomic_load(&page->rendezvous_count);
    if (count == CONTROL_RENDEZVOUS_MAX)
        return -1;
    copy_name(page->rendezvous[count].name, name);
    atomic_store(&page->rendezvous_count, count + 1);
    return (int)count;
}
