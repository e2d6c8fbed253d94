/* Any bytes, in any pieces: the reader neither harms nor contradicts itself.
 *
 * The first byte of the input chooses when the handler ends a request and whether it pauses, the second one
 * the limits and how the rest is cut. The rest is fed twice: whole, and in pieces. Both must make the same
 * calls (a hash of them, with the body's bytes whatever the pieces), in the order that fcgi.h promises,
 * within the limits; and what is answered must be records. */
#include "runtime/fiber/fcgi/frames.h"
#include "runtime/fiber/fcgi/test/decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    ENDS_NEVER,
    ENDS_AT_BEGIN,
    ENDS_AT_PARAM,
    ENDS_AT_PARAMS_END,
    ENDS_AT_INPUT_END,
    ENDS_AT_ABORT,
    ENDS_COUNT
};

enum stage { CLOSED, IN_PARAMS, IN_INPUT, COMPLETE, ABORTED, BROKEN };

struct watch {
    struct fcgi_reader reader;
    struct fcgi_buffer answer;
    const struct fcgi_limits *limits;
    unsigned ends;
    bool pauses;
    uint64_t hash;
    enum stage stage;
    uint16_t id;
    uint64_t params, param_bytes, input_bytes;
};

static const struct fcgi_limits tight = {
    .params_bytes = 300, .params_count = 5, .name_bytes = 40, .input_bytes = 1000};

static void promise(bool kept, const char *text)
{
    if (kept)
        return;
    fprintf(stderr, "broken promise: %s\n", text);
    abort();
}

static void hash(struct watch *watch, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        watch->hash = (watch->hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3ULL;
}

static void call(struct watch *watch, const char *name, uint64_t number)
{
    promise(watch->stage != BROKEN, "nothing is called after an error");
    hash(watch, name, strlen(name));
    hash(watch, &number, sizeof number);
    if (watch->pauses)
        fcgi_reader_pause(&watch->reader);
}

static void end_at(struct watch *watch, unsigned when)
{
    if (watch->ends != when || watch->stage == CLOSED)
        return;
    fcgi_put_end(&watch->answer, watch->id, 0, FCGI_REQUEST_COMPLETE);
    fcgi_reader_request_ended(&watch->reader);
    watch->stage = CLOSED;
}

static void on_begin(void *context, uint16_t id, enum fcgi_role role, bool keep)
{
    struct watch *watch = context;
    call(watch, "begin", (uint64_t)id << 1 | keep);
    promise(watch->stage == CLOSED && id != 0 && role == FCGI_RESPONDER, "begin: one request at a time");
    watch->stage = IN_PARAMS;
    watch->id = id;
    watch->params = watch->param_bytes = watch->input_bytes = 0;
    end_at(watch, ENDS_AT_BEGIN);
}

static void on_param(void *context, uint16_t id, const char *name, size_t name_bytes, const char *value,
                     size_t value_bytes)
{
    struct watch *watch = context;
    call(watch, "param", name_bytes);
    hash(watch, name, name_bytes);
    hash(watch, value, value_bytes);
    watch->param_bytes += name_bytes + value_bytes;
    promise(watch->stage == IN_PARAMS && id == watch->id, "param: of the open request");
    promise(++watch->params <= watch->limits->params_count && name_bytes <= watch->limits->name_bytes &&
                watch->param_bytes <= watch->limits->params_bytes,
            "param: within the limits");
    end_at(watch, ENDS_AT_PARAM);
}

static void on_params_end(void *context, uint16_t id)
{
    struct watch *watch = context;
    call(watch, "params_end", id);
    promise(watch->stage == IN_PARAMS && id == watch->id, "params_end: once");
    watch->stage = IN_INPUT;
    end_at(watch, ENDS_AT_PARAMS_END);
}

static void on_input(void *context, uint16_t id, const unsigned char *bytes, size_t count)
{
    struct watch *watch = context;
    promise(watch->stage == IN_INPUT && id == watch->id && count > 0, "input: after params_end");
    hash(watch, bytes, count);
    watch->input_bytes += count;
    promise(watch->input_bytes <= watch->limits->input_bytes, "input: within the limits");
    if (watch->pauses)
        fcgi_reader_pause(&watch->reader);
}

static void on_input_end(void *context, uint16_t id)
{
    struct watch *watch = context;
    call(watch, "input_end", watch->input_bytes);
    promise(watch->stage == IN_INPUT && id == watch->id, "input_end: once");
    watch->stage = COMPLETE;
    end_at(watch, ENDS_AT_INPUT_END);
}

static void on_abort(void *context, uint16_t id)
{
    struct watch *watch = context;
    call(watch, "abort", id);
    promise(watch->stage >= IN_PARAMS && watch->stage <= COMPLETE && id == watch->id, "abort: once");
    watch->stage = ABORTED;
    end_at(watch, ENDS_AT_ABORT);
}

static void on_reject(void *context, uint16_t id, enum fcgi_protocol_status status, bool keep)
{
    struct watch *watch = context;
    call(watch, "reject", (uint64_t)status << 17 | (uint64_t)id << 1 | keep);
    promise(id != 0 && (status == FCGI_CANT_MPX_CONN) == (watch->stage != CLOSED), "reject: for a reason");
    fcgi_put_end(&watch->answer, id, 0, status);
}

static void on_get_values(void *context, unsigned asked)
{
    struct watch *watch = context;
    call(watch, "get_values", asked);
    fcgi_put_values_result(&watch->answer, asked, &(struct fcgi_values){100, 100});
}

static void on_unknown_type(void *context, uint8_t type)
{
    struct watch *watch = context;
    call(watch, "unknown_type", type);
    fcgi_put_unknown_type(&watch->answer, type);
}

static void on_error(void *context, const char *reason)
{
    struct watch *watch = context;
    call(watch, "error", strlen(reason));
    hash(watch, reason, strlen(reason));
    promise(strncmp(reason, "byte ", 5) == 0 && strlen(reason) < FCGI_REASON_BYTES - 1,
            "error: with its offset");
    watch->stage = BROKEN;
}

static const struct fcgi_handler handler = {
    .begin = on_begin,
    .param = on_param,
    .params_end = on_params_end,
    .input = on_input,
    .input_end = on_input_end,
    .abort = on_abort,
    .reject = on_reject,
    .get_values = on_get_values,
    .unknown_type = on_unknown_type,
    .error = on_error,
};

static uint64_t bytes_fed;

__attribute__((destructor)) static void tell_bytes_fed(void)
{
    fprintf(stderr, "stat::bytes_fed: %llu\n", (unsigned long long)bytes_fed);
}

/* A copy of exactly these bytes, so that a read beyond them is seen. */
static void feed(struct watch *watch, const uint8_t *bytes, size_t count)
{
    uint8_t *copy = malloc(count);
    if (copy == NULL)
        abort();
    memcpy(copy, bytes, count);
    size_t done = 0;
    while (done < count && watch->stage != BROKEN) {
        size_t taken = fcgi_reader_feed(&watch->reader, copy + done, count - done, &handler);
        promise(taken > 0 || watch->stage == BROKEN, "feed: goes on");
        promise(done + taken == count || watch->pauses || watch->stage == BROKEN, "feed: takes all");
        done += taken;
    }
    if (watch->stage == BROKEN)
        promise(fcgi_reader_feed(&watch->reader, copy, count, &handler) == 0, "feed: nothing after an error");
    bytes_fed += count;
    free(copy);
}

static void check_answer(const struct fcgi_buffer *answer)
{
    const unsigned char *bytes = fcgi_buffer_front(answer);
    for (size_t done = 0; done < answer->count;) {
        struct decoded record;
        promise(decode_record(bytes + done, answer->count - done, &record), "answer: records");
        done += decoded_bytes(&record);
    }
}

/* Feeds all of it in pieces of up to `longest` bytes; returns the hash of the calls. */
static uint64_t run(const uint8_t *bytes, size_t size, struct watch start, size_t longest)
{
    struct watch watch = start;
    watch.hash = 0xcbf29ce484222325ULL;
    fcgi_reader_init(&watch.reader, watch.limits, &watch);
    fcgi_buffer_init(&watch.answer, 4096);
    uint64_t random = size;
    for (size_t done = 0; done < size;) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        size_t count = longest < size ? 1 + (random >> 33) % longest : size;
        if (count > size - done)
            count = size - done;
        feed(&watch, bytes + done, count);
        done += count;
    }
    check_answer(&watch.answer);
    promise(watch.reader.request.open == (watch.stage > CLOSED) || watch.stage == BROKEN, "open is open");
    fcgi_buffer_free(&watch.answer);
    fcgi_reader_free(&watch.reader);
    return watch.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {1, 2, 3, 7, 8, 9, 64, 1000};
    if (size < 2)
        return 0;
    struct watch watch = {.limits = data[1] & 8 ? &tight : &fcgi_limits_default,
                          .ends = data[0] % ENDS_COUNT};
    uint64_t whole = run(data + 2, size - 2, watch, SIZE_MAX);
    watch.pauses = data[0] & 128;
    uint64_t cut = run(data + 2, size - 2, watch, pieces[data[1] & 7]);
    promise(whole == cut, "pieces change nothing");
    return 0;
}
