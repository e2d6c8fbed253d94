/* One request, as the SAPI sees it: its parameters, and a transport that carries its bytes. Nothing of PHP is
 * in here.
 *
 * The transport belongs to the worker. Its calls are made on the request's own stack, and may suspend the
 * request: until more of the body has come, or until a client that reads slowly has made room. */
#ifndef ORDEAL_FIBER_REQUEST_H
#define ORDEAL_FIBER_REQUEST_H

#include "runtime/fiber/sapi/params.h"

#include <stdint.h>
#include <time.h>

struct request;

enum request_stream { REQUEST_STDOUT, REQUEST_STDERR };

struct request_transport {
    /* The next bytes of the body; 0 at its end, or when the client is gone. */
    size_t (*read_body)(struct request *request, char *bytes, size_t count_max);

    /* False when nobody will read it: the client is gone, or the answer has ended. */
    bool (*write)(struct request *request, enum request_stream stream, const char *bytes, size_t count);

    /* Sends what write() has gathered. False as above. */
    bool (*flush)(struct request *request);

    /* Ends the answer; the request may go on. Once: later calls do nothing. False when the client is gone. */
    bool (*finish)(struct request *request);

    /* A line for the log of the pool: level is "NOTICE" and such. */
    void (*log)(struct request *request, const char *level, const char *text);

    /* The script has ended and its headers still stand: the moment for the access log. */
    void (*served)(struct request *request);
};

/* What php-fpm calls the stages of a request on its status page. */
enum request_stage {
    REQUEST_READING_HEADERS,
    REQUEST_GETTING_INFO,
    REQUEST_RUNNING,
    REQUEST_ENDING,
    REQUEST_FINISHING,
};

/* What a pool's configuration says about each of its requests. */
struct request_rules {
    char *const *limit_extensions; /* ".php"; may be NULL */
    unsigned limit_extensions_count;
};

struct request {
    const struct request_transport *transport;
    const struct request_rules *rules;
    struct params params;

    bool
        timed_out; /* set by the worker before sapi_terminate(): from now on the client is not what ends it */
    bool ended;    /* the answer has ended: END_REQUEST is on its way */
    int body_file; /* a descriptor + 1, when the web server put the body into a file; 0: it comes by read_body
                    */
    bool logged_stderr; /* messages on the stderr stream are joined by "; " */

    /* For the status page, the access log and the slow log. Texts live as long as the parameters. */
    enum request_stage stage;
    int64_t accepted_ns; /* CLOCK_MONOTONIC */
    time_t accepted_s;   /* CLOCK_REALTIME */
    const char *type;    /* the content type of an answer made without PHP; NULL: PHP has its headers */
    const char *method;  /* "GET"; NULL: not sent */
    const char *uri;     /* as php-fpm: SCRIPT_NAME without what was found to be PATH_INFO */
    const char *query;   /* "" when there is none */
    const char *user;    /* of HTTP authentication; NULL: none */
    const char *script;  /* file name; NULL: none */
    char user_copy[64];  /* PHP's own text is gone when the request is */
    char peer[46];       /* the web server's address; "" on a unix socket */
    long long content_length;
    int status;               /* of the answer, when `served` is called */
    size_t memory_peak_bytes; /* the same */
};

const char *request_stage_name(enum request_stage stage);

#endif
