/*
 * Text with holes, as the mix file has it: "/session.php?sid={sid:16}&n={n}".
 *
 *     {n}            the request's number          {marker}     the request's marker
 *     {sid:16}       one of 16 session ids         {random:99}  a number of 0 .. 98
 *
 * The same hole has the same value everywhere in one request (in its path, a header and its body).
 */
#ifndef ORDEAL_LOAD_TEMPLATE_H
#define ORDEAL_LOAD_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEMPLATE_PIECES_MAX 16

enum piece_kind { PIECE_LITERAL, PIECE_NUMBER, PIECE_MARKER, PIECE_SID, PIECE_RANDOM };

struct piece {
    enum piece_kind kind;
    const char *text; /* PIECE_LITERAL: not owned */
    size_t bytes;
    uint64_t range; /* PIECE_SID, PIECE_RANDOM */
};

struct template
{
    struct piece pieces[TEMPLATE_PIECES_MAX];
    size_t count;
    size_t bytes_max; /* no expansion is longer */
};

struct template_values {
    uint64_t seed;
    uint64_t number;
    const char *marker; /* MARKER_BYTES */
};

/* Reads text[0..bytes); on failure says where (offset) and what was expected. The text must outlive it. */
bool template_parse(struct template *template, const char *text, size_t bytes, size_t *error_offset,
                    char *error, size_t error_bytes);

/* Writes the expansion (at most bytes_max) and returns its end; no terminating zero. */
char *template_expand(const struct template *template, const struct template_values *values, char *out);

#endif
