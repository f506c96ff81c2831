/* notify.h - reports the daemon's state to a service manager: datagrams to $NOTIFY_SOCKET as in sd_notify(3), without
 * libsystemd. Without such a socket, nothing happens.
 */
#ifndef PLIANT_SERVER_BASE_NOTIFY_H
#define PLIANT_SERVER_BASE_NOTIFY_H

/* Reads NOTIFY_SOCKET and WATCHDOG_* and unsets them, so that no child process can notify in the daemon's name. Call
 * once, before the first thread. */
void pl_notify_begin(void);
/* Send "READY=1", "STOPPING=1", or several with newlines between; printf's format. */
void pl_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How often to call pl_notify_alive, ms: half of the watchdog's time; 0: no need to call it. */
int pl_notify_interval_ms(void);
/* Sends "WATCHDOG=1" once an interval. Call it from one thread only. */
void pl_notify_alive(void);

#endif
