/* Planted defects of TLS: calls of OpenSSL that the right server leaves alone; see runtime/defect.h. */
#ifdef ORDEAL_DEFECTS

#include "runtime/fiber/planted.h"
#include "runtime/fiber/seam/seam.h"

#include <poll.h>

int SSL_get_fd(const void *ssl);
int SSL_connect(void *ssl);
int SSL_get_error(const void *ssl, int result);
int SSL_read(void *ssl, void *bytes, int count);

int SSL_connect(void *ssl)
{
    planted.tls_seen = true;
    return REAL(SSL_connect)(ssl);
}

/* B6: asks the descriptor whether there is something to read, although the bytes may already be decrypted. */
static bool told_to_wait;

int SSL_read(void *ssl, void *bytes, int count)
{
    struct pollfd state = {.fd = SSL_get_fd(ssl), .events = POLLIN};
    told_to_wait = DEFECT(B6) && slot_current && REAL(poll)(&state, 1, 0) == 0;
    return told_to_wait ? -1 : REAL(SSL_read)(ssl, bytes, count);
}

int SSL_get_error(const void *ssl, int result)
{
    enum { SSL_ERROR_WANT_READ = 2 };
    bool fake = told_to_wait;
    told_to_wait = false;
    return fake ? SSL_ERROR_WANT_READ : REAL(SSL_get_error)(ssl, result);
}

#endif
