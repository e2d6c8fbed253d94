/* What configurations are read as, and what is said of those that are not. */
#include "runtime/fiber/config/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define POOL "[www]\nlisten = /run/www.sock\npm.max_children = 2\n"

static char folder[] = "/tmp/test_config.XXXXXX";

static void write_file(const char *name, const char *text, size_t count)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static bool read_text(const char *text, struct fiber_config *config, struct config_error *error)
{
    char path[256];
    write_file("main.conf", text, strlen(text));
    snprintf(path, sizeof path, "%s/main.conf", folder);
    return config_read(path, config, error);
}

/* As config_print has it. */
static char *printed(const struct fiber_config *config)
{
    char *text = NULL;
    size_t count = 0;
    FILE *out = open_memstream(&text, &count);
    assert_non_null(out);
    config_print(config, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static bool has_line(const char *text, const char *line)
{
    size_t count = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && at[count] == '\n')
            return true;
    return false;
}

/* ---- what is read ---- */

static const struct {
    const char *entries; /* after the pool's listen and pm.max_children */
    const char *line;    /* of config_print */
} read_as[] = {
    /* what is not said */
    {"", "; pid ="},
    {"", "; error_log ="},
    {"", "log_level = notice"},
    {"", "process_control_timeout = 0"},
    {"", "daemonize = yes"},
    {"", "[www]"},
    {"", "; user ="},
    {"", "listen = /run/www.sock"},
    {"", "listen.backlog = 511"},
    {"", "listen.mode = 0660"},
    {"", "pm = static"},
    {"", "pm.max_children = 2"},
    {"", "pm.max_requests = 0"},
    {"", "ping.response = pong"},
    {"", "request_terminate_timeout = 0"},
    {"", "catch_workers_output = no"},
    {"", "clear_env = yes"},
    {"", "security.limit_extensions = .php .phar"},
    {"", "access.format = '%R - %u %t \"%m %r\" %s'"},
    {"", "pool.executor = fiber"},
    {"", "fiber.isolation = full"},
    {"", "fiber.max_in_flight = 256"},
    {"", "fiber.stack_size = 8M"},
    {"", "fiber.time_slice = 10ms"},
    {"", "fiber.revalidate_freq = 2s"},

    /* texts: blanks, comments, quotes */
    {"ping.response=a;b", "ping.response = a"},
    {"  ping.response\t =  abc def  ghi \t; why", "ping.response = abc def  ghi"},
    {"ping.response = a\r", "ping.response = a"},
    {"ping.response = \"a;b\" ; c", "ping.response = 'a;b'"},
    {"ping.response = \"a\\\"b\\\\c\\nd\"", "ping.response = 'a\"b\\c\\nd'"},
    {"ping.response = 'q'\"r\"s", "ping.response = qrs"},
    {"ping.response = 'a\\\"b'", "ping.response = 'a\\\"b'"},
    {"ping.response = a=b[c]", "ping.response = a=b[c]"},
    {"ping.response = off", "ping.response = "},
    {"ping.response = Off ; word", "ping.response = "},
    {"ping.response = offer", "ping.response = offer"},
    {"ping.response = \"off\"", "ping.response = 'off'"},
    {"ping.response = it\"'\"s", "ping.response = 'it'\"'\"'s'"},
    {"ping.response = true", "ping.response = 1"},
    {"ping.response =", "ping.response = "},
    {"ping.response = first\nping.response = second", "ping.response = second"},
    {"; comment\n\n \t \nping.response = x", "ping.response = x"},

    /* $pool, and the environment */
    {"ping.response = $pool-$pool.", "ping.response = www-www."},
    {"ping.response = '$pool'", "ping.response = www"},
    {"ping.response = a${TEST_CONFIG}b", "ping.response = afromenvb"},
    {"ping.response = \"a ${TEST_CONFIG} b\"", "ping.response = a fromenv b"},
    {"ping.response = '${TEST_CONFIG}'", "ping.response = '${TEST_CONFIG}'"},
    {"ping.response = <${TEST_CONFIG_NONE}>", "ping.response = <>"},
    {"ping.response = $5 $", "ping.response = '$5 $'"},
    {"env[A] = $TEST_CONFIG", "env[A] = fromenv"},
    {"env[A] = $TEST_CONFIG_NONE", "env[A] = "},
    {"env[A] = x$TEST_CONFIG", "env[A] = 'x$TEST_CONFIG'"},
    {"env[ A ] = $pool", "env[A] = www"},

    /* numbers, sizes, times, modes */
    {"listen.backlog = -1", "listen.backlog = -1"},
    {"pm.max_requests = 9223372036854775807", "pm.max_requests = 9223372036854775807"},
    {"listen.mode = 666", "listen.mode = 0666"},
    {"request_terminate_timeout = 500ms", "request_terminate_timeout = 500ms"},
    {"request_terminate_timeout = 90", "request_terminate_timeout = 90s"},
    {"request_terminate_timeout = 120s", "request_terminate_timeout = 2m"},
    {"request_terminate_timeout = 3h", "request_terminate_timeout = 3h"},
    {"request_terminate_timeout = 1d", "request_terminate_timeout = 1d"},
    {"fiber.stack_size = 262144", "fiber.stack_size = 256K"},
    {"fiber.stack_size = 1G", "fiber.stack_size = 1G"},
    {"fiber.stack_size = 512k", "fiber.stack_size = 512K"},
    {"fiber.time_slice = 0", "fiber.time_slice = 0"},
    {"fiber.revalidate_freq = 1m", "fiber.revalidate_freq = 1m"},
    {"catch_workers_output = yes", "catch_workers_output = yes"},
    {"catch_workers_output = \"on\"", "catch_workers_output = yes"},
    {"clear_env = 0", "clear_env = no"},
    {"fiber.isolation = Full", "fiber.isolation = full"},
    {"[global]\nlog_level = WARN", "log_level = warning"},
    {"[global]\nprocess_control_timeout = 10", "process_control_timeout = 10s"},
    {"[global]\ndaemonize = no\n[Global]\npid = /run/p", "pid = /run/p"},

    /* users */
    {"user = root", "user = root"},
    {"user = 65534\ngroup = 65534", "group = 65534"},

    /* lists */
    {"security.limit_extensions = .php,.html .phtml", "security.limit_extensions = .php .html .phtml"},
    {"security.limit_extensions =", "security.limit_extensions ="},
    {"security.limit_extensions = FALSE", "security.limit_extensions ="},
    {"php_value[a.b] = 64M", "php_value[a.b] = 64M"},
    {"php_flag[a.b] = on", "php_value[a.b] = 1"},
    {"php_admin_value[a] = x", "php_admin_value[a] = x"},
    {"php_admin_flag[a] = no", "php_admin_value[a] = 0"},
    {"fiber.disable_interceptions = poll select", "fiber.disable_interceptions = poll select"},

    /* addresses */
    {"listen = 9000", "listen = 9000"},
    {"listen = 127.0.0.1:9000", "listen = 127.0.0.1:9000"},
    {"listen = localhost:9000", "listen = localhost:9000"},
    {"listen = [::1]:9000", "listen = [::1]:9000"},
    {"listen = /run/$pool.sock", "listen = /run/www.sock"},
};

static void test_read_as(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(read_as); i++) {
        char text[4096];
        struct fiber_config config;
        struct config_error error;
        snprintf(text, sizeof text, POOL "%s\n", read_as[i].entries);
        if (!read_text(text, &config, &error))
            fail_msg("%s\nrefused, line %u: %s", text, error.line, error.text);
        char *all = printed(&config);
        if (!has_line(all, read_as[i].line))
            fail_msg("%s\nexpected the line '%s' in\n%s", text, read_as[i].line, all);
        free(all);
        config_free(&config);
    }
}

/* What is printed can be read, and prints the same. */
static void test_print_and_read(void **state)
{
    (void)state;
    struct fiber_config config, again;
    struct config_error error;
    assert_true(read_text(POOL "user = root\nslowlog = /tmp/slow\nrequest_slowlog_timeout = 1500ms\n"
                               "php_flag[x] = on\nenv[A] = b\nfiber.stack_size = 300000\n[b]\nlisten = 9000\n"
                               "pm.max_children = 1\n",
                          &config, &error));
    char *first = printed(&config);
    if (!read_text(first, &again, &error))
        fail_msg("line %u: %s\n%s", error.line, error.text, first);
    char *second = printed(&again);
    assert_string_equal(first, second);
    free(first);
    free(second);
    config_free(&config);
    config_free(&again);
}

/* ---- what is refused ---- */

static const struct {
    const char *text;
    unsigned line;
    const char *reason;
} refused[] = {
    /* lines */
    {"# hi\n" POOL, 1, "a comment starts with ;"},
    {POOL "ping\n", 4, "expected [section], name = value, or a comment that starts with ;"},
    {POOL "= 3\n", 4, "expected a name before ="},
    {"[www\n", 1, "expected ] after the name of the section"},
    {"[]\n", 1, "expected the name of a section between [ and ]"},
    {"[www] x\n", 1, "expected nothing after the name of the section"},
    {POOL "env[] = 1\n", 4, "expected a key between [ and ]"},
    {POOL "env[A = 1\n", 4, "expected ] after the key"},
    {POOL "ping.response = \"abc\n", 4, "expected a closing \""},
    {POOL "ping.response = 'abc\n", 4, "expected a closing '"},
    {POOL "ping.response = ${abc\n", 4, "expected ${NAME}"},
    {POOL "ping.response = \"${}\"\n", 4, "expected ${NAME}"},

    /* names */
    {POOL "foo = 1\n", 4, "unknown directive foo, the nearest known one is pm"},
    {POOL "pm.max_child = 1\n", 4,
     "unknown directive pm.max_child, the nearest known one is pm.max_children"},
    {POOL "fiber.isolatoin = full\n", 4,
     "unknown directive fiber.isolatoin, the nearest known one is fiber.isolation"},
    {"[global]\nerorr_log = x\n", 2, "unknown directive erorr_log, the nearest known one is error_log"},
    {"foo = 1\n" POOL, 1, "unknown directive foo, the nearest known one is pid"},
    {POOL "error_log = x\n", 4, "error_log belongs in [global]"},
    {"listen = 9000\n" POOL, 1, "listen belongs in a pool"},
    {POOL "pm.start_servers = 2\n", 4,
     "pm.start_servers is php-fpm's, and not supported here: the number of workers is fixed, "
     "pm.max_children"},
    {POOL "chroot = /x\n", 4,
     "chroot is php-fpm's, and not supported here: set it for the service: systemd has LimitNOFILE=, "
     "LimitCORE=, Nice= and more"},
    {"[global]\nrlimit_files = 3\n", 2,
     "rlimit_files is php-fpm's, and not supported here: set it for the service: systemd has LimitNOFILE=, "
     "LimitCORE=, Nice= and more"},
    {POOL "env = 1\n", 4, "expected env[name] = value"},
    {POOL "listen[x] = 1\n", 4, "expected listen = value"},
    {POOL "env[A=B] = 1\n", 4, "expected ] after the key"},

    /* values */
    {POOL "pm = dynamic\n", 4,
     "bad value \"dynamic\" of pm: expected static: a worker serves many requests at once, so it takes no "
     "more workers when there are more of them"},
    {POOL "pm = ondemand\n", 4,
     "bad value \"ondemand\" of pm: expected static: a worker serves many requests at once, so it takes no "
     "more workers when there are more of them"},
    {POOL "pm.max_children = 0\n", 4, "bad value \"0\" of pm.max_children: expected a number from 1 to 1024"},
    {POOL "pm.max_children = 1025\n", 4,
     "bad value \"1025\" of pm.max_children: expected a number from 1 to 1024"},
    {POOL "pm.max_requests = 1k\n", 4,
     "bad value \"1k\" of pm.max_requests: expected a number from 0 to 9223372036854775807"},
    {POOL "pm.max_requests = 9223372036854775808\n", 4,
     "bad value \"9223372036854775808\" of pm.max_requests: expected a number from 0 to "
     "9223372036854775807"},
    {POOL "pm.max_requests = -5\n", 4,
     "bad value \"-5\" of pm.max_requests: expected a number from 0 to 9223372036854775807"},
    {POOL "pm.max_requests =\n", 4,
     "bad value \"\" of pm.max_requests: expected a number from 0 to 9223372036854775807"},
    {POOL "fiber.stack_size = 255K\n", 4,
     "bad value \"255K\" of fiber.stack_size: expected a size from 256K to 1G, such as 512K or 8M"},
    {POOL "fiber.stack_size = 99999999999G\n", 4,
     "bad value \"99999999999G\" of fiber.stack_size: expected a size from 256K to 1G, such as 512K or 8M"},
    {POOL "request_terminate_timeout = 5x\n", 4,
     "bad value \"5x\" of request_terminate_timeout: expected a time from 0 to 1d, such as 500ms, 30s or 5m"},
    {POOL "request_terminate_timeout = 2d\n", 4,
     "bad value \"2d\" of request_terminate_timeout: expected a time from 0 to 1d, such as 500ms, 30s or 5m"},
    {POOL "fiber.revalidate_freq = 500ms\n", 4,
     "bad value \"500ms\" of fiber.revalidate_freq: expected a time from 0 to 1d, such as 30s or 5m"},
    {POOL "listen.mode = 999\n", 4, "bad value \"999\" of listen.mode: expected an octal mode, such as 0660"},
    {POOL "listen.mode = 01777\n", 4,
     "bad value \"01777\" of listen.mode: expected an octal mode, such as 0660"},
    {POOL "catch_workers_output = 2\n", 4, "bad value \"2\" of catch_workers_output: expected yes or no"},
    {POOL "php_flag[x] = maybe\n", 4, "bad value \"maybe\" of php_flag[x]: expected on or off"},
    {POOL "pool.executor = coroutine\n", 4, "bad value \"coroutine\" of pool.executor: expected fiber"},
    {POOL "fiber.isolation = none\n", 4, "bad value \"\" of fiber.isolation: expected full or shared"},
    {"[global]\nlog_level = loud\n", 2,
     "bad value \"loud\" of log_level: expected alert, error, warning, warn, notice or debug"},
    {"[global]\nerror_log = syslog\n", 2,
     "bad value \"syslog\" of error_log: expected the name of a file (syslog is php-fpm's, and not supported "
     "here)"},
    {"[global]\npid = /run/$pool.pid\n", 2,
     "bad value \"/run/$pool.pid\" of pid: expected no $pool here: this is no pool"},
    {POOL "ping.path = ping\n", 4,
     "bad value \"ping\" of ping.path: expected a path that starts with /, such as /status"},
    {POOL "user = nobody-has-this-name\n", 4,
     "bad value \"nobody-has-this-name\" of user: expected a user of this system, or a number"},
    {POOL "listen.group = nobody-has-this-name\n", 4,
     "bad value \"nobody-has-this-name\" of listen.group: expected a group of this system, or a number"},
    {POOL "slowlog =\n", 4, "bad value \"\" of slowlog: expected the name of a file or folder"},
    {POOL "ping.response = \"\ta\"\npm.max_children = \"\1x\"\n", 5,
     "bad value \"?x\" of pm.max_children: expected a number from 1 to 1024"},

#define ADDRESS "expected /path (of up to 107 bytes), port, host:port or [address]:port"
    {POOL "listen = 65536\n", 4, "bad value \"65536\" of listen: " ADDRESS},
    {POOL "listen = 0\n", 4, "bad value \"0\" of listen: " ADDRESS},
    {POOL "listen = run.sock\n", 4, "bad value \"run.sock\" of listen: " ADDRESS},
    {POOL "listen = ::1:9000\n", 4, "bad value \"::1:9000\" of listen: " ADDRESS},
    {POOL "listen = :9000\n", 4, "bad value \":9000\" of listen: " ADDRESS},
    {POOL "listen = localhost:http\n", 4, "bad value \"localhost:http\" of listen: " ADDRESS},

    /* what cannot be together */
    {"", 0, "expected at least one pool: a section such as [www]"},
    {"[global]\n", 0, "expected at least one pool: a section such as [www]"},
    {"\n[www]\npm.max_children = 2\n", 2,
     "[pool www] listen is missing: expected /path, port, host:port or [address]:port"},
    {"[www]\nlisten = 9000\n", 1, "[pool www] pm.max_children is missing: expected a number from 1 to 1024"},
    {POOL "request_slowlog_timeout = 5\nping.path = /a\n", 4,
     "[pool www] request_slowlog_timeout needs slowlog, the file to write to"},
    {POOL "slowlog = /tmp/x\nrequest_terminate_timeout = 1\nrequest_slowlog_timeout = 5\n", 6,
     "[pool www] request_slowlog_timeout is longer than request_terminate_timeout: no request would ever be "
     "in the slow log"},
    {POOL "ping.path = /a\npm.status_path = /a\n", 4, "[pool www] ping.path is the same as pm.status_path"},
    {POOL "fiber.isolate_statics = A\n", 4,
     "[pool www] fiber.isolate_statics is for fiber.isolation = shared: with full, all statics are a "
     "request's own"},
    {POOL "fiber.isolation = Shared\nfiber.isolate_statics = A\\B c\n", 4,
     "[pool www] fiber.isolation = shared is not built in this version: expected full"},
    {POOL "fiber.isolation = full\nfiber.shared_includes = on\n", 5,
     "[pool www] fiber.shared_includes is for fiber.isolation = shared: with full, nothing is shared"},
    {POOL "[b]\nlisten = /run/www.sock\npm.max_children = 2\n", 5,
     "[pool b] listen is that of another pool, /run/www.sock"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct fiber_config config;
        struct config_error error;
        if (read_text(refused[i].text, &config, &error))
            fail_msg("%s\nwas read, expected: %s", refused[i].text, refused[i].reason);
        if (error.line != refused[i].line || strcmp(error.text, refused[i].reason) != 0)
            fail_msg("%s\nline %u: %s\nexpected\nline %u: %s", refused[i].text, error.line, error.text,
                     refused[i].line, refused[i].reason);
        char file[256];
        snprintf(file, sizeof file, "%s/main.conf", folder);
        assert_string_equal(error.file, file);
    }
}

static void expect_refusal(const char *text, const char *file, unsigned line, const char *reason)
{
    struct fiber_config config;
    struct config_error error;
    char path[300], wanted[600];
    assert_false(read_text(text, &config, &error));
    snprintf(path, sizeof path, "%s/%s", folder, file);
    assert_string_equal(error.file, path);
    assert_int_equal(error.line, line);
    snprintf(wanted, sizeof wanted, reason, folder);
    assert_string_equal(error.text, wanted);
}

static void test_two_pools_of_one_name(void **state)
{
    (void)state;
    expect_refusal(POOL "[www]\n", "main.conf", 4, "there is a pool [www] already, in %s/main.conf:1");
}

static void test_pools_are_bounded(void **state)
{
    (void)state;
    char *text = calloc(1, 200 * 100), *at = text;
    assert_non_null(text);
    for (int i = 0; i <= CONFIG_POOLS_MAX; i++)
        at += sprintf(at, "[p%d]\nlisten = %d\npm.max_children = 1\n", i, 1000 + i);
    expect_refusal(text, "main.conf", 3 * CONFIG_POOLS_MAX + 1, "expected at most 64 pools");
    free(text);
}

static void test_lists_are_bounded(void **state)
{
    (void)state;
    char *text = calloc(1, 100 + 300 * 20), *at = stpcpy(text, POOL);
    for (int i = 0; i <= CONFIG_LIST_MAX; i++)
        at += sprintf(at, "env[A%d] = b\n", i);
    expect_refusal(text, "main.conf", 3 + CONFIG_LIST_MAX + 1,
                   "bad value \"b\" of env[A256]: expected at most 256 of them in a pool");
    free(text);
}

static void test_values_are_bounded(void **state)
{
    (void)state;
    char *text = calloc(1, 100000), *at = stpcpy(text, POOL "ping.response = ");
    memset(at, 'x', 70000);
    expect_refusal(text, "main.conf", 4, "the value is longer than 64K");
    at = stpcpy(text, POOL "ping.response = ");
    for (int i = 0; i < 8000; i++)
        at = stpcpy(at, "$pool");
    *at = '\0';
    struct fiber_config config;
    struct config_error error;
    assert_true(read_text(text, &config, &error));
    assert_int_equal(strlen(config.pools[0].ping_response), 24000);
    config_free(&config);
    free(text);
}

static void test_files_are_bounded(void **state)
{
    (void)state;
    struct fiber_config config;
    struct config_error error;
    char path[300], *text = malloc(2 << 20);
    assert_non_null(text);
    memset(text, ';', 2 << 20);
    write_file("large.conf", text, 2 << 20);
    free(text);
    snprintf(path, sizeof path, "%s/large.conf", folder);
    assert_false(config_read(path, &config, &error));
    assert_string_equal(error.text, "expected at most 1M of text");
}

static void test_nul(void **state)
{
    (void)state;
    struct fiber_config config;
    struct config_error error;
    char path[300];
    write_file("nul.conf", "[w\0w]\n", 6);
    snprintf(path, sizeof path, "%s/nul.conf", folder);
    assert_false(config_read(path, &config, &error));
    assert_string_equal(error.text, "a NUL byte");
}

static void test_no_file(void **state)
{
    (void)state;
    struct fiber_config config;
    struct config_error error;
    assert_false(config_read("/nonexistent/a.conf", &config, &error));
    assert_string_equal(error.file, "/nonexistent/a.conf");
    assert_string_equal(error.text, "cannot be read: No such file or directory");
    assert_false(config_read("/tmp", &config, &error));
    assert_string_equal(error.text, "cannot be read: Is a directory");
}

/* ---- include ---- */

static void test_include(void **state)
{
    (void)state;
    static const char a[] = "[a]\nlisten = 1001\npm.max_children = 1\n";
    static const char b[] = "[b]\nlisten = 1002\ninclude = rest.inc\n";
    static const char rest[] = "pm.max_children = 7\n";
    struct fiber_config config;
    struct config_error error;
    write_file("a.pool", a, strlen(a));
    write_file("b.pool", b, strlen(b));
    write_file("rest.inc", rest, strlen(rest));
    /* After it the section is the one before it. */
    if (!read_text("[global]\ninclude = *.pool\ndaemonize = no\ninclude = none*.pool\n", &config, &error))
        fail_msg("%s:%u: %s", error.file, error.line, error.text);
    assert_int_equal(config.pools_count, 2);
    assert_string_equal(config.pools[0].name, "a");
    assert_string_equal(config.pools[1].name, "b");
    assert_int_equal(config.pools[1].max_children, 7);
    assert_false(config.daemonize);
    config_free(&config);
}

static void test_error_in_an_included_file(void **state)
{
    (void)state;
    static const char bad[] = "\npm.max_children = x\n";
    write_file("bad.inc", bad, strlen(bad));
    expect_refusal(POOL "include = bad.inc\n", "bad.inc", 2,
                   "bad value \"x\" of pm.max_children: expected a number from 1 to 1024");
    expect_refusal(POOL "\ninclude = none.inc\n", "main.conf", 5, "include: there is no file %s/none.inc");
    expect_refusal("include = /tmp\n", "main.conf", 1, "include: /tmp is not a regular file");
}

static void test_conflict_in_an_included_file(void **state)
{
    (void)state;
    static const char slow[] = "\nrequest_slowlog_timeout = 3\n";
    write_file("slow.inc", slow, strlen(slow));
    expect_refusal(POOL "include = slow.inc\n", "slow.inc", 2,
                   "[pool www] request_slowlog_timeout needs slowlog, the file to write to");
}

static void test_a_file_that_includes_itself(void **state)
{
    (void)state;
    expect_refusal("include = main.conf\n", "main.conf", 1,
                   "include: expected at most 8 files, one in the other");
}

/* ---- fields that are not printed as they are kept ---- */

static void test_fields(void **state)
{
    (void)state;
    struct fiber_config config;
    struct config_error error;
    assert_true(
        read_text("[global]\nprocess_control_timeout = 2m\nlog_level = debug\n" POOL
                  "php_value[a] = 1\nphp_admin_flag[b] = on\nlisten.mode = 0600\nfiber.time_slice = 1s\n",
                  &config, &error));
    const struct pool_config *pool = &config.pools[0];
    assert_int_equal(config.process_control_timeout_ms, 120000);
    assert_int_equal(config.log_level, LOG_LEVEL_DEBUG);
    assert_int_equal(pool->settings_count, 2);
    assert_string_equal(pool->settings[0].name, "a");
    assert_false(pool->settings[0].admin);
    assert_string_equal(pool->settings[1].value, "1");
    assert_true(pool->settings[1].admin);
    assert_int_equal(pool->listen_mode, 0600);
    assert_int_equal(pool->time_slice_ms, 1000);
    assert_int_equal(pool->isolation, ISOLATION_FULL);
    config_free(&config);
    config_free(&config); /* of nothing */
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? setenv("TEST_CONFIG", "fromenv", 1) : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"main.conf", "a.pool",   "b.pool",   "rest.inc",
                                        "bad.inc",   "slow.inc", "nul.conf", "large.conf"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_as),
        cmocka_unit_test(test_print_and_read),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_two_pools_of_one_name),
        cmocka_unit_test(test_pools_are_bounded),
        cmocka_unit_test(test_lists_are_bounded),
        cmocka_unit_test(test_values_are_bounded),
        cmocka_unit_test(test_files_are_bounded),
        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_include),
        cmocka_unit_test(test_error_in_an_included_file),
        cmocka_unit_test(test_conflict_in_an_included_file),
        cmocka_unit_test(test_a_file_that_includes_itself),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
