#include "tests/bench/bare_server.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* As server/http/http.c has them. */
enum { THREADS = 2, CONNECTION_MEMORY = 32 << 10, BLOCK = 128 };

typedef struct download {
    int file;
    off_t at;
} download;

static int files[BARE_FILES];
static int file_count;

static ssize_t read_files(void *context, uint64_t position, char *out, size_t room)
{
    download *d = context;
    while (d->file < file_count) {
        ssize_t n = pread(files[d->file], out, room, d->at);
        if (n < 0)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        d->at += n;
        if (n > 0)
            return n;
        d->file++;
        d->at = 0;
    }
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_size, void **request)
{
    if (!*request) { /* the head; the library comes again */
        *request = context;
        return MHD_YES;
    }
    download *d = calloc(1, sizeof *d);
    struct MHD_Response *response =
        d ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_files, d, free) : NULL;
    if (!response) {
        free(d);
        return MHD_NO;
    }
    enum MHD_Result queued = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return queued;
}

static _Noreturn void serve(int listener)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, files, MHD_OPTION_LISTEN_SOCKET,
        listener, MHD_OPTION_THREAD_POOL_SIZE, (unsigned int)THREADS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_END);
    if (!daemon)
        _exit(1);
    for (;;)
        pause();
}

void bare_server_start(bare_server *s, const char *const *paths, int count)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    ck_assert_int_le(count, BARE_FILES);
    for (file_count = 0; file_count < count; file_count++) {
        files[file_count] = open(paths[file_count], O_RDONLY | O_CLOEXEC);
        ck_assert_msg(files[file_count] >= 0, "%s", paths[file_count]);
    }
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_ge(listener, 0);
    /* Connections wait in the backlog until the other process takes them. */
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 16), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    s->port = ntohs(address.sin_port);
    s->pid = fork();
    ck_assert_int_ge(s->pid, 0);
    if (s->pid == 0)
        serve(listener);
    close(listener);
    for (int i = 0; i < file_count; i++)
        close(files[i]);
}

void bare_server_stop(bare_server *s)
{
    kill(s->pid, SIGKILL);
    ck_assert_int_eq(waitpid(s->pid, NULL, 0), s->pid);
}
