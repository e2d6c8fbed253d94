/*
 * Small readers of what people type: durations, sizes, rates, counts; and the valid word nearest to a typo.
 * Each reader takes the whole text or refuses it: "10sx" is not a duration.
 */
#ifndef ORDEAL_LOAD_TEXT_H
#define ORDEAL_LOAD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool text_count(const char *text, uint64_t *count);     /* 10  2k  1M (decimal) */
bool text_size(const char *text, uint64_t *size_bytes); /* 512  64k  8M  1G (binary) */
bool text_duration(const char *text,
                   uint64_t *duration_ns); /* 250us 10ms 30s 5m 1h; a bare number is seconds */
bool text_rate(const char *text, uint64_t *rate_millihertz); /* 500  500/s  0.5/s  10k/s */

/* The word of the list that differs least from `word`, or NULL when none is near enough to be meant. */
const char *text_nearest(const char *word, const char *const *words, size_t count);

/* One readable line out of arbitrary bytes: markup and control bytes dropped, spaces joined, cut at size. */
size_t text_words(char *out, size_t size, const char *bytes, size_t bytes_count);

#endif
