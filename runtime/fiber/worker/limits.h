/* What one worker lets its clients cost. Everything that a client can make larger has a bound here. */
#ifndef ORDEAL_FIBER_WORKER_LIMITS_H
#define ORDEAL_FIBER_WORKER_LIMITS_H

enum {
    READ_BYTES = 64 << 10, /* one read(2) */

    /* A body is gathered until it is whole or this long; then the script starts, and the rest is read as fast
     * as the script takes it. So a client that sends slowly holds no engine image, unless it sends a lot. */
    BODY_BYTES_MAX = 256 << 10,

    OUT_PIECE_BYTES = 32 << 10,   /* output is gathered to pieces of this size, unless flush() is called */
    OUT_BYTES_MAX = 256 << 10,    /* not sent yet, of one connection: with more than that the request waits */
    OUT_BYTES_LOW = 128 << 10,    /* and goes on when this is left */
    OUT_BYTES_RESERVED = 4 << 10, /* room for END_REQUEST and for answers about the connection */

    STDERR_BYTES_MAX = 32 << 10,  /* one message on the stderr stream; longer ones are cut */
    STATUS_BYTES_MAX = 128 << 10, /* the status page; rows that do not fit are counted, not shown */
    LOG_LINE_BYTES_MAX = 2048,    /* of the access log, as php-fpm */

    HOT_SLOTS_MAX = 32, /* images that keep their heap while they are idle */

    ACCEPTS_PER_TURN = 16, /* connections taken before those that wait are served again */

    CONNECTIONS_EXTRA = 256, /* beyond two for each request in flight: kept ones, and slow ones */

    /* Seconds without progress: while a request comes, while its answer is read; while the worker drains, of
     * a connection without a request, and of one that has begun. After an answer the rest of what a client
     * sends is read for LINGER_S, so that closing does not take the answer away from it. */
    RECEIVE_TIMEOUT_S = 60,
    SEND_TIMEOUT_S = 60,
    DRAIN_IDLE_S = 1,
    DRAIN_RECEIVE_S = 5,
    LINGER_S = 2,

    /* After fastcgi_finish_request() output goes nowhere; php-fpm notices when its buffer is full. */
    DISCARDED_BYTES_MAX = 8184,
};

#endif
