#include "fault-inject/launcher/program.h"

#include "fault-inject/launcher/say.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { INTERPRETER_DEPTH_MAX = 4, HEAD_BYTES = 4096 };

static int check_file(const char *name, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        say("%s: %s", name, strerror(errno));
        return errno == ENOENT || errno == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    }
    if (S_ISDIR(status.st_mode)) {
        say("%s is a folder, not a program", name);
        return EXIT_NOT_EXECUTABLE;
    }
    if (access(path, X_OK) != 0) {
        say("%s may not be executed: %s (mode %03o)", name, strerror(errno),
            (unsigned)status.st_mode & 0777u);
        return EXIT_NOT_EXECUTABLE;
    }
    return 0;
}

static int search_path(const char *name, char *out)
{
    const char *list = getenv("PATH");
    if (list == NULL)
        list = "/usr/local/bin:/usr/bin:/bin";
    char unusable[PATH_MAX] = "";
    while (*list != '\0') {
        size_t length = strcspn(list, ":");
        int written =
            snprintf(out, PATH_MAX, "%.*s/%s", length > 0 ? (int)length : 1, length > 0 ? list : ".", name);
        struct stat status;
        if (written < PATH_MAX && stat(out, &status) == 0 && S_ISREG(status.st_mode)) {
            if (access(out, X_OK) == 0)
                return 0;
            memcpy(unusable, out, PATH_MAX);
        }
        list += length + (list[length] == ':' ? 1 : 0);
    }
    if (unusable[0] != '\0')
        return check_file(unusable, unusable);
    say("%s: there is no such program in PATH", name);
    return EXIT_NOT_FOUND;
}

/* The kernel starts such a program in secure mode, in which ld.so ignores LD_PRELOAD. */
static bool gains_privileges(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    bool set_uid = (status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid();
    bool set_gid = (status.st_mode & S_ISGID) != 0 && status.st_gid != getegid();
    return set_uid || set_gid || (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static bool elf_is_static(int fd, const Elf64_Ehdr *header)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        off_t offset = (off_t)(header->e_phoff + (Elf64_Off)i * sizeof segment);
        if (pread(fd, &segment, sizeof segment, offset) != (ssize_t)sizeof segment)
            return false;
        if (segment.p_type == PT_INTERP)
            return false;
    }
    return true;
}

static void judge_elf(int fd, const char *head, struct program *program, const char *path)
{
    Elf64_Ehdr header;
    memcpy(&header, head, sizeof header);
    char *why = program->unreachable;
    size_t room = sizeof program->unreachable;
    if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        snprintf(why, room, "%.200s is built for another word size than libordeal.so", path);
    else if (elf_is_static(fd, &header))
        snprintf(why, room, "%.200s is statically linked", path);
    else if (gains_privileges(path))
        snprintf(why, room, "%.200s is set-user-ID, set-group-ID or has capabilities of its own", path);
}

static int judge(const char *path, struct program *program, int depth);

/* "#!/usr/bin/env php": the interpreter is what the library has to reach. */
static int judge_script(const char *path, char *head, struct program *program, int depth)
{
    head[strcspn(head, "\n")] = '\0';
    char *interpreter = head + 2 + strspn(head + 2, " \t");
    interpreter[strcspn(interpreter, " \t\r")] = '\0';
    if (depth >= INTERPRETER_DEPTH_MAX) {
        say("%s: more than %d interpreters deep", path, INTERPRETER_DEPTH_MAX);
        return EXIT_NOT_EXECUTABLE;
    }
    if (access(interpreter, X_OK) == 0)
        return judge(interpreter, program, depth + 1);
    say("%s: its first line asks for the interpreter '%s': %s", path, interpreter, strerror(errno));
    return EXIT_NOT_EXECUTABLE;
}

static int judge(const char *path, struct program *program, int depth)
{
    char head[HEAD_BYTES + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* may be executed but not read: the kernel will judge */
    ssize_t length = pread(fd, head, HEAD_BYTES, 0);
    head[length > 0 ? length : 0] = '\0';
    int status = 0;
    if (length >= (ssize_t)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0) {
        judge_elf(fd, head, program, path);
    } else if (length >= 2 && head[0] == '#' && head[1] == '!') {
        status = judge_script(path, head, program, depth);
    } else {
        say("%s is neither an ELF program nor a script with a first line such as #!/bin/sh", path);
        status = EXIT_NOT_EXECUTABLE;
    }
    close(fd);
    return status;
}

int program_find(const char *name, struct program *program)
{
    program->unreachable[0] = '\0';
    int status;
    if (strchr(name, '/') == NULL) {
        status = search_path(name, program->path);
    } else {
        snprintf(program->path, sizeof program->path, "%s", name);
        status = check_file(name, program->path);
    }
    return status != 0 ? status : judge(program->path, program, 0);
}
