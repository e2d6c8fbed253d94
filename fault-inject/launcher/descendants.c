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

static bool is_alive(const struct process *process)
{
    return process->state != 'Z' && process->state != 'X';
}

static void tell(struct leftovers *told, const struct process *process)
{
    if (told == NULL)
        return;
    if (told->count < LEFTOVERS_MAX) {
        struct leftover *item = &told->items[told->count];
        item->pid = process->pid;
        memcpy(item->name, process->name, sizeof item->name);
    }
    told->count++;
}

/* All that are our children now. Each is waited for, so that its own children are ours when we look again. */
static void kill_children(struct leftovers *told)
{
    int32_t self = (int32_t)getpid();
    struct process_list list = read_all();
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].parent == self && is_alive(&list.items[i])) {
            tell(told, &list.items[i]);
            kill(list.items[i].pid, SIGKILL);
        }
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].parent == self)
            waitpid(list.items[i].pid, NULL, 0);
    free(list.items);
}

void descendants_kill(struct leftovers *told)
{
    for (;;) {
        pid_t reaped = waitpid(-1, NULL, WNOHANG);
        if (reaped < 0 && errno == ECHILD)
            return;
        if (reaped <= 0)
            kill_children(told);
    }
}
