/*
 * libFuzzer entry point for both codecs' readers. The first byte of an input chooses the protocol (bit 0),
 * HEAD (bit 1), and how the rest is cut into pieces (the other bits seed that). What is checked, besides
 * memory: the pieces never change the result, and every malformed answer has a reason.
 *
 *     make build/fuzz/load_codecs && build/fuzz/load_codecs fixtures/fuzz/load
 */
#include "harness/load/marker.h"
#include "harness/load/protocol.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct decoder whole, pieces;

/* Each piece has memory of its own, so that the address sanitizer sees a read past its end. */
static enum progress feed_pieces(const struct protocol *protocol, const uint8_t *data, size_t size,
                                 uint64_t seed)
{
    enum progress progress = PROGRESS_MORE;
    uint64_t piece_max = 1 + seed % 40;
    for (size_t at = 0; at < size && progress != PROGRESS_BAD;) {
        size_t count = 1 + (size_t)(request_random(seed, at, 2) % piece_max);
        if (count > size - at)
            count = size - at;
        char *piece = malloc(count);
        if (piece == NULL)
            abort();
        memcpy(piece, data + at, count);
        progress = protocol->feed(&pieces, piece, count);
        free(piece);
        at += count;
    }
    return progress;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct protocol *protocol = data[0] & 1 ? &protocol_http : &protocol_fcgi;
    bool head_request = (data[0] & 2) != 0;
    decoder_begin(&whole, head_request, true);
    decoder_begin(&pieces, head_request, true);
    enum progress at_once = protocol->feed(&whole, (const char *)data + 1, size - 1);
    enum progress in_pieces = feed_pieces(protocol, data + 1, size - 1, data[0] >> 2);
    check(at_once == in_pieces);
    check(strcmp(whole.reason, pieces.reason) == 0);
    check((at_once == PROGRESS_BAD) == (whole.reason[0] != '\0'));
    check(whole.answer.status == pieces.answer.status);
    check(whole.answer.body_bytes == pieces.answer.body_bytes);
    check(whole.answer.tail_bytes == pieces.answer.tail_bytes);
    check(memcmp(whole.answer.tail, pieces.answer.tail, whole.answer.tail_bytes) == 0);
    check(at_once == PROGRESS_BAD || whole.offset == size - 1);
    check(at_once != PROGRESS_DONE || whole.answer.phase == PHASE_FINISHED);
    return 0;
}
