#include "runtime/fiber/fcgi/record.h"

#include <inttypes.h>

/* Records are opened by these, by type. Each sets reader->content, or fails. */
typedef void open_record(struct fcgi_reader *reader, const struct fcgi_handler *handler);

static void open_begin(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    if (record_length(reader) != FCGI_BEGIN_BYTES)
        fcgi_fail(reader, handler, reader->record_at + HEAD_LENGTH, "content of %u bytes, expected %d",
                  (unsigned)record_length(reader), FCGI_BEGIN_BYTES);
    else if (reader->request.open && reader->request.id == record_id(reader))
        fcgi_fail(reader, handler, reader->record_at + HEAD_ID, "this id is open, expected another one");
    reader->begin_have = 0;
    reader->content = FCGI_CONTENT_BEGIN;
}

static void open_abort(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    if (record_length(reader) != 0) {
        fcgi_fail(reader, handler, reader->record_at + HEAD_LENGTH, "content of %u bytes, expected none",
                  (unsigned)record_length(reader));
        return;
    }
    reader->request.aborted = true;
    handler->abort(reader->context, reader->request.id);
}

static void open_params(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    reader->content = FCGI_CONTENT_PARAMS;
    uint32_t left = reader->limits.params_bytes - reader->request.params_bytes;
    if (reader->request.params_ended)
        fcgi_fail(reader, handler, reader->record_at,
                  "the parameters have ended, expected STDIN or ABORT_REQUEST");
    else if (record_length(reader) > left)
        fcgi_fail(reader, handler, reader->record_at + HEAD_LENGTH,
                  "%u bytes of parameters after %" PRIu32 ", expected at most %" PRIu32 " in all",
                  (unsigned)record_length(reader), reader->request.params_bytes, reader->limits.params_bytes);
    reader->request.params_bytes += record_length(reader);
}

static void open_input(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    reader->content = FCGI_CONTENT_INPUT;
    uint64_t left = reader->limits.input_bytes - reader->request.input_bytes;
    if (!reader->request.params_ended)
        fcgi_fail(reader, handler, reader->record_at,
                  "the parameters have not ended, expected an empty PARAMS first");
    else if (reader->request.input_ended)
        fcgi_fail(reader, handler, reader->record_at,
                  "the body has ended, expected ABORT_REQUEST or nothing");
    else if (record_length(reader) > left)
        fcgi_fail(reader, handler, reader->record_at + HEAD_LENGTH,
                  "%u bytes of body after %" PRIu64 ", expected at most %" PRIu64 " in all",
                  (unsigned)record_length(reader), reader->request.input_bytes, reader->limits.input_bytes);
    reader->request.input_bytes += record_length(reader);
}

static void open_values(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    (void)handler;
    reader->asked = 0;
    reader->content = FCGI_CONTENT_VALUES;
}

static void open_unknown_management(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    handler->unknown_type(reader->context, record_type(reader));
}

/* A type that is right here is opened; of another one it is said what is wrong, and with which field. */
struct opening {
    open_record *open;
    unsigned field;
    const char *wrong;
};

#define RIGHT(opener)                                                                                        \
    {                                                                                                        \
        .open = opener                                                                                       \
    }
#define NEEDS_ID                                                                                             \
    {                                                                                                        \
        NULL, HEAD_ID, "a record of a request, expected an id above 0"                                       \
    }
#define NEEDS_NO_ID                                                                                          \
    {                                                                                                        \
        NULL, HEAD_ID, "a management record of a request, expected id 0"                                     \
    }
#define OUR_ANSWER                                                                                           \
    {                                                                                                        \
        NULL, HEAD_TYPE, "only an application sends this, expected PARAMS, STDIN or ABORT_REQUEST"           \
    }
#define OUR_RESULT                                                                                           \
    {                                                                                                        \
        NULL, HEAD_TYPE, "only an application sends this, expected GET_VALUES"                               \
    }
#define FOR_FILTERS                                                                                          \
    {                                                                                                        \
        NULL, HEAD_TYPE, "only a FILTER gets this, expected PARAMS, STDIN or ABORT_REQUEST"                  \
    }

/* Row 0 is every type that has no row. */
static const struct {
    struct opening management;  /* with id 0 */
    struct opening application; /* with the id of the open request (BEGIN_REQUEST: any) */
} openings[FCGI_TYPES] = {
    [0] = {RIGHT(open_unknown_management), {NULL, HEAD_TYPE, "expected PARAMS, STDIN or ABORT_REQUEST"}},
    [FCGI_BEGIN_REQUEST] = {NEEDS_ID, RIGHT(open_begin)},
    [FCGI_ABORT_REQUEST] = {NEEDS_ID, RIGHT(open_abort)},
    [FCGI_END_REQUEST] = {NEEDS_ID, OUR_ANSWER},
    [FCGI_PARAMS] = {NEEDS_ID, RIGHT(open_params)},
    [FCGI_STDIN] = {NEEDS_ID, RIGHT(open_input)},
    [FCGI_STDOUT] = {NEEDS_ID, OUR_ANSWER},
    [FCGI_STDERR] = {NEEDS_ID, OUR_ANSWER},
    [FCGI_DATA] = {NEEDS_ID, FOR_FILTERS},
    [FCGI_GET_VALUES] = {RIGHT(open_values), NEEDS_NO_ID},
    [FCGI_GET_VALUES_RESULT] = {OUR_RESULT, NEEDS_NO_ID},
    [FCGI_UNKNOWN_TYPE] = {OUR_RESULT, NEEDS_NO_ID},
};

static const struct opening *opening(const struct fcgi_reader *reader)
{
    uint8_t row = record_type(reader) < FCGI_TYPES ? record_type(reader) : 0;
    return record_id(reader) == 0 ? &openings[row].management : &openings[row].application;
}

/* Nobody waits for it: its id is not open, or was aborted. */
static bool is_ignored(const struct fcgi_reader *reader)
{
    uint16_t id = record_id(reader);
    if (id == 0 || record_type(reader) == FCGI_BEGIN_REQUEST)
        return false;
    return !reader->request.open || reader->request.id != id || reader->request.aborted;
}

void fcgi_open_record(struct fcgi_reader *reader, const struct fcgi_handler *handler)
{
    reader->content_left = record_length(reader);
    reader->padding_left = reader->head[HEAD_PADDING];
    reader->content = FCGI_CONTENT_IGNORED;
    if (reader->head[HEAD_VERSION] != FCGI_VERSION) {
        fcgi_fail(reader, handler, reader->record_at, "version %u, expected %d",
                  (unsigned)reader->head[HEAD_VERSION], FCGI_VERSION);
        return;
    }
    if (is_ignored(reader))
        return;
    const struct opening *how = opening(reader);
    if (how->open != NULL)
        how->open(reader, handler);
    else
        fcgi_fail(reader, handler, reader->record_at + how->field, "%s", how->wrong);
}
