#include "harness/load/judge.h"

#include "harness/load/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORDS_BYTES 80

__attribute__((format(printf, 3, 4))) static void decide(struct verdict *verdict, enum outcome outcome,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    verdict->outcome = outcome;
    vsnprintf(verdict->reason, sizeof verdict->reason, format, arguments);
    va_end(arguments);
    verdict->detail[0] = '\0';
}

/* The last line of the body, when it is "marker=...": how a page without own headers echoes its marker. */
static const char *body_marker(const struct answer *answer, size_t *bytes)
{
    static const char prefix[] = "marker=";
    const char *end = answer->tail + answer->tail_bytes;
    while (end > answer->tail && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    const char *line = end;
    while (line > answer->tail && line[-1] != '\n')
        line--;
    size_t line_bytes = (size_t)(end - line);
    if (line_bytes < sizeof prefix - 1 || memcmp(line, prefix, sizeof prefix - 1) != 0)
        return NULL;
    *bytes = line_bytes - (sizeof prefix - 1);
    return line + sizeof prefix - 1;
}

static bool is_own(const struct request *request, const char *marker, size_t bytes)
{
    return bytes == MARKER_BYTES && memcmp(marker, request->marker, MARKER_BYTES) == 0;
}

static bool isolation_broken(struct verdict *verdict, const struct request *request, const char *where,
                             const char *marker, size_t bytes)
{
    if (marker == NULL || is_own(request, marker, bytes))
        return false;
    bool ours = bytes == MARKER_BYTES && memcmp(marker, request->marker, 9) == 0;
    decide(verdict, OUTCOME_ISOLATION, "%s in the answer's %s",
           ours ? "another request's marker" : "a marker that this run never sent", where);
    snprintf(verdict->detail, sizeof verdict->detail, "the answer carried marker '%.*s'",
             (int)(bytes < 64 ? bytes : 64), marker);
    return true;
}

static bool header_isolation_broken(struct verdict *verdict, const struct request *request,
                                    const struct answer *answer)
{
    const char *marker = answer->marker_seen ? answer->marker : NULL;
    return isolation_broken(verdict, request, "header", marker, answer->marker_bytes);
}

static const char *const refusals[] = {
    [REFUSAL_NONE] = "",
    [REFUSAL_CANNOT_MULTIPLEX] = "FCGI_CANT_MPX_CONN",
    [REFUSAL_OVERLOADED] = "FCGI_OVERLOADED",
    [REFUSAL_UNKNOWN_ROLE] = "FCGI_UNKNOWN_ROLE",
};

static void detail_errors(struct verdict *verdict, const struct answer *answer)
{
    char words[ANSWER_HEAD_BYTES + 1];
    if (answer->stderr_bytes > 0 && text_words(words, sizeof words, answer->errors, answer->stderr_bytes) > 0)
        snprintf(verdict->detail, sizeof verdict->detail, "stderr: %s", words);
}

/* A reason is counted: what differs in each request, its echoed marker, is no part of it. */
static void cut_at_marker(char *words)
{
    char *marker = strstr(words, "marker=");
    while (marker != NULL && marker > words && marker[-1] == ' ')
        marker--;
    if (marker != NULL)
        *marker = '\0';
}

static void wrong_status(struct verdict *verdict, const struct answer *answer)
{
    char words[WORDS_BYTES];
    text_words(words, sizeof words, answer->head, answer->head_bytes);
    cut_at_marker(words);
    if (words[0] == '\0')
        snprintf(words, sizeof words, "empty body");
    decide(verdict, OUTCOME_REFUSED, "status %d: %s", answer->status, words);
    detail_errors(verdict, answer);
}

/* Status and refusals have been looked at: the marker must be there, and own. */
static void judge_marker(struct verdict *verdict, const struct request *request, const struct answer *answer)
{
    enum marker_mode mode = request->plan->line->marker;
    if (mode == MARKER_HEADER && !answer->marker_seen) {
        decide(verdict, OUTCOME_LOST, "answer without a marker: expected the header X-Ordeal-Marker");
        return;
    }
    if (mode == MARKER_BODY) {
        size_t bytes = 0;
        const char *marker = body_marker(answer, &bytes);
        if (marker == NULL) {
            decide(verdict, OUTCOME_LOST,
                   "answer without a marker: expected 'marker=...' as the body's last line");
            return;
        }
        if (isolation_broken(verdict, request, "body", marker, bytes))
            return;
    }
    verdict->outcome = OUTCOME_ANSWERED;
}

void judge_answer(struct verdict *verdict, const struct request *request, const struct decoder *decoder)
{
    const struct answer *answer = &decoder->answer;
    if (header_isolation_broken(verdict, request, answer))
        return;
    if (answer->refusal != REFUSAL_NONE)
        decide(verdict, OUTCOME_REFUSED, "%s", refusals[answer->refusal]);
    else if (answer->status != request->plan->line->expect)
        wrong_status(verdict, answer);
    else
        judge_marker(verdict, request, answer);
}

static const char *const how_far[] = {
    [PHASE_NOTHING] = "no byte of the answer came",
    [PHASE_HEADERS] = "in its headers",
    [PHASE_BODY] = "in its body",
    [PHASE_FINISHED] = "after its end",
};

void judge_lost(struct verdict *verdict, const struct request *request, const struct protocol *protocol,
                const struct decoder *decoder, const char *cause, bool reused)
{
    const struct answer *answer = &decoder->answer;
    if (header_isolation_broken(verdict, request, answer))
        return;
    const char *far =
        decoder->offset > 0 && answer->phase == PHASE_NOTHING ? "before its headers" : how_far[answer->phase];
    decide(verdict, OUTCOME_LOST, "%s before %s: %s%s", cause, protocol->answer_end, far,
           reused && decoder->offset == 0 ? ", on a reused connection" : "");
    detail_errors(verdict, answer);
    if (verdict->detail[0] == '\0' && decoder->offset > 0)
        snprintf(verdict->detail, sizeof verdict->detail, "%llu bytes of the answer had come",
                 (unsigned long long)decoder->offset);
}

void judge_malformed(struct verdict *verdict, const struct request *request, const struct decoder *decoder)
{
    if (header_isolation_broken(verdict, request, &decoder->answer))
        return;
    decide(verdict, OUTCOME_LOST, "%s", decoder->reason);
    detail_errors(verdict, &decoder->answer);
}

void judge_unconnected(struct verdict *verdict, int failure)
{
    switch (failure) {
    case ECONNREFUSED:
        decide(verdict, OUTCOME_REFUSED, "connection refused");
        break;
    case EAGAIN:
        decide(verdict, OUTCOME_REFUSED, "connection refused: the target's listen queue is full");
        break;
    case ENOENT:
        decide(verdict, OUTCOME_REFUSED, "connection refused: no such socket");
        break;
    case ETIMEDOUT:
        decide(verdict, OUTCOME_REFUSED, "connection not made within the timeout");
        break;
    case EADDRNOTAVAIL:
        decide(verdict, OUTCOME_REFUSED,
               "no connection: this machine's local ports are used up (--keep-alive helps)");
        break;
    default:
        decide(verdict, OUTCOME_REFUSED, "no connection: %s", strerror(failure));
    }
}
