#include "runtime/fiber/master/options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

const char options_usage[] =
    "Usage: fiber-fpm [-n] [-h] [-v] [-t] [-c <file>] [-d foo[=bar]] [-g <pid>] -y <file> [-D] [-F [-O]] "
    "[-R]\n"
    "  -c <path>|<file>  Look for php.ini file in this directory\n"
    "  -n                No php.ini file will be used\n"
    "  -d foo[=bar]      Define INI entry foo with value 'bar'\n"
    "  -h, --help        This help\n"
    "  -v, --version     Version number\n"
    "  -g, --pid <file>  The file that the process id is written to\n"
    "  -y, --fpm-config <file>\n"
    "                    The configuration\n"
    "  -t, --test        Test the configuration and exit; given twice, print it\n"
    "  -D, --daemonize   Run in background, whatever the configuration says\n"
    "  -F, --nodaemonize Stay in foreground, whatever the configuration says\n"
    "  -O, --force-stderr\n"
    "                    In foreground, log to stderr as well, even if it is no terminal\n"
    "  -R, --allow-to-run-as-root\n"
    "                    Allow pools to run as root\n";

static const struct option long_options[] = {
    {"fpm-config", required_argument, NULL, 'y'},
    {"pid", required_argument, NULL, 'g'},
    {"nodaemonize", no_argument, NULL, 'F'},
    {"daemonize", no_argument, NULL, 'D'},
    {"test", no_argument, NULL, 't'},
    {"allow-to-run-as-root", no_argument, NULL, 'R'},
    {"force-stderr", no_argument, NULL, 'O'},
    {"version", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* "foo" is foo=1; a value that does not start with a letter, a digit or a quote gets quotes. */
static bool add_entry(struct php_options *php, const char *text)
{
    const char *before = php->ini_entries ? php->ini_entries : "", *value = strchr(text, '=');
    char *entries;
    int count;
    if (!value)
        count = asprintf(&entries, "%s%s=1\n", before, text);
    else if (value[1] == '\0' || strchr("\"'", value[1]) || isalnum((unsigned char)value[1]))
        count = asprintf(&entries, "%s%s\n", before, text);
    else
        count = asprintf(&entries, "%s%.*s=\"%s\"\n", before, (int)(value - text), text, value + 1);
    if (count < 0)
        return false;
    free(php->ini_entries);
    php->ini_entries = entries;
    return true;
}

static bool take(struct options *options, int option, const char *argument)
{
    switch (option) {
    case 'y':
        options->config_path = argument;
        return true;
    case 'g':
        options->pid_path = argument;
        return true;
    case 'F':
    case 'D':
        options->daemonize = option == 'D';
        return true;
    case 't':
        options->test++;
        return true;
    case 'R':
        return options->root_allowed = true;
    case 'O':
        return options->force_stderr = true;
    case 'v':
        return options->version = true;
    case 'h':
        return options->help = true;
    case 'n':
        return options->php.ini_ignored = true;
    case 'c':
        options->php.ini_path = argument;
        return true;
    case 'd':
        return add_entry(&options->php, argument);
    default:
        return false;
    }
}

bool options_read(int argc, char **argv, struct options *options, char problem[MASTER_PROBLEM_BYTES])
{
    *options = (struct options){.daemonize = -1};
    opterr = 0;
    optind = 1;
    for (int option; (option = getopt_long(argc, argv, "+:y:g:FDtROvhnc:d:", long_options, NULL)) != -1;)
        if (!take(options, option, optarg)) {
            snprintf(problem, MASTER_PROBLEM_BYTES, "%s: %s", argv[optind - 1],
                     option == ':' ? "expected a value" : "unknown option");
            return false;
        }
    if (optind < argc) {
        snprintf(problem, MASTER_PROBLEM_BYTES, "%s: expected options only", argv[optind]);
        return false;
    }
    if (!options->config_path && !options->help && !options->version) {
        snprintf(problem, MASTER_PROBLEM_BYTES, "expected -y and the configuration's file");
        return false;
    }
    return true;
}

void options_free(struct options *options)
{
    free(options->php.ini_entries);
}
