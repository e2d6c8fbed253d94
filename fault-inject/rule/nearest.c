#include "fault-inject/rule/nearest.h"

#include <ctype.h>

struct nearest nearest_to(struct span wanted)
{
    return (struct nearest){.wanted = wanted, .best = NULL, .distance = 2 + wanted.length / 3};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters to insert, delete, replace or swap with their neighbour, without regard to case. */
static size_t edit_distance(struct span a, struct span b)
{
    size_t rows[3][NEAREST_WORD_MAX + 1];
    for (size_t j = 0; j <= b.length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.length; i++) {
        size_t *now = rows[i % 3];
        const size_t *previous = rows[(i + 2) % 3];
        const size_t *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.length; j++) {
            size_t replace = previous[j - 1] + (same_letter(a.at[i - 1], b.at[j - 1]) ? 0 : 1);
            now[j] = least(replace, least(previous[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a.at[i - 1], b.at[j - 2]) &&
                same_letter(a.at[i - 2], b.at[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return rows[a.length % 3][b.length];
}

void nearest_offer(struct nearest *near, const char *candidate)
{
    if (candidate == NULL)
        return;
    struct span word = span_of(candidate);
    if (near->wanted.length == 0 || near->wanted.length > NEAREST_WORD_MAX || word.length > NEAREST_WORD_MAX)
        return;
    size_t longer = word.length > near->wanted.length ? word.length - near->wanted.length
                                                      : near->wanted.length - word.length;
    if (longer >= near->distance)
        return; /* so many letters have to be added or taken away at least */
    size_t distance = edit_distance(near->wanted, word);
    if (distance < near->distance && distance < word.length) {
        near->distance = distance;
        near->best = candidate;
    }
}
