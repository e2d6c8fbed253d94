#include "harness/load/account.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

const char *const outcome_names[OUTCOMES] = {
    [OUTCOME_ANSWERED] = "answered",
    [OUTCOME_REFUSED] = "refused",
    [OUTCOME_LOST] = "lost",
    [OUTCOME_ISOLATION] = "isolation",
};

bool account_open(struct account *account, size_t line_count)
{
    *account = (struct account){.line_count = line_count};
    account->lines = calloc(line_count, sizeof *account->lines);
    if (account->lines == NULL)
        return false;
    for (size_t i = 0; i < line_count; i++)
        histogram_reset(&account->lines[i].latency);
    histogram_reset(&account->second);
    return true;
}

void account_close(struct account *account)
{
    for (int outcome = 0; outcome < OUTCOMES; outcome++) {
        struct reason *reason, *next;
        HASH_ITER(hh, account->reasons[outcome], reason, next)
        {
            HASH_DEL(account->reasons[outcome], reason);
            free(reason);
        }
    }
    free(account->lines);
    *account = (struct account){0};
}

void account_sent(struct account *account, size_t line)
{
    assert(line < account->line_count);
    account->sent++;
    account->in_flight++;
    account->lines[line].sent++;
}

static void ended(struct account *account, size_t line, enum outcome outcome)
{
    assert(account->in_flight > 0);
    account->in_flight--;
    account->ended[outcome]++;
    account->lines[line].ended[outcome]++;
}

void account_answered(struct account *account, size_t line, uint64_t latency_us)
{
    ended(account, line, OUTCOME_ANSWERED);
    histogram_record(&account->lines[line].latency, latency_us);
    histogram_record(&account->second, latency_us);
}

static struct reason *reason_of(struct account *account, enum outcome outcome, const char *text)
{
    struct reason *reason = NULL;
    HASH_FIND_STR(account->reasons[outcome], text, reason);
    if (reason != NULL)
        return reason;
    static const char other[] = "other reasons";
    if (HASH_COUNT(account->reasons[outcome]) >= REASONS_MAX && strcmp(text, other) != 0)
        return reason_of(account, outcome, other);
    reason = calloc(1, sizeof *reason);
    if (reason == NULL)
        abort();
    snprintf(reason->text, sizeof reason->text, "%s", text);
    HASH_ADD_STR(account->reasons[outcome], text, reason);
    return reason;
}

void account_failed(struct account *account, size_t line, enum outcome outcome, const char *reason)
{
    assert(outcome != OUTCOME_ANSWERED && reason[0] != '\0');
    ended(account, line, outcome);
    reason_of(account, outcome, reason)->count++;
}

bool account_balanced(const struct account *account)
{
    uint64_t sum = account->in_flight;
    uint64_t sent = 0;
    for (int outcome = 0; outcome < OUTCOMES; outcome++)
        sum += account->ended[outcome];
    for (size_t i = 0; i < account->line_count; i++)
        sent += account->lines[i].sent;
    for (int outcome = OUTCOME_REFUSED; outcome < OUTCOMES; outcome++) {
        uint64_t reasons = 0;
        for (const struct reason *reason = account->reasons[outcome]; reason != NULL;
             reason = reason->hh.next)
            reasons += reason->count;
        if (reasons != account->ended[outcome])
            return false;
    }
    return sum == account->sent && sent == account->sent;
}

void account_latency(const struct account *account, struct histogram *sum)
{
    histogram_reset(sum);
    for (size_t i = 0; i < account->line_count; i++)
        histogram_merge(sum, &account->lines[i].latency);
}

static int more_frequent(const struct reason *a, const struct reason *b)
{
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->text, b->text);
}

void account_sort_reasons(struct account *account)
{
    for (int outcome = 0; outcome < OUTCOMES; outcome++)
        HASH_SORT(account->reasons[outcome], more_frequent);
}
