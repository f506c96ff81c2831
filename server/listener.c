#include "server/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bind by hand, so that port 0 and both address families are one path. */
int pl_listener_open(pl_daemon *d)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    bool is_v6 = strchr(d->options.listen_host, ':') != NULL;
    v6.sin6_port = v4.sin_port = htons((uint16_t)d->options.listen_port);
    inet_pton(is_v6 ? AF_INET6 : AF_INET, d->options.listen_host,
              is_v6 ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr);
    int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    struct sockaddr *address = is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t size = is_v6 ? sizeof v6 : sizeof v4;
    if (fd < 0 || bind(fd, address, size) != 0 || listen(fd, 511) != 0 ||
        getsockname(fd, address, &size) != 0) {
        pl_say(PL_LEVEL_ERROR, "can not listen on %s port %d: %s", d->options.listen_host,
               d->options.listen_port, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    snprintf(d->url, sizeof d->url, is_v6 ? "http://[%s]:%d" : "http://%s:%d",
             d->options.listen_host, ntohs(is_v6 ? v6.sin6_port : v4.sin_port));
    return fd;
}

void pl_listener_name(const struct sockaddr *address, char out[64])
{
    out[0] = 0;
    if (address && address->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, out, 64);
    } else if (address && address->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, out, 64);
    } else if (address && address->sa_family == AF_UNIX) {
        snprintf(out, 64, "unix");
    }
}
