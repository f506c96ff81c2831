/* Raw bytes sent to a real daemon in this process: the parts of an input are requests, sent one after another on one
 * connection. {TOKEN} stands for the owner's token, {ID} for a finished session, {LEN} for the number of bytes after
 * the head. Every reply must be a well-formed HTTP response, with a JSON body if it says so, and never 500.
 *
 * The session is made by the real worker from the build folder ($PLIANT_BUILD); after that, checks of scenes and meshes
 * die at once, so that no input starts a worker. */
#include "tests/fuzz/fuzz.h"

#define main pliantd_main
#include "server/pliantd_main.c"
#undef main

#include "protocol/text/json.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

enum { OP_WHOLE, OP_HALVES, OP_COUNT, REPLY_MAX = 16 << 20, IDLE_MS = 40000, QUIET_MS = 50 };

static pl_daemon fuzzed;
static char state_path[PATH_MAX], token[80], session_id[33];

/* ---- one connection ---- */

static int connect_to_daemon(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int port = 0, on = 1;
    FUZZ_REQUIRE(sscanf(fuzzed.url, "http://127.0.0.1:%d", &port) == 1, "url %s", fuzzed.url);
    address.sin_port = htons((uint16_t)port);
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FUZZ_REQUIRE(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0,
                 "no connection: %s", strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

typedef struct exchange {
    int fd;
    bool closed; /* the daemon accepts no more */
    bool reset;  /* reset by TCP, which drops data in flight: a reply may be cut short */
    char *reply; /* NUL-terminated */
    size_t length;
} exchange;

/* The kernel reports a reset only once, to the first call: if send got it, recv sees an orderly end. */
static void note_reset(exchange *e)
{
    e->reset |= errno == ECONNRESET || errno == EPIPE;
}

/* Take what has come, waiting up to wait_ms; false at the end of the connection. */
static bool take_reply(exchange *e, int wait_ms)
{
    struct pollfd p = {.fd = e->fd, .events = POLLIN};
    if (poll(&p, 1, wait_ms) <= 0)
        return true;
    e->reply = realloc(e->reply, e->length + 65536 + 1);
    FUZZ_REQUIRE(e->reply, "out of memory");
    ssize_t n = recv(e->fd, e->reply + e->length, 65536, 0);
    if (n < 0)
        note_reset(e);
    if (n <= 0)
        return false;
    e->length += (size_t)n;
    e->reply[e->length] = 0;
    FUZZ_REQUIRE(e->length < REPLY_MAX, "an answer without end");
    return true;
}

/* Never waits for room while the daemon waits for us to read. */
static void send_bytes(exchange *e, const char *bytes, size_t size)
{
    while (size > 0 && !e->closed) {
        ssize_t n = send(e->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN) {
            e->closed = !take_reply(e, 10);
        } else {
            note_reset(e);
            e->closed = true;
        }
    }
}

/* ---- requests ---- */

/* The request with its placeholders filled in; malloc'ed. */
static char *fill_in(const fuzz_part *part, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    const char *at = (const char *)part->bytes, *end = at + part->size;
    const char *head_end = memmem(at, part->size, "\r\n\r\n", 4);
    size_t body = head_end ? (size_t)(end - head_end) - 4 : 0;
    while (at < end) {
        size_t left = (size_t)(end - at);
        if (left >= 7 && memcmp(at, "{TOKEN}", 7) == 0) {
            fputs(token, out);
            at += 7;
        } else if (left >= 4 && memcmp(at, "{ID}", 4) == 0) {
            fputs(session_id, out);
            at += 4;
        } else if (left >= 5 && memcmp(at, "{LEN}", 5) == 0) {
            fprintf(out, "%zu", body);
            at += 5;
        } else {
            fputc(*at++, out);
        }
    }
    fclose(out);
    return text;
}

static void send_part(exchange *e, const fuzz_part *part)
{
    size_t size = 0;
    char *text = fill_in(part, &size);
    size_t first = part->op % OP_COUNT == OP_HALVES ? size / 2 : size;
    send_bytes(e, text, first);
    if (first < size)
        sched_yield(); /* some of the halves arrive as two */
    send_bytes(e, text + first, size - first);
    free(text);
}

/* ---- responses: each function returns NULL if the bytes end too early ---- */

typedef struct response {
    int status;
    long long length; /* -1: missing */
    bool chunked, json, ours;
} response;

static const char *line_end(const char *at, const char *end)
{
    return at < end ? memmem(at, (size_t)(end - at), "\r\n", 2) : NULL;
}

static void read_header(const char *at, const char *stop, response *r)
{
    const char *colon = memchr(at, ':', (size_t)(stop - at));
    FUZZ_REQUIRE(colon && colon > at, "no header: %.100s", at);
    if (strncasecmp(at, "Content-Length:", 15) == 0)
        r->length = strtoll(at + 15, NULL, 10);
    if (strncasecmp(at, "Transfer-Encoding: chunked", 26) == 0)
        r->chunked = true;
    if (strncasecmp(at, "Pliant-Version:", 15) == 0)
        r->ours = true;
    if (strncasecmp(at, "Content-Type: application/json", 30) == 0 ||
        strncasecmp(at, "Content-Type: application/problem+json", 38) == 0)
        r->json = true;
}

/* The head at `at`; where its body starts. */
static const char *read_head(const char *at, const char *end, response *r)
{
    int major = 0, minor = 0;
    const char *stop = line_end(at, end);
    *r = (response){.length = -1};
    if (!stop)
        return NULL;
    FUZZ_REQUIRE(sscanf(at, "HTTP/%d.%d %d", &major, &minor, &r->status) == 3 && major == 1 &&
                     r->status >= 100 && r->status <= 599,
                 "no status line: %.100s", at);
    for (at = stop + 2; (stop = line_end(at, end)) && stop != at; at = stop + 2)
        read_header(at, stop, r);
    return stop ? stop + 2 : NULL;
}

static const char *pass_chunks(const char *at, const char *end)
{
    for (;;) {
        char *digits_end;
        const char *stop = line_end(at, end);
        if (!stop)
            return NULL;
        unsigned long long size = strtoull(at, &digits_end, 16);
        FUZZ_REQUIRE(digits_end > at && size <= REPLY_MAX, "chunk %.40s", at);
        at = stop + 2 + size <= end ? line_end(stop + 2 + size, end) : NULL;
        FUZZ_REQUIRE(!at || at == stop + 2 + size, "a chunk longer than it says: %.40s", stop);
        if (!at || size == 0)
            return at ? at + 2 : NULL;
        at += 2;
    }
}

/* Parse one response; returns where the next starts. After a HEAD, a length may have no body. */
static const char *pass_response(const char *at, const char *end, bool heads)
{
    response r;
    const char *status_line = at;
    at = read_head(at, end, &r);
    FUZZ_REQUIRE(r.status != 500, "500: %.600s", status_line);
    if (!at || r.status < 200 || r.status == 204 || r.status == 304)
        return at;
    /* The library's own page, for requests that it cannot parse; some of them have two heads. It then closes the
     * connection. */
    if (!r.ours) {
        FUZZ_REQUIRE(r.status >= 400, "not ours: %.600s", status_line);
        return end;
    }
    if (heads && (at == end || strncmp(at, "HTTP/1.", 7) == 0))
        return at;
    if (r.chunked)
        return pass_chunks(at, end);
    if (r.length < 0)
        return end;
    if (r.length > end - at)
        return NULL;
    pl_json *document = r.json ? pl_json_parse(at, (size_t)r.length, NULL) : NULL;
    FUZZ_REQUIRE(document || !r.json, "no JSON: %.600s", status_line);
    pl_json_free(document);
    return at + r.length;
}

/* Whether the reply is whole responses. */
static bool reply_whole(const exchange *e, bool heads)
{
    const char *at = e->reply, *end = at ? at + e->length : at;
    while (at && at < end)
        at = pass_response(at, end, heads);
    return at == end;
}

/* Take all that comes. The library does not always see our end, and then keeps the connection open
 * until its time is over, so quiet after whole answers, or after none, is an end too. A request that
 * is never answered still shows: the library does not stop while it is suspended. */
static void finish_exchange(exchange *e, bool heads)
{
    int64_t begun = pl_monotonic_ms();
    bool open = true;
    shutdown(e->fd, SHUT_WR);
    while (open) {
        size_t before = e->length;
        open = take_reply(e, QUIET_MS);
        if (e->length > before)
            begun = pl_monotonic_ms();
        else if (open && reply_whole(e, heads))
            break;
        FUZZ_REQUIRE(pl_monotonic_ms() - begun < IDLE_MS, "no end after %zu bytes: %s", e->length,
                     e->reply ? e->reply : "");
    }
    close(e->fd);
    FUZZ_REQUIRE(reply_whole(e, heads) || e->reset, "half an answer: %s", e->reply);
}

/* ---- the daemon ---- */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    return remove(path);
}

static void end_daemon(void)
{
    stop_parts(&fuzzed);
    nftw(state_path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Send one request, give what came; malloc'ed. */
static char *ask(const char *format, const char *path)
{
    char text[2048];
    exchange e = {.fd = connect_to_daemon()};
    snprintf(text, sizeof text, format, path);
    fuzz_part part = {OP_WHOLE, (const uint8_t *)text, strlen(text)};
    send_part(&e, &part);
    while (e.length == 0 && take_reply(&e, IDLE_MS))
        ;
    finish_exchange(&e, false);
    FUZZ_REQUIRE(e.reply, "no answer to %s", text);
    return e.reply;
}

/* One tetrahedron that falls for three frames. */
static void run_session(void)
{
    static const char post[] =
        "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Content-Type: application/json\r\nContent-Length: {LEN}\r\n\r\n"
        "{\"pliant\":1,\"name\":\"fuzz\",\"time\":{\"step\":0.01,\"steps\":3},"
        "\"materials\":{\"m\":{\"model\":\"neo_hookean\"}},\"bodies\":[{\"name\":\"b\","
        "\"material\":\"m\",\"mesh\":{\"vertices\":[0,0,0,1,0,0,0,1,0,0,0,1],"
        "\"tets\":[0,1,2,3]}}]}";
    static const char get[] = "GET %s HTTP/1.1\r\nHost: localhost\r\n"
                              "Authorization: Bearer {TOKEN}\r\n\r\n";
    char *reply = ask(post, "/v1/sessions");
    const char *id = strstr(reply, "\"id\":\"");
    FUZZ_REQUIRE(id && sscanf(id + 6, "%32[0-9a-f]", session_id) == 1, "no session: %s", reply);
    free(reply);
    for (bool ended = false; !ended;) {
        reply = ask(get, "/v1/sessions/{ID}?wait=5");
        ended = strstr(reply, "succeeded") != NULL;
        FUZZ_REQUIRE(!strstr(reply, "\"failed\"") && !strstr(reply, "rejected"), "%s", reply);
        free(reply);
    }
}

/* From now on every check dies at once. */
static void disarm(const char *base)
{
    snprintf(fuzzed.programs, sizeof fuzzed.programs, "%.200s/programs", base);
    FUZZ_REQUIRE(mkdir(fuzzed.programs, 0700) == 0, "%s cannot be made", fuzzed.programs);
    static const char *const names[] = {"pliant-preflight", "pliant-worker"};
    for (int i = 0; i < 2; i++) {
        char path[300];
        snprintf(path, sizeof path, "%.250s/%s", fuzzed.programs, names[i]);
        FILE *script = fopen(path, "w");
        FUZZ_REQUIRE(script && fputs("#!/bin/sh\nkill -9 $$\n", script) >= 0 &&
                         fchmod(fileno(script), 0700) == 0,
                     "%s cannot be written", path);
        fclose(script);
    }
}

static void start_daemon(void)
{
    static char state[300];
    char *arguments[] = {"pliantd", "--listen", "127.0.0.1:0", "--log-level",
                         "error",   "--cores",  "1",           "--idle-timeout",
                         "20",      "--state",  state,         NULL};
    const char *build = getenv("PLIANT_BUILD"), *temporary = getenv("TMPDIR");
    setenv("PLIANT_BINDIR", build ? build : "build", 1);
    snprintf(state_path, sizeof state_path, "%s/pliant-fuzz-XXXXXX",
             temporary ? temporary : "/dev/shm");
    FUZZ_REQUIRE(mkdtemp(state_path), "%s cannot be made", state_path);
    snprintf(state, sizeof state, "%.250s/state", state_path);
    signal(SIGPIPE, SIG_IGN);
    FUZZ_REQUIRE(pl_options_parse(11, arguments, &fuzzed.options) == PL_OPTIONS_RUN, "options");
    pl_logf_level(fuzzed.options.level);
    fuzzed.state_fd = fuzzed.stop_fd = -1;
    pl_daemon *d = &fuzzed;
    FUZZ_REQUIRE(pl_state_open(d->options.state, d->state, &d->state_fd) &&
                     pl_state_lock(d->state, d->state_fd) >= 0 && start_parts(d) && announce(d),
                 "the daemon does not start");
    atexit(end_daemon);
    int fd = openat(fuzzed.state_fd, "token", O_RDONLY | O_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && read(fd, token, sizeof token - 1) > 0, "no token");
    token[strcspn(token, "\n")] = 0;
    close(fd);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    start_daemon();
    run_session();
    disarm(state_path);
    return 0;
}

/* A request may have removed the session; the next input finds another. */
static void mend_session(void)
{
    pl_session *session = pl_sessions_find_any(fuzzed.sessions, session_id);
    if (session) {
        pl_session_release(session);
        return;
    }
    pl_program_folder(fuzzed.programs, sizeof fuzzed.programs);
    run_session();
    snprintf(fuzzed.programs, sizeof fuzzed.programs, "%.200s/programs", state_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_part parts[FUZZ_PARTS_MAX];
    size_t count = fuzz_parts(data, size, parts);
    if (count == 0)
        return 0;
    exchange e = {.fd = connect_to_daemon()};
    bool heads = false;
    for (size_t i = 0; i < count; i++) {
        heads |= memmem(parts[i].bytes, parts[i].size, "HEAD", 4) != NULL;
        send_part(&e, &parts[i]);
    }
    finish_exchange(&e, heads);
    free(e.reply);
    mend_session();
    return 0;
}

static size_t mend(uint8_t op, uint8_t *bytes, size_t size, size_t room)
{
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return fuzz_mutate_parts(data, size, max_size, seed, OP_COUNT, mend);
}
