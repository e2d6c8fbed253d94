/*
 * Decides in which column a request ends, and why. A foreign marker weighs more than anything else: an answer
 * that carries it is an isolation error even when it was cut short or had the wrong status.
 */
#ifndef ORDEAL_LOAD_JUDGE_H
#define ORDEAL_LOAD_JUDGE_H

#include "harness/load/account.h"
#include "harness/load/protocol.h"

struct verdict {
    enum outcome outcome;
    char reason[REASON_BYTES]; /* the same for the same cause: reasons are counted */
    char detail[REASON_BYTES]; /* what is particular to this request; for the losses file */
};

/* The answer is complete and well formed. */
void judge_answer(struct verdict *verdict, const struct request *request, const struct decoder *decoder);

/* No complete answer came: "connection closed", "timeout" ... before END_REQUEST: how far it had come. */
void judge_lost(struct verdict *verdict, const struct request *request, const struct protocol *protocol,
                const struct decoder *decoder, const char *cause, bool reused);

/* The answer is malformed; the decoder knows why. */
void judge_malformed(struct verdict *verdict, const struct request *request, const struct decoder *decoder);

/* The connection was not made. */
void judge_unconnected(struct verdict *verdict, int failure);

#endif
