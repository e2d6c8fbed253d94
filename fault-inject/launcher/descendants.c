#include "fault-inject/launcher/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct process {
    int32_t pid, parent;
    char state;
    bool below; /* a descendant of ours */
    char name[16];
};

struct process_list {
    struct process *items;
    size_t count, room;
};

/* /proc/PID/stat: "PID (name) state parent …"; the name may hold anything, so its end is the last ')'. */
static bool read_process(const char *pid, struct process *process)
{
    char path[300], text[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    char *open_mark = strchr(text, '('), *close_mark = strrchr(text, ')');
    if (open_mark == NULL || close_mark == NULL || close_mark[1] == '\0')
        return false;
    *close_mark = '\0';
    process->pid = (int32_t)strtol(text, NULL, 10);
    process->state = close_mark[2];
    process->parent = (int32_t)strtol(close_mark + 3, NULL, 10);
    process->below = false;
    snprintf(process->name, sizeof process->name, "%.15s", open_mark + 1);
    return true;
}

static bool add_process(struct process_list *list, const struct process *process)
{
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 256 : list->room * 2;
        struct process *items = realloc(list->items, room * sizeof *items);
        if (items == NULL)
            return false;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = *process;
    return true;
}

static struct process_list read_all(void)
{
    struct process_list list = {NULL, 0, 0};
    DIR *folder = opendir("/proc");
    if (folder == NULL)
        return list;
    struct process process;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (isdigit((unsigned char)entry->d_name[0]) && read_process(entry->d_name, &process) &&
            !add_process(&list, &process))
            break;
    closedir(folder);
    return list;
}

static bool parent_is_below(const struct process_list *list, int32_t parent)
{
    if (parent == (int32_t)getpid())
        return true;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].pid == parent)
            return list->items[i].below;
    return false;
}

static void mark_descendants(struct process_list *list)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < list->count; i++)
            if (!list->items[i].below && parent_is_below(list, list->items[i].parent)) {
                list->items[i].below = true;
                changed = true;
            }
    }
}

static bool is_alive(const struct process *process)
{
    return process->state != 'Z' && process->state != 'X';
}

size_t descendants_list(struct leftover out[LEFTOVERS_MAX])
{
    struct process_list list = read_all();
    mark_descendants(&list);
    size_t count = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (!list.items[i].below || !is_alive(&list.items[i]))
            continue;
        if (count < LEFTOVERS_MAX) {
            out[count].pid = list.items[i].pid;
            memcpy(out[count].name, list.items[i].name, sizeof out[count].name);
        }
        count++;
    }
    free(list.items);
    return count;
}

static void kill_children(void)
{
    struct process_list list = read_all();
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].parent == (int32_t)getpid() && is_alive(&list.items[i]))
            kill(list.items[i].pid, SIGKILL);
    free(list.items);
}

void descendants_kill(void)
{
    for (;;) {
        pid_t reaped = waitpid(-1, NULL, WNOHANG);
        if (reaped > 0)
            continue;
        if (reaped < 0 && errno == ECHILD)
            return;
        kill_children();
        if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
            return;
    }
}
