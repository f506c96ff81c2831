#include "server/base/activation.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST = 3 }; /* SD_LISTEN_FDS_START */

static int address_fd = -1, unix_fd = -1;

static bool reject(const char *reason)
{
    pl_logf(PL_LEVEL_ERROR, "a socket of the service manager: %s", reason);
    return false;
}

static int socket_option(int fd, int option)
{
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

static bool take_address(int fd, const struct sockaddr_storage *name, pl_options *o)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)name;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)name;
    bool is_v6 = name->ss_family == AF_INET6;
    if (address_fd >= 0) {
        return reject("more than one address");
    }
    inet_ntop(name->ss_family, is_v6 ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr,
              o->listen_host, sizeof o->listen_host);
    o->listen_port = ntohs(is_v6 ? v6->sin6_port : v4->sin_port);
    address_fd = fd;
    return true;
}

static bool take_unix(int fd, const struct sockaddr_storage *name, pl_options *o)
{
    static char path[sizeof((struct sockaddr_un *)0)->sun_path + 1];
    if (unix_fd >= 0) {
        return reject("more than one unix socket");
    }
    memcpy(path, ((const struct sockaddr_un *)name)->sun_path, sizeof path - 1);
    if (path[0] != '/') {
        return reject("a unix socket without a path");
    }
    o->listen_unix = path;
    unix_fd = fd;
    return true;
}

static bool take_socket(int fd, pl_options *o)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &size) != 0 ||
        socket_option(fd, SO_TYPE) != SOCK_STREAM || socket_option(fd, SO_ACCEPTCONN) != 1) {
        return reject("not a stream socket that listens (Accept=yes does not work)");
    }
    int flags = fcntl(fd, F_GETFL);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        return reject("its flags cannot be set");
    }
    switch (name.ss_family) {
    case AF_INET:
    case AF_INET6:
        return take_address(fd, &name, o);
    case AF_UNIX:
        return take_unix(fd, &name, o);
    default:
        return reject("neither IP nor unix");
    }
}

/* Number of sockets announced to this process. */
static long announced(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    bool ours = pid && count && strtoll(pid, NULL, 10) == (long long)getpid();
    long number = ours ? strtol(count, NULL, 10) : 0;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return number;
}

bool pl_activation_take(pl_options *o)
{
    long count = announced();
    if (count <= 0) {
        return true;
    }
    /* Sockets replace every --listen. */
    strcpy(o->listen_host, "127.0.0.1");
    o->listen_unix = NULL;
    for (int fd = FIRST; fd < FIRST + count; fd++) {
        if (!take_socket(fd, o)) {
            return false;
        }
    }
    o->no_address = address_fd < 0;
    return pl_options_check(o) == PL_OPTIONS_RUN;
}

int pl_activation_address(void)
{
    return address_fd;
}

int pl_activation_unix(void)
{
    return unix_fd;
}
