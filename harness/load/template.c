#include "harness/load/template.h"

#include "harness/load/marker.h"
#include "harness/load/text.h"

#include <stdio.h>
#include <string.h>

#define DECIMAL_BYTES_MAX 20
#define SID_BYTES 32
#define RANGE_MAX 1000000000u

struct hole {
    const char *name;
    enum piece_kind kind;
    bool has_range;
    size_t bytes_max;
};

static const struct hole holes[] = {
    {"n", PIECE_NUMBER, false, DECIMAL_BYTES_MAX},
    {"marker", PIECE_MARKER, false, MARKER_BYTES},
    {"sid", PIECE_SID, true, SID_BYTES},
    {"random", PIECE_RANDOM, true, DECIMAL_BYTES_MAX},
};
#define HOLES (sizeof holes / sizeof holes[0])

static const struct hole *hole_named(const char *name, size_t bytes)
{
    for (size_t i = 0; i < HOLES; i++) {
        if (strlen(holes[i].name) == bytes && memcmp(holes[i].name, name, bytes) == 0)
            return &holes[i];
    }
    return NULL;
}

static void unknown_hole(const char *name, size_t bytes, char *error, size_t error_bytes)
{
    const char *names[HOLES];
    char word[32];
    for (size_t i = 0; i < HOLES; i++)
        names[i] = holes[i].name;
    snprintf(word, sizeof word, "%.*s", (int)(bytes < 31 ? bytes : 31), name);
    const char *nearest = text_nearest(word, names, HOLES);
    snprintf(error, error_bytes,
             "unknown placeholder '{%s}', expected {n}, {marker}, {sid:COUNT} or {random:COUNT}%s%s%s", word,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* The COUNT of {sid:COUNT}. */
static bool hole_range(struct piece *piece, const char *text, size_t bytes)
{
    char digits[16];
    if (bytes == 0 || bytes >= sizeof digits)
        return false;
    memcpy(digits, text, bytes);
    digits[bytes] = '\0';
    return text_count(digits, &piece->range) && piece->range >= 1 && piece->range <= RANGE_MAX;
}

/* text is what stands between the braces. */
static bool parse_hole(struct piece *piece, size_t *bytes_max, const char *text, size_t bytes, char *error,
                       size_t error_bytes)
{
    const char *colon = memchr(text, ':', bytes);
    size_t name_bytes = colon ? (size_t)(colon - text) : bytes;
    const struct hole *hole = hole_named(text, name_bytes);
    if (hole == NULL) {
        unknown_hole(text, name_bytes, error, error_bytes);
        return false;
    }
    *piece = (struct piece){.kind = hole->kind};
    *bytes_max += hole->bytes_max;
    if (hole->has_range) {
        if (colon == NULL || !hole_range(piece, colon + 1, bytes - name_bytes - 1)) {
            snprintf(error, error_bytes, "{%s} needs a count of 1 to %u, as in {%s:16}", hole->name,
                     RANGE_MAX, hole->name);
            return false;
        }
    } else if (colon != NULL) {
        snprintf(error, error_bytes, "{%s} takes no count, expected {%s}", hole->name, hole->name);
        return false;
    }
    return true;
}

static size_t literal_bytes(const char *text, size_t bytes)
{
    const char *brace = memchr(text, '{', bytes);
    return brace ? (size_t)(brace - text) : bytes;
}

bool template_parse(struct template *template, const char *text, size_t bytes, size_t *error_offset,
                    char *error, size_t error_bytes)
{
    *template = (struct template){0};
    size_t at = 0;
    while (at < bytes) {
        *error_offset = at;
        if (template->count == TEMPLATE_PIECES_MAX) {
            snprintf(error, error_bytes, "too many placeholders, at most %d pieces", TEMPLATE_PIECES_MAX);
            return false;
        }
        struct piece *piece = &template->pieces[template->count++];
        size_t plain = literal_bytes(text + at, bytes - at);
        if (plain > 0) {
            *piece = (struct piece){.kind = PIECE_LITERAL, .text = text + at, .bytes = plain};
            template->bytes_max += plain;
            at += plain;
            continue;
        }
        const char *close = memchr(text + at, '}', bytes - at);
        if (close == NULL) {
            snprintf(error, error_bytes,
                     "'{' without '}', expected a placeholder such as {n} (a plain brace is %%7B)");
            return false;
        }
        size_t inside = (size_t)(close - (text + at)) - 1;
        if (!parse_hole(piece, &template->bytes_max, text + at + 1, inside, error, error_bytes))
            return false;
        at += inside + 2;
    }
    return true;
}

static char *decimal_write(char *out, uint64_t value)
{
    char digits[DECIMAL_BYTES_MAX];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count > 0)
        *out++ = digits[--count];
    return out;
}

/* One of `range` session ids: 32 hex digits, as PHP makes them. */
static char *sid_write(char *out, const struct template_values *values, uint64_t range)
{
    uint64_t which = request_random(values->seed, values->number, PIECE_SID) % range;
    uint64_t bits = mix_bits(values->seed ^ mix_bits(which + range));
    return hex_write(hex_write(out, bits, SID_BYTES / 2), mix_bits(bits), SID_BYTES / 2);
}

char *template_expand(const struct template *template, const struct template_values *values, char *out)
{
    for (size_t i = 0; i < template->count; i++) {
        const struct piece *piece = &template->pieces[i];
        switch (piece->kind) {
        case PIECE_LITERAL:
            memcpy(out, piece->text, piece->bytes);
            out += piece->bytes;
            break;
        case PIECE_NUMBER:
            out = decimal_write(out, values->number);
            break;
        case PIECE_MARKER:
            memcpy(out, values->marker, MARKER_BYTES);
            out += MARKER_BYTES;
            break;
        case PIECE_SID:
            out = sid_write(out, values, piece->range);
            break;
        case PIECE_RANDOM:
            out =
                decimal_write(out, request_random(values->seed, values->number, PIECE_RANDOM) % piece->range);
            break;
        }
    }
    return out;
}
