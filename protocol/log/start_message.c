#include "protocol/log/start_message.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DESCRIPTORS = 2 };

typedef union control {
    char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
    struct cmsghdr aligned;
} control;

static bool send_parts(int channel, struct iovec *parts, size_t count, const int *fds, size_t given)
{
    control c = {0};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = count};
    if (given > 0) {
        m.msg_control = c.bytes;
        m.msg_controllen = CMSG_SPACE(given * sizeof *fds);
        struct cmsghdr *head = CMSG_FIRSTHDR(&m);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(given * sizeof *fds);
        memcpy(CMSG_DATA(head), fds, given * sizeof *fds);
    }
    ssize_t n;
    do {
        n = sendmsg(channel, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    return n >= 0;
}

/* Returns the number of bytes received, 0 at the end; missing fds[] are -1. */
static ssize_t receive_parts(int channel, struct iovec *parts, size_t count, int fds[DESCRIPTORS])
{
    control c = {0};
    struct msghdr m = {.msg_iov = parts,
                       .msg_iovlen = count,
                       .msg_control = c.bytes,
                       .msg_controllen = sizeof c.bytes};
    ssize_t n;
    do {
        n = recvmsg(channel, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    fds[0] = fds[1] = -1;
    struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        size_t bytes = head->cmsg_len - CMSG_LEN(0);
        memcpy(fds, CMSG_DATA(head),
               bytes < DESCRIPTORS * sizeof *fds ? bytes : DESCRIPTORS * sizeof *fds);
    }
    return n;
}

bool pl_start_message_send(int channel, const pl_start_message *m)
{
    struct iovec parts[PL_START_ARGUMENTS_MAX + 2] = {
        {.iov_base = (void *)&m->cpus, .iov_len = sizeof m->cpus},
        {.iov_base = m->directory, .iov_len = strlen(m->directory) + 1}};
    size_t n = 2, bytes = parts[1].iov_len;
    for (int i = 0; i < m->count && i < PL_START_ARGUMENTS_MAX; i++, n++) {
        parts[n] = (struct iovec){.iov_base = m->arguments[i],
                                  .iov_len = strlen(m->arguments[i]) + 1};
        bytes += parts[n].iov_len;
    }
    if (m->count > PL_START_ARGUMENTS_MAX || bytes > PL_START_TEXT_MAX) {
        errno = E2BIG;
        return false;
    }
    return send_parts(channel, parts, n, (int[]){m->out_fd, m->err_fd}, 2);
}

/* The directory and the arguments, one after the other, each with its NUL. */
static bool take_text(pl_start_message *m, size_t bytes)
{
    if (bytes == 0 || m->text[bytes - 1]) {
        return false;
    }
    m->directory = m->text;
    m->count = 0;
    for (char *at = m->text + strlen(m->text) + 1; at < m->text + bytes; at += strlen(at) + 1) {
        if (m->count == PL_START_ARGUMENTS_MAX) {
            return false;
        }
        m->arguments[m->count++] = at;
    }
    m->arguments[m->count] = NULL;
    return m->count > 0;
}

bool pl_start_message_receive(int channel, pl_start_message *m)
{
    struct iovec parts[] = {{.iov_base = &m->cpus, .iov_len = sizeof m->cpus},
                            {.iov_base = m->text, .iov_len = sizeof m->text}};
    int fds[DESCRIPTORS];
    ssize_t n = receive_parts(channel, parts, 2, fds);
    m->out_fd = fds[0];
    m->err_fd = fds[1];
    return n > (ssize_t)sizeof m->cpus && fds[1] >= 0 && take_text(m, (size_t)n - sizeof m->cpus);
}

bool pl_start_answer_send(int channel, pid_t pid, int pidfd)
{
    struct iovec part = {.iov_base = &pid, .iov_len = sizeof pid};
    return send_parts(channel, &part, 1, &pidfd, pidfd >= 0);
}

bool pl_start_answer_receive(int channel, int patience_ms, pid_t *pid, int *pidfd)
{
    struct pollfd ready = {channel, POLLIN, 0};
    int polled = poll(&ready, 1, patience_ms);
    if (polled <= 0) {
        errno = polled == 0 ? ETIMEDOUT : errno;
        return false;
    }
    struct iovec part = {.iov_base = pid, .iov_len = sizeof *pid};
    int fds[DESCRIPTORS];
    if (receive_parts(channel, &part, 1, fds) != (ssize_t)sizeof *pid) {
        errno = EPIPE;
        return false;
    }
    *pidfd = fds[0];
    return true;
}
