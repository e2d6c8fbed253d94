#include "runtime/fiber/master/command.h"

#include "runtime/fiber/master/log.h"
#include "runtime/fiber/master/options.h"
#include "runtime/fiber/master/user.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refuse_config(void)
{
    log_line(LOG_LEVEL_ERROR, "FPM initialization failed");
    return EXIT_WRONG_CONFIG;
}

/* What php-fpm's -tt says: the configuration, as lines of the log. */
static void print(const struct fiber_config *config)
{
    char *text = NULL, *rest = NULL;
    size_t count = 0;
    FILE *out = open_memstream(&text, &count);
    if (!out)
        return;
    config_print(config, out);
    if (fclose(out) == 0)
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            log_line(LOG_LEVEL_NOTICE, "%s%s", line[0] == '[' ? "" : "\t", line);
    free(text);
}

static int test(const struct fiber_config *config, const struct options *options,
                const struct master_php *php)
{
    char problem[MASTER_PROBLEM_BYTES] = "";
    if (options->test > 1)
        print(config);
    if (!php->engine_start(&options->php, problem)) {
        log_line(LOG_LEVEL_ERROR, "%s", problem);
        return refuse_config();
    }
    log_line(LOG_LEVEL_NOTICE, "configuration file %s test is successful", config->path);
    return EXIT_SUCCESS;
}

static int run_with(struct fiber_config *config, const struct options *options, char **argv,
                    const struct master_php *php)
{
    bool daemonize = options->daemonize < 0 ? config->daemonize : options->daemonize;
    if (daemonize && !config->error_log) {
        log_line(LOG_LEVEL_ERROR,
                 "%s: expected error_log in [global], or the option -F: in the background there "
                 "is no standard error",
                 config->path);
        return refuse_config();
    }
    if (!users_check(config, options->root_allowed))
        return refuse_config();
    if (options->test)
        return test(config, options, php);
    struct master_settings settings = {
        .config = config,
        .php = php,
        .php_options = &options->php,
        .argv = argv,
        .daemonize = daemonize,
        .echo = !daemonize && config->error_log && (options->force_stderr || isatty(STDERR_FILENO)),
    };
    return master_run(&settings);
}

static int run(const struct options *options, char **argv, const struct master_php *php)
{
    struct fiber_config config;
    struct config_error error;
    if (!config_read(options->config_path, &config, &error)) {
        if (error.line)
            log_line(LOG_LEVEL_ERROR, "%s:%u: %s", error.file, error.line, error.text);
        else
            log_line(LOG_LEVEL_ERROR, "%s: %s", error.file, error.text);
        return refuse_config();
    }
    if (options->pid_path) {
        free(config.pid_file);
        config.pid_file = strdup(options->pid_path);
    }
    int status = run_with(&config, options, argv, php);
    config_free(&config);
    return status;
}

int command_run(int argc, char **argv, const struct master_php *php)
{
    struct options options;
    char problem[MASTER_PROBLEM_BYTES];
    int status = EXIT_SUCCESS;
    if (!options_read(argc, argv, &options, problem)) {
        fprintf(stderr, "%s: %s\n%s", argv[0], problem, options_usage);
        status = EXIT_WRONG_USAGE;
    } else if (options.help) {
        fputs(options_usage, stdout);
    } else if (options.version) {
        puts(php->version);
    } else {
        status = run(&options, argv, php);
    }
    options_free(&options);
    return status;
}
