#include "server/base/notify.h"

#include "server/base/clock.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address;
static socklen_t address_length; /* 0: none */
static int interval_ms;

/* A path, or with '@' first an abstract name. */
static void take_address(const char *text)
{
    size_t length = strlen(text);
    if ((text[0] != '/' && text[0] != '@') || length < 2 || length >= sizeof address.sun_path) {
        return;
    }
    address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address.sun_path, text, length);
    address.sun_path[0] = text[0] == '@' ? 0 : text[0];
    address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static void take_watchdog(const char *microseconds, const char *pid)
{
    if (!pid || strtoll(pid, NULL, 10) == (long long)getpid()) {
        long long half = strtoll(microseconds, NULL, 10) / 2000;
        interval_ms = half < 1 ? 0 : half > INT32_MAX ? INT32_MAX : (int)half;
    }
}

void pl_notify_begin(void)
{
    const char *socket_name = getenv("NOTIFY_SOCKET"), *microseconds = getenv("WATCHDOG_USEC");
    if (socket_name) {
        take_address(socket_name);
    }
    if (microseconds && address_length) {
        take_watchdog(microseconds, getenv("WATCHDOG_PID"));
    }
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void pl_notify(const char *format, ...)
{
    char text[512];
    va_list values;
    int fd = address_length ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0) {
        return;
    }
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    size_t length = n < (int)sizeof text ? (size_t)n : sizeof text - 1;
    ssize_t sent = sendto(fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT,
                          (const struct sockaddr *)&address, address_length);
    (void)sent; /* no service manager is listening */
    close(fd);
}

int pl_notify_interval_ms(void)
{
    return interval_ms;
}

void pl_notify_alive(void)
{
    static int64_t last;
    int64_t now = interval_ms ? pl_monotonic_ms() : 0;
    if (interval_ms && (last == 0 || now - last >= interval_ms)) {
        last = now;
        pl_notify("WATCHDOG=1");
    }
}
