/* Planted defects of a request's life; see runtime/defect.h. */
#ifdef ORDEAL_DEFECTS

#include "runtime/fiber/planted.h"

#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/sapi/internal.h"

void planted_request_begins(void)
{
    if (DEFECT(B1) && planted.fatals)
        gc_protect(true);
    if (DEFECT(B16) && planted.error_handling != EH_NORMAL) {
        EG(error_handling) = planted.error_handling;
        EG(exception_class) = planted.exception_class;
    }
    if (DEFECT(N8) && planted.client_left)
        PG(connection_status) = PHP_CONNECTION_ABORTED;
    if (DEFECT(N1) && planted.out_of_memory && Z_TYPE(PG(http_globals)[TRACK_VARS_GET]) == IS_ARRAY)
        zend_hash_clean(Z_ARRVAL(PG(http_globals)[TRACK_VARS_GET]));
}

static bool last_error_has(const char *text)
{
    return PG(last_error_message) && strstr(ZSTR_VAL(PG(last_error_message)), text);
}

static bool was_fatal(void)
{
    return PG(last_error_message) &&
           (PG(last_error_type) & (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR));
}

/* B3: a request that suspended itself is in nobody's hands: not answered to its end, and never over. */
static void lose_request(void)
{
    struct request *request = sapi_request();
    php_output_end_all();
    request->transport->finish(request);
    slot_park();
}

void planted_request_ends(void)
{
    planted.fatals += was_fatal();
    planted.out_of_memory |= last_error_has("Allowed memory size");
    planted.client_left |= (PG(connection_status) & PHP_CONNECTION_ABORTED) != 0;
    if (DEFECT(B3) && last_error_has("Cannot suspend outside of"))
        lose_request();
    if (DEFECT(B4) || (DEFECT(N1) && planted.out_of_memory))
        BG(user_shutdown_function_names) = NULL;
    if (DEFECT(N9))
        zend_objects_store_mark_destructed(&EG(objects_store));
}

/* N6: what a script declared when it was run before is still declared. */
void planted_run_before(const char *path)
{
    int i = 0;
    if (!DEFECT(N6))
        return;
    while (i < PLANTED_PATHS && planted.paths[i] && strcmp(planted.paths[i], path) != 0)
        i++;
    if (i == PLANTED_PATHS || !planted.paths[i]) {
        if (i < PLANTED_PATHS)
            planted.paths[i] = strdup(path);
        return;
    }
    zend_file_handle file;
    zend_stream_init_filename(&file, path);
    zend_compile_file(&file, ZEND_INCLUDE);
    zend_destroy_file_handle(&file);
}

#endif
