/* Random conversations of a web server with the reader: requests with parameters and bodies cut into records
 * in any way, records of other ids and management records between them, aborts, second requests; and, in
 * some, bytes that were damaged. */
#ifndef ORDEAL_FIBER_FCGI_TEST_CONVERSATION_H
#define ORDEAL_FIBER_FCGI_TEST_CONVERSATION_H

#include "runtime/fiber/fcgi/test/client.h"
#include "runtime/fiber/fcgi/test/dice.h"

/* Something that is not part of the request and must not disturb it. */
static inline void conversation_aside(struct text *to, struct dice *dice, unsigned id)
{
    struct text names = {0};
    switch (dice_roll(dice, 5)) {
    case 0:
        client_pair(&names, dice_chance(dice, 50) ? "FCGI_MAX_REQS" : "FCGI_MPXS_CONNS", "");
        client_pair(&names, "SOMETHING", "");
        client_record(to, 9, 0, names.bytes, names.count);
        text_free(&names);
        break;
    case 1:
        client_send(to, (struct client_record){1, 12 + (unsigned)dice_roll(dice, 200), 0, 3, "aside", 5});
        break;
    case 2:
        client_begin(to, id + 1, 1, (unsigned)dice_roll(dice, 2));
        break;
    default:
        client_send(to, (struct client_record){1, 2 + (unsigned)dice_roll(dice, 10), id + 2,
                                               (unsigned)dice_roll(dice, 256), "other", 5});
    }
}

/* A stream cut at random, with asides, and its end. */
static inline void conversation_stream(struct text *to, struct dice *dice, unsigned type, unsigned id,
                                       const struct text *content)
{
    size_t longest = dice_chance(dice, 30) ? 3 : dice_chance(dice, 50) ? 100 : 65535;
    for (size_t done = 0; done < content->count;) {
        size_t left = content->count - done;
        size_t count = 1 + dice_roll(dice, left < longest ? left : longest);
        unsigned padding = (unsigned)dice_roll(dice, dice_chance(dice, 5) ? 256 : 8);
        client_send(to, (struct client_record){1, type, id, padding, content->bytes + done, count});
        done += count;
        if (dice_chance(dice, 3))
            conversation_aside(to, dice, id);
    }
    client_end_stream(to, type, id);
}

static inline size_t conversation_size(struct dice *dice)
{
    static const size_t largest[] = {2, 20, 20, 20, 130, 300, 3000};
    return dice_roll(dice, largest[dice_roll(dice, sizeof largest / sizeof largest[0])]);
}

static inline void conversation_letters(struct text *to, struct dice *dice, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char letter = (char)('a' + dice_roll(dice, 26));
        text_add(to, &letter, 1);
    }
}

static inline void conversation_request(struct text *to, struct dice *dice)
{
    unsigned id = 1 + (unsigned)dice_roll(dice, 65000);
    struct text params = {0}, body = {0};
    for (uint64_t pairs = dice_roll(dice, 12); pairs > 0; pairs--) {
        size_t name = conversation_size(dice), value = conversation_size(dice);
        client_length(&params, name, dice_chance(dice, 20));
        client_length(&params, value, dice_chance(dice, 20));
        conversation_letters(&params, dice, name + value);
    }
    conversation_letters(&body, dice, conversation_size(dice));
    client_begin(to, id, dice_chance(dice, 90) ? 1 : (unsigned)dice_roll(dice, 5),
                 (unsigned)dice_roll(dice, 4));
    conversation_stream(to, dice, 4, id, &params);
    if (dice_chance(dice, 10))
        client_record(to, 2, id, NULL, 0);
    conversation_stream(to, dice, 5, id, &body);
    text_free(&params);
    text_free(&body);
}

static inline void conversation_write(struct text *to, struct dice *dice)
{
    for (uint64_t requests = 1 + dice_roll(dice, 4); requests > 0; requests--)
        conversation_request(to, dice);
    if (dice_chance(dice, 40))
        for (uint64_t damages = 1 + dice_roll(dice, 3); damages > 0; damages--)
            to->bytes[dice_roll(dice, to->count)] = (char)dice_roll(dice, 256);
}

#endif
