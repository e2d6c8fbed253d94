#include "harness/load/mix_body.h"

#include "harness/load/marker.h"
#include "harness/load/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static unsigned char *read_stream(FILE *file, const char *path, uint64_t size, uint64_t *bytes, char *error,
                                  size_t error_bytes)
{
    unsigned char *text = malloc(size + 1);
    if (text == NULL) {
        snprintf(error, error_bytes, "%s: out of memory for its %llu bytes", path, (unsigned long long)size);
        return NULL;
    }
    *bytes = fread(text, 1, size, file);
    if (ferror(file)) {
        snprintf(error, error_bytes, "cannot read %s: %s", path, strerror(errno));
        free(text);
        return NULL;
    }
    text[*bytes] = '\0';
    return text;
}

unsigned char *mix_load_file(const char *path, uint64_t bytes_max, uint64_t *bytes, char *error,
                             size_t error_bytes)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &status) != 0) {
        snprintf(error, error_bytes, "cannot read %s: %s", path, strerror(errno));
        if (file != NULL)
            fclose(file);
        return NULL;
    }
    unsigned char *text = NULL;
    if (S_ISDIR(status.st_mode))
        snprintf(error, error_bytes, "cannot read %s: it is a folder, expected a file", path);
    else if ((uint64_t)status.st_size > bytes_max)
        snprintf(error, error_bytes, "%s: larger than %llu bytes", path, (unsigned long long)bytes_max);
    else
        text = read_stream(file, path, S_ISREG(status.st_mode) ? (uint64_t)status.st_size : bytes_max, bytes,
                           error, error_bytes);
    fclose(file);
    return text;
}

bool mix_body_generated(struct mix_line *line, const char *size, char *error, size_t error_bytes)
{
    if (!text_size(size, &line->body_bytes) || line->body_bytes > MIX_BODY_BYTES_MAX) {
        snprintf(error, error_bytes, "body='%.60s', expected a size up to 1G such as 8M, @FILE, or text:TEXT",
                 size);
        return false;
    }
    line->body = malloc(line->body_bytes + 1);
    if (line->body == NULL) {
        snprintf(error, error_bytes, "out of memory for a body of %s", size);
        return false;
    }
    for (uint64_t i = 0; i < line->body_bytes; i++)
        line->body[i] = (unsigned char)('a' + mix_bits(i) % 26);
    return true;
}

bool mix_body_file(struct mix_line *line, const char *mix_path, const char *path, char *error,
                   size_t error_bytes)
{
    char full[4096];
    const char *slash = strrchr(mix_path, '/');
    int folder_bytes = slash != NULL && path[0] != '/' ? (int)(slash - mix_path) + 1 : 0;
    int used = snprintf(full, sizeof full, "%.*s%s", folder_bytes, mix_path, path);
    if (used < 0 || (size_t)used >= sizeof full) {
        snprintf(error, error_bytes, "file name longer than %zu bytes", sizeof full);
        return false;
    }
    line->body = mix_load_file(full, MIX_BODY_BYTES_MAX, &line->body_bytes, error, error_bytes);
    return line->body != NULL;
}
