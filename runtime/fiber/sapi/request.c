#include "runtime/fiber/sapi/request.h"

const char *request_stage_name(enum request_stage stage)
{
    static const char *const names[] = {
        [REQUEST_READING_HEADERS] = "Reading headers",
        [REQUEST_GETTING_INFO] = "Getting request informations",
        [REQUEST_RUNNING] = "Running",
        [REQUEST_ENDING] = "Ending",
        [REQUEST_FINISHING] = "Finishing",
    };
    return names[stage];
}
