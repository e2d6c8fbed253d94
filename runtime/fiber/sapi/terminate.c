/* What is done to a request, and asked of it, from outside. */
#include "runtime/fiber/sapi/internal.h"

#include <stdio.h>

/* As exit() would: no handler of the script can hold it back, and what it has to end is still done. */
void sapi_terminate(const char *message)
{
    struct request *request = sapi_request();
    if (!SG(headers_sent))
        SG(sapi_headers).http_response_code = 504;
    EG(exit_status) = 255;
    if (request)
        sapi_say(request, "ERROR", "PHP message: ", message);
    if (!EG(exception))
        zend_throw_unwind_exit();
}

static const char *name_of(const zend_function *function)
{
    return function->common.function_name ? ZSTR_VAL(function->common.function_name) : NULL;
}

static int put_frame(char *text, size_t room, const zend_execute_data *frame,
                     const zend_execute_data **caller)
{
    const zend_function *function = frame->func;
    const zend_execute_data *code = frame->prev_execute_data; /* the nearest frame that has a line */
    while (code && (!code->func || !ZEND_USER_CODE(code->func->type)))
        code = code->prev_execute_data;
    *caller = frame->prev_execute_data;
    const char *name = function ? name_of(function) : NULL;
    const char *class = function && function->common.scope ? ZSTR_VAL(function->common.scope->name) : NULL;
    return snprintf(text, room, "[0x%016lx] %s%s%s() %s:%u\n", (unsigned long)(uintptr_t)frame,
                    class ? class : "", class ? "::" : "", name ? name : "[INCLUDE_OR_EVAL]",
                    code ? ZSTR_VAL(code->func->op_array.filename) : "unknown",
                    code && code->opline ? code->opline->lineno : 0);
}

size_t sapi_trace(char *text, size_t room)
{
    size_t length = 0;
    for (const zend_execute_data *frame = EG(current_execute_data), *caller; frame; frame = caller) {
        if (!frame->func || (!name_of(frame->func) && !frame->prev_execute_data)) {
            caller = frame->prev_execute_data;
            continue;
        }
        int count = put_frame(text + length, room - length, frame, &caller);
        if (count < 0 || (size_t)count >= room - length)
            break;
        length += (size_t)count;
    }
    return length;
}

size_t sapi_memory_bytes(void)
{
    return zend_memory_usage(false);
}
