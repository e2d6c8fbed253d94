/* fiber-fpm: a FastCGI server on libphp, configured and operated as php-fpm is.
 *
 *     fiber-fpm -F -y pool.conf
 *
 * This file ties the master (master/), which knows nothing of PHP, to the engine and the worker. */
#include "runtime/fiber/engine/engine.h"
#include "runtime/fiber/master/command.h"
#include "runtime/fiber/sapi/sapi.h"
#include "runtime/fiber/worker/worker.h"

_Static_assert((int)MASTER_PROBLEM_BYTES >= (int)ENGINE_PROBLEM_BYTES, "a problem of the engine fits");

static bool start(const struct php_options *options, char problem[MASTER_PROBLEM_BYTES])
{
    struct engine_settings settings = {
        .sapi = &fiber_sapi_module,
        .ini_path = options->ini_path,
        .ini_ignored = options->ini_ignored,
        .ini_entries = options->ini_entries,
    };
    return engine_start(&settings, problem);
}

int main(int argc, char **argv)
{
    static const struct master_php php = {
        .engine_start = start,
        .worker_run = worker_run,
        .version = "fiber-fpm, PHP " PHP_VERSION " (fpm-fcgi)",
    };
    return command_run(argc, argv, &php);
}
