#include "server/http/listener.h"

#include "server/base/activation.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void put_url(const pl_options *o, int port, char url[PL_URL_MAX])
{
    bool is_v6 = strchr(o->listen_host, ':') != NULL;
    snprintf(url, PL_URL_MAX, is_v6 ? "http%s://[%s]:%d" : "http%s://%s:%d", o->tls_cert ? "s" : "",
             o->listen_host, port);
}

/* Bind by hand, so that port 0 and both address families are handled alike. */
static int bind_address(const pl_options *o, char url[PL_URL_MAX])
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    bool is_v6 = strchr(o->listen_host, ':') != NULL;
    v6.sin6_port = v4.sin_port = htons((uint16_t)o->listen_port);
    inet_pton(is_v6 ? AF_INET6 : AF_INET, o->listen_host,
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
        pl_logf(PL_LEVEL_ERROR, "cannot listen on %s port %d: %s", o->listen_host, o->listen_port,
                strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    put_url(o, ntohs(is_v6 ? v6.sin6_port : v4.sin_port), url);
    return fd;
}

int pl_listener_open_address(const pl_options *o, char url[PL_URL_MAX])
{
    int given = pl_activation_address();
    if (given < 0) {
        return bind_address(o, url);
    }
    put_url(o, o->listen_port, url);
    return given;
}

/* Remove a socket file that no process listens on; any other file stays. */
static void remove_stale(const struct sockaddr_un *address)
{
    struct stat st;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && lstat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
        connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED) {
        unlink(address->sun_path);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static int bind_unix(const pl_options *o)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", o->listen_unix);
    remove_stale(&address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The folder's permissions decide who may connect; the kernel tells who it is. */
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(address.sun_path, 0666) != 0 || listen(fd, 511) != 0) {
        pl_logf(PL_LEVEL_ERROR, "cannot listen on %s: %s", address.sun_path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}

int pl_listener_open_unix(const pl_options *o, char url[PL_URL_MAX])
{
    int given = pl_activation_unix();
    int fd = given >= 0 ? given : bind_unix(o);
    if (fd >= 0 && o->no_address) {
        snprintf(url, PL_URL_MAX, "unix:%s", o->listen_unix);
    }
    return fd;
}

void pl_listener_remove_unix(const pl_options *o)
{
    if (pl_activation_unix() < 0) {
        unlink(o->listen_unix);
    }
}

int64_t pl_listener_peer(int fd)
{
    int domain = 0;
    struct ucred peer;
    socklen_t size = sizeof domain, peer_size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0) {
        return -1;
    }
    return peer.uid;
}

uint64_t pl_listener_key(const struct sockaddr *address)
{
    uint64_t key = 0;
    if (address && address->sa_family == AF_INET) {
        key = ((const struct sockaddr_in *)address)->sin_addr.s_addr;
    } else if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *a = &((const struct sockaddr_in6 *)address)->sin6_addr;
        memcpy(&key, a->s6_addr + (IN6_IS_ADDR_V4MAPPED(a) ? 8 : 0), sizeof key);
    }
    return key ? key : 1;
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

void pl_listener_bound_silence(int fd, int idle_s)
{
    unsigned ms = 1000 * (unsigned)idle_s;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}
