#include "harness/load/json_out.h"

#include <stddef.h>
#include <string.h>

/* How many bytes the UTF-8 sequence at text has; 0 when it is none. */
static size_t utf8_bytes(const unsigned char *text)
{
    size_t bytes = text[0] < 0x80                      ? 1
                   : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                   : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                   : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                       : 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    bool bad = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] >= 0xa0) ||
               (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] >= 0x90);
    return bad ? 0 : bytes;
}

static void string_write(FILE *file, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    putc('"', file);
    while (*at != '\0') {
        size_t bytes = utf8_bytes(at);
        if (bytes == 0)
            fputs("\\ufffd", file);
        else if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < ' ' || *at == 0x7f)
            fprintf(file, "\\u%04x", *at);
        else
            fwrite(at, 1, bytes, file);
        at += bytes == 0 ? 1 : bytes;
    }
    putc('"', file);
}

static void key_write(struct json *json, const char *key)
{
    if (json->comma)
        putc(',', json->file);
    json->comma = true;
    if (key != NULL) {
        string_write(json->file, key);
        putc(':', json->file);
    }
}

void json_open(struct json *json, const char *key, char bracket)
{
    key_write(json, key);
    putc(bracket, json->file);
    json->comma = false;
}

void json_close(struct json *json, char bracket)
{
    putc(bracket, json->file);
    json->comma = true;
}

void json_count(struct json *json, const char *key, uint64_t value)
{
    key_write(json, key);
    fprintf(json->file, "%llu", (unsigned long long)value);
}

void json_number(struct json *json, const char *key, double value)
{
    key_write(json, key);
    fprintf(json->file, "%.15g", value);
}

void json_text(struct json *json, const char *key, const char *value)
{
    if (value == NULL) {
        json_null(json, key);
        return;
    }
    key_write(json, key);
    string_write(json->file, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
    key_write(json, key);
    fputs(value ? "true" : "false", json->file);
}

void json_null(struct json *json, const char *key)
{
    key_write(json, key);
    fputs("null", json->file);
}
