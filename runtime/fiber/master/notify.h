/* Tells the service manager, as sd_notify(3) does: "READY=1" and the like, lines in one datagram to the
 * socket that $NOTIFY_SOCKET names. Without that variable it does nothing. */
#ifndef ORDEAL_FIBER_NOTIFY_H
#define ORDEAL_FIBER_NOTIFY_H

__attribute__((format(printf, 1, 2))) void service_notify(const char *format, ...);

#endif
