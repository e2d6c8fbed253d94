/*
 * A small JSON writer: values go straight to a FILE, commas are put where they belong.
 *
 *     struct json json = {file};
 *     json_open(&json, NULL, '{');
 *     json_count(&json, "sent", 10);
 *     json_open(&json, "reasons", '{');
 *     json_text(&json, "first", "status 500");
 *     json_close(&json, '}');
 *     json_close(&json, '}');              {"sent":10,"reasons":{"first":"status 500"}}
 *
 * key is NULL inside a list. Bytes of a text that are not UTF-8 become U+FFFD, so the output is always valid.
 */
#ifndef ORDEAL_LOAD_JSON_OUT_H
#define ORDEAL_LOAD_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *file;
    bool comma;
};

void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_count(struct json *json, const char *key, uint64_t value);
void json_number(struct json *json, const char *key, double value);
void json_text(struct json *json, const char *key, const char *value); /* NULL: null */
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
