/* However the bytes are cut, the calls are the same: byte by byte, in random pieces, and paused at every
 * call. */
#include "runtime/fiber/fcgi/test/conversation.h"
#include "runtime/fiber/fcgi/test/transcript.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CONVERSATIONS = 1500, RANDOM_CUTS = 4 };

static uint64_t seed;

/* Limits that random conversations reach now and then. */
static const struct fcgi_limits tight = {
    .params_bytes = 6000, .params_count = 10, .name_bytes = 1500, .input_bytes = 2500};

static struct text told(const struct text *sent, const struct fcgi_limits *limits, enum ends ends,
                        bool pauses, struct dice *dice, size_t longest)
{
    struct transcript seen;
    transcript_start(&seen, limits, ends);
    seen.pauses = pauses;
    for (size_t done = 0; done < sent->count;) {
        size_t left = sent->count - done;
        size_t count = longest == 1 ? 1 : 1 + dice_roll(dice, left < longest ? left : longest);
        transcript_feed(&seen, sent->bytes + done, count);
        done += count;
    }
    struct text text = seen.text;
    seen.text = (struct text){0};
    transcript_free(&seen);
    return text;
}

static void assert_same(struct text cut, const struct text *whole, int conversation, const char *how)
{
    if (cut.count != whole->count || (cut.count > 0 && memcmp(cut.bytes, whole->bytes, cut.count) != 0))
        fail_msg("ORDEAL_SEED=%llu, conversation %d, %s:\n%s\nbut whole:\n%s", (unsigned long long)seed,
                 conversation, how, cut.bytes, whole->bytes);
    text_free(&cut);
}

struct tally {
    int errors, rejects, aborts, ends;
};

static void count_in(struct tally *tally, const struct text *whole)
{
    if (whole->bytes == NULL)
        return;
    tally->errors += strstr(whole->bytes, "error ") != NULL;
    tally->rejects += strstr(whole->bytes, "reject ") != NULL;
    tally->aborts += strstr(whole->bytes, "abort ") != NULL;
    tally->ends += strstr(whole->bytes, "input_end ") != NULL;
    assert_null(strstr(whole->bytes, "SECOND ERROR"));
}

static void one_conversation(int number, struct tally *tally)
{
    struct dice dice = {seed * 1000003 + (uint64_t)number};
    struct text sent = {0};
    conversation_write(&sent, &dice);
    const struct fcgi_limits *limits = dice_chance(&dice, 30) ? &tight : &fcgi_limits_default;
    enum ends ends = (enum ends)dice_roll(&dice, ENDS_COUNT);

    struct transcript seen;
    transcript_start(&seen, limits, ends);
    transcript_feed(&seen, sent.bytes, sent.count);
    count_in(tally, &seen.text);
    assert_same(told(&sent, limits, ends, false, &dice, 1), &seen.text, number, "byte by byte");
    assert_same(told(&sent, limits, ends, true, &dice, 1 << 20), &seen.text, number, "paused");
    for (int i = 0; i < RANDOM_CUTS; i++)
        assert_same(told(&sent, limits, ends, dice_chance(&dice, 50), &dice, 1 + dice_roll(&dice, 2000)),
                    &seen.text, number, "cut at random");
    transcript_free(&seen);
    text_free(&sent);
}

static void test_splits_change_nothing(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (int i = 0; i < CONVERSATIONS; i++)
        one_conversation(i, &tally);
    /* The conversations were about something. */
    assert_in_range(tally.errors, CONVERSATIONS / 20, CONVERSATIONS / 2);
    assert_in_range(tally.rejects, CONVERSATIONS / 20, CONVERSATIONS);
    assert_in_range(tally.aborts, CONVERSATIONS / 50, CONVERSATIONS);
    assert_in_range(tally.ends, CONVERSATIONS / 5, CONVERSATIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_splits_change_nothing)};
    seed = dice_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
