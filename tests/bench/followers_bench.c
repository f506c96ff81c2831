/* A thousand followers of one live session of 1,000 vertices at 60 frames a second, latest first: the age of the newest
 * frame when it has arrived whole, the number of frames each follower gets, the daemon's processor time, and how often
 * a frame was made. Then ten thousand connections, two thousand of them streams.
 *
 * Instead of a worker, a process writes frames to the session's log by the clock, each with the time at which it was
 * written; so the rate is exact, and daemon and clients have the machine to themselves. */
#include "protocol/log/log.h"
#include "protocol/log/session_dir.h"
#include "tests/bench/bench.h"
#include "tests/support/long_form.h"
#include "tests/support/session_client.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FOLLOWERS = 1000, CONNECTIONS = 10000, STREAMS = 2000, RATE = 60, VERTICES = 1000 };
enum { BLOCK = 256 << 10, HEAD = PL_RECORD_HEADER + PL_FRAME_HEADER, BINS = 20000 };

/* ---- the session ---- */

static void sleep_until(double clock)
{
    struct timespec t = {(time_t)clock, (long)(1e9 * (clock - floor(clock)))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Write a moving cube of points to the log, RATE times a second, until killed. */
static _Noreturn void feed(const char *directory, int ready_fd)
{
    static float values[VERTICES][3];
    pl_log_writer *log;
    int lock_fd, dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dir_fd < 0 || pl_session_lock(dir_fd, true, &lock_fd) != PL_OK ||
        pl_log_writer_open(dir_fd, 2, PL_LOG_CONTINUE, "{\"event\": \"attempt\"}", &log) != PL_OK ||
        write(ready_fd, "", 1) != 1)
        _exit(1);
    double begin = daemon_fixture_clock();
    for (int64_t i = 0;; i++) {
        int64_t frame = pl_log_writer_next(log);
        char metrics[64];
        for (int v = 0; v < VERTICES; v++)
            for (int c = 0; c < 3; c++)
                values[v][c] = (float)sin(0.01 * (double)(frame + 7 * v + 3 * c));
        int n = snprintf(metrics, sizeof metrics, "{\"seq\": %lld, \"frame\": %lld}",
                         (long long)frame, (long long)frame);
        sleep_until(begin + (double)i / RATE);
        pl_frame_header header = {.dtype = PL_DTYPE_F32,
                                  .fields = PL_FIELD_POSITION,
                                  .count = VERTICES,
                                  .time = daemon_fixture_clock(),
                                  .step = (uint64_t)frame};
        if (pl_log_append(log, frame, &header, values, metrics, (size_t)n) != PL_OK)
            _exit(1);
    }
}

/* A session whose worker has made way for the feeder, and a daemon that has taken it over. */
static pid_t make_session(daemon_fixture *d, char id[33])
{
    char directory[400], byte;
    int ready[2];
    session_post(d,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.001, \"steps\": 100000000},"
                 " \"solver\": {\"iterations\": 1, \"tolerance\": 0}, \"bodies\": [{\"mesh\":"
                 " {\"box\": {\"size\": [1, 1, 1], \"cells\": [9, 9, 9]}}}]}",
                 id);
    session_await_frame(d, id, 1);
    snprintf(directory, sizeof directory, "%s", session_path(d, id, "."));
    daemon_fixture_end(d, SIGKILL);
    pid_t worker = daemon_fixture_worker(id);
    int dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_gt(worker, 0);
    kill(worker, SIGKILL);
    while (pl_session_locked(dir_fd))
        daemon_fixture_nap();
    close(dir_fd);
    ck_assert_int_eq(pipe(ready), 0);
    pid_t feeder = fork();
    ck_assert_int_ge(feeder, 0);
    if (feeder == 0)
        feed(directory, ready[1]);
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    daemon_fixture_resume(d);
    session_await(d, id, "running");
    return feeder;
}

/* ---- a reader that costs little ---- */

/* Of a chunked body only the heads of its records are kept. */
typedef struct reader {
    int fd;
    enum { IN_HEAD, IN_SIZE, IN_CHUNK, IN_TAIL } where;
    uint64_t left; /* in the chunk */
    int matched;   /* of the blank line that ends the head, or of a chunk's tail */
    unsigned char head[HEAD];
    size_t have;    /* of a record's head */
    uint64_t skip;  /* of the record, after its head */
    double time;    /* of the frame that is being read; 0: no frame */
    int64_t frames; /* read whole while it counted */
} reader;

/* Lifetime: one measurement. */
typedef struct crowd {
    reader *readers;
    int count, epoll;
    bool counting;
    int64_t frames, bytes;
    double rest;         /* between two looks at the readers, s */
    uint32_t ages[BINS]; /* tenths of a millisecond */
} crowd;

static void frame_whole(crowd *c, reader *r)
{
    if (r->time > 0 && c->counting) {
        double age = 1e4 * (daemon_fixture_clock() - r->time);
        c->ages[age < BINS ? (int)age : BINS - 1]++;
        c->frames++;
        r->frames++;
    }
    r->time = 0;
    r->have = 0;
}

static void head_whole(reader *r)
{
    pl_record record;
    pl_frame_header h;
    ck_assert_int_eq(pl_record_decode(r->head, PL_RECORD_HEADER, &record), PL_RECORD_GOOD);
    ck_assert_int_ne(record.type, PL_RECORD_END);
    r->skip = pl_record_size(record.length);
    if (record.type == PL_RECORD_FRAME &&
        pl_frame_header_decode(r->head + PL_RECORD_HEADER, record.length, &h))
        r->time = h.time;
}

/* Bytes of the body. A record shorter than a frame's head is kept until the next begins. */
static void take_body(crowd *c, reader *r, const unsigned char *at, size_t n)
{
    while (n > 0) {
        if (r->have < PL_RECORD_HEADER || (r->have < HEAD && r->skip > r->have)) {
            uint64_t wanted = r->have < PL_RECORD_HEADER ? PL_RECORD_HEADER
                              : r->skip < HEAD           ? r->skip
                                                         : HEAD;
            size_t k = wanted - r->have < n ? (size_t)(wanted - r->have) : n;
            memcpy(r->head + r->have, at, k);
            r->have += k;
            at += k;
            n -= k;
            if (r->have == PL_RECORD_HEADER || r->have == HEAD)
                head_whole(r);
            if (r->have >= PL_RECORD_HEADER && r->skip == r->have)
                frame_whole(c, r);
            else if (r->have == HEAD)
                r->skip -= HEAD;
        } else {
            size_t k = r->skip < n ? (size_t)r->skip : n;
            r->skip -= k;
            at += k;
            n -= k;
            if (r->skip == 0)
                frame_whole(c, r);
        }
    }
}

static void take(crowd *c, reader *r, const unsigned char *at, size_t n)
{
    static const char blank[] = "\r\n\r\n";
    for (const unsigned char *end = at + n; at < end;) {
        if (r->where == IN_CHUNK) {
            size_t k = r->left < (uint64_t)(end - at) ? (size_t)r->left : (size_t)(end - at);
            take_body(c, r, at, k);
            at += k;
            r->left -= k;
            if (r->left == 0) {
                r->where = IN_TAIL;
                r->matched = 0;
            }
            continue;
        }
        int byte = *at++;
        if (r->where == IN_HEAD) {
            r->matched = byte == blank[r->matched] ? r->matched + 1 : byte == '\r';
            r->where = r->matched == 4 ? IN_SIZE : IN_HEAD;
        } else if (r->where == IN_TAIL) {
            r->where = byte == '\n' ? IN_SIZE : IN_TAIL;
        } else if (byte == '\n') {
            r->where = IN_CHUNK;
            ck_assert_uint_gt(r->left, 0);
        } else if (byte != '\r') {
            r->left = 16 * r->left + (uint64_t)(byte <= '9' ? byte - '0' : (byte | 32) - 'a' + 10);
        }
    }
}

/* Read everything that arrives for so many seconds. */
static void attend(crowd *c, double seconds)
{
    static unsigned char block[BLOCK];
    struct epoll_event events[256];
    for (double end = daemon_fixture_clock() + seconds; daemon_fixture_clock() < end;) {
        int n = epoll_wait(c->epoll, events, 256, c->rest > 0 ? 0 : 50);
        if (c->rest > 0 && n < 256)
            sleep_until(daemon_fixture_clock() + c->rest);
        for (int i = 0; i < n; i++) {
            reader *r = &c->readers[events[i].data.u32];
            ssize_t got = recv(r->fd, block, sizeof block, MSG_DONTWAIT);
            ck_assert_msg(got > 0 || (got < 0 && errno == EAGAIN), "follower %u was cut off",
                          events[i].data.u32);
            if (got > 0) {
                c->bytes += got;
                take(c, r, block, (size_t)got);
            }
        }
    }
}

static int connect_to(const daemon_fixture *d)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)d->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_msg(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0,
                  "connect: %s", strerror(errno));
    return fd;
}

static void ask(const daemon_fixture *d, int fd, const char *target)
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n",
                     target, d->port, d->token);
    ck_assert_int_eq(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
}

static void gather_crowd(const daemon_fixture *d, const char *target, int count, crowd *c)
{
    *c = (crowd){.readers = calloc((size_t)count, sizeof *c->readers),
                 .count = count,
                 .epoll = epoll_create1(EPOLL_CLOEXEC)};
    for (int i = 0; i < count; i++) {
        c->readers[i].fd = connect_to(d);
        ask(d, c->readers[i].fd, target);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        ck_assert_int_eq(epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->readers[i].fd, &event), 0);
        if (i % 50 == 49)
            attend(c, 0.001);
    }
}

static void dismiss(crowd *c)
{
    for (int i = 0; i < c->count; i++)
        close(c->readers[i].fd);
    close(c->epoll);
    free(c->readers);
}

/* ---- followers ---- */

static double counted(const daemon_fixture *d, const char *name)
{
    char wanted[80];
    http_reply *r = http_get(d, "/metrics");
    snprintf(wanted, sizeof wanted, "\npliant_%s ", name);
    const char *at = strstr(r->body, wanted);
    double value = at ? atof(at + strlen(wanted)) : -1;
    http_reply_free(r);
    return value;
}

static double age_quantile(const crowd *c, double q)
{
    double seen = 0;
    int bin = 0;
    while (bin < BINS - 1 && (seen += c->ages[bin]) < q * (double)c->frames)
        bin++;
    return 0.1 * (bin + 1);
}

static void measure_followers(const daemon_fixture *d, const char *id, const char *form,
                              double seconds)
{
    static crowd c;
    char target[200];
    snprintf(target, sizeof target, "/v1/sessions/%s/frames?mode=latest&follow=1%s", id, form);
    gather_crowd(d, target, FOLLOWERS, &c);
    attend(&c, 2);
    double made = counted(d, "frames_encoded_total"), cpu = bench_cpu_seconds(d->pid);
    double self = bench_cpu_seconds(getpid()), begin = daemon_fixture_clock();
    c.counting = true;
    c.bytes = 0;
    attend(&c, seconds);
    double took = daemon_fixture_clock() - begin;
    cpu = bench_cpu_seconds(d->pid) - cpu;
    self = bench_cpu_seconds(getpid()) - self;
    made = counted(d, "frames_encoded_total") - made;
    int64_t least = INT64_MAX;
    for (int i = 0; i < c.count; i++)
        least = c.readers[i].frames < least ? c.readers[i].frames : least;
    printf("  %-28s  %5.1f  %5.1f   %5.1f  %5.1f  %6.1f    %5.2f  %5.0f   %5.2f   %5.2f   %5.2f\n",
           *form ? form + 1 : "as stored", (double)c.frames / took / FOLLOWERS,
           (double)least / took, age_quantile(&c, 0.5), age_quantile(&c, 0.99), age_quantile(&c, 1),
           cpu / took, 1e-6 * (double)daemon_fixture_memory(d), made / (RATE * took), self / took,
           1e-9 * (double)c.bytes / took);
    fflush(stdout);
    dismiss(&c);
}

/* ---- connections ---- */

static void measure_connections(const daemon_fixture *d, const char *id)
{
    static crowd c;
    char target[200], answer[4096];
    static int idle[CONNECTIONS - STREAMS];
    double before = (double)daemon_fixture_memory(d);
    snprintf(target, sizeof target,
             "/v1/sessions/%s/frames?mode=latest&follow=1&max_fps=2&dtype=u16", id);
    gather_crowd(d, target, STREAMS, &c);
    for (int i = 0; i < CONNECTIONS - STREAMS; i++) {
        idle[i] = connect_to(d);
        ask(d, idle[i], "/v1/version");
        ck_assert_int_gt(recv(idle[i], answer, sizeof answer, 0), 0);
        if (i % 100 == 99)
            attend(&c, 0.001);
    }
    attend(&c, 3);
    printf("  %d connections, %d of them streams: %.0f MB (%.0f before them), %.0f open\n",
           CONNECTIONS, STREAMS, 1e-6 * (double)daemon_fixture_memory(d), 1e-6 * before,
           counted(d, "connections"));
    for (int i = 0; i < CONNECTIONS - STREAMS; i++)
        close(idle[i]);
    dismiss(&c);
}

/* ---- the machine's requirements ---- */

/* Read everything that arrives on so many connections to the port, until killed. */
static _Noreturn void drain(int port)
{
    static unsigned char block[BLOCK];
    struct epoll_event events[256];
    daemon_fixture to = {.port = port};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < FOLLOWERS; i++) {
        int fd = connect_to(&to);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    }
    for (;;) {
        int n = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < n; i++)
            if (recv(events[i].data.fd, block, sizeof block, MSG_DONTWAIT) == 0)
                _exit(0);
    }
}

/* The floor: one send() a frame and follower, nothing else. On loopback the receiver's half of TCP is
 * done in the sender's time. */
static void measure_floor(const char *form, size_t bytes, double seconds)
{
    static unsigned char frame[BLOCK];
    static int to[FOLLOWERS];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), sent = 0;
    ck_assert_int_eq(bind(listening, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listening, FOLLOWERS), 0);
    ck_assert_int_eq(getsockname(listening, (struct sockaddr *)&address, &size), 0);
    pid_t client = fork();
    ck_assert_int_ge(client, 0);
    if (client == 0)
        drain(ntohs(address.sin_port));
    for (int i = 0; i < FOLLOWERS; i++)
        ck_assert_int_ge(to[i] = accept4(listening, NULL, NULL, SOCK_CLOEXEC), 0);
    double cpu = bench_cpu_seconds(getpid()), begin = daemon_fixture_clock();
    int frames = (int)(seconds * RATE);
    for (int k = 0; k < frames; k++) {
        sleep_until(begin + (double)k / RATE);
        for (int i = 0; i < FOLLOWERS; i++)
            sent += send(to[i], frame, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes;
    }
    double took = daemon_fixture_clock() - begin;
    printf("  %-28s  %5.1f                                %5.2f\n", form, sent / took / FOLLOWERS,
           (bench_cpu_seconds(getpid()) - cpu) / took);
    kill(client, SIGKILL);
    waitpid(client, NULL, 0);
    for (int i = 0; i < FOLLOWERS; i++)
        close(to[i]);
    close(listening);
}

/* ---- a worker ---- */

/* Of a session that runs as fast as it can: frames a second, and its processor time for one. */
static void watch_worker(const daemon_fixture *d, const char *id, double seconds, crowd *followers,
                         double *rate, double *cpu_ms)
{
    pid_t worker = daemon_fixture_worker(id);
    json_t *before = session_show(d, id);
    double cpu = bench_cpu_seconds(worker), begin = daemon_fixture_clock();
    if (followers)
        attend(followers, seconds);
    else
        sleep_until(begin + seconds);
    json_t *after = session_show(d, id);
    double took = daemon_fixture_clock() - begin;
    double frames =
        json_number_value(json_object_get(json_object_get(after, "progress"), "frame")) -
        json_number_value(json_object_get(json_object_get(before, "progress"), "frame"));
    *rate = frames / took;
    *cpu_ms = 1e3 * (bench_cpu_seconds(worker) - cpu) / frames;
    json_decref(before);
    json_decref(after);
}

/* A worker with so many followers. On real systems these are on other machines; here they read new data five times a
 * second, in the time that daemon and worker leave on the cores. They run in a thread, because only root could switch
 * back from its scheduling policy. */
typedef struct followed {
    const daemon_fixture *daemon;
    const char *id;
    double seconds;
    crowd *followers;
    double rate, cpu_ms, each;
} followed;

static void *watch_followed(void *context)
{
    struct sched_param none = {0};
    followed *f = context;
    crowd *c = f->followers;
    c->rest = 0.2;
    ck_assert_int_eq(sched_setscheduler(0, SCHED_IDLE, &none), 0);
    attend(c, 1);
    c->counting = true;
    double begin = daemon_fixture_clock();
    watch_worker(f->daemon, f->id, f->seconds, c, &f->rate, &f->cpu_ms);
    f->each = (double)c->frames / (daemon_fixture_clock() - begin) / c->count;
    return NULL;
}

static void measure_worker(const daemon_fixture *d, const char *pace, const char *time,
                           double seconds)
{
    static const int counts[] = {100, 1000};
    char id[33], target[200], scene[400];
    double alone, cpu_alone;
    pthread_t thread;
    static crowd c;
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {%s},"
             " \"solver\": {\"iterations\": 12, \"tolerance\": 0}, \"resources\": {\"cores\": 1},"
             " \"output\": {\"retention\": {\"last\": 1000}}, \"bodies\": [{\"mesh\":"
             " {\"box\": {\"size\": [1, 1, 1], \"cells\": [9, 9, 9]}}}]}",
             time);
    session_post(d, scene, id);
    session_await_frame(d, id, 60);
    printf("a worker of one core, 1000 vertices, %s, each follower u16 at most 60 frames/s\n",
           pace);
    puts(
        "  followers   frames/s   slower by   its processor time, ms a frame   frames/s each gets");
    for (int i = 0; i < 2; i++) {
        watch_worker(d, id, seconds, NULL, &alone, &cpu_alone);
        snprintf(target, sizeof target,
                 "/v1/sessions/%s/frames?mode=latest&follow=1&dtype=u16&max_fps=60", id);
        gather_crowd(d, target, counts[i], &c);
        followed f = {.daemon = d, .id = id, .seconds = seconds, .followers = &c};
        ck_assert_int_eq(pthread_create(&thread, NULL, watch_followed, &f), 0);
        pthread_join(thread, NULL);
        dismiss(&c);
        printf(
            "          0     %6.1f                     %6.2f\n  %9d     %6.1f     %5.1f %%         "
            "%6.2f                            %5.1f\n",
            alone, cpu_alone, counts[i], f.rate, 100 * (1 - f.rate / alone), f.cpu_ms, f.each);
        fflush(stdout);
    }
    snprintf(target, sizeof target, "/v1/sessions/%s", id);
    http_reply_free(http_call(d, "DELETE", target, NULL, NULL, 0));
    session_await_gone(d, id);
}

static void measure(void)
{
    static const char *const options[] = {"--max-connections", "12000", "--cores", "1", NULL};
    daemon_fixture d;
    char id[33];
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    daemon_fixture_start(&d, options);
    double seconds = is_long_form() ? 30 : 5;
    measure_worker(&d, "live at 60 frames/s",
                   "\"step\": 0.016666666666666666, \"pace\": \"realtime\"", seconds);
    measure_worker(&d, "as fast as it can", "\"step\": 0.001, \"steps\": 100000000", seconds);
    pid_t feeder = make_session(&d, id);
    printf("\n%d followers of one session: %d vertices, %d frames a second, latest\n", FOLLOWERS,
           VERTICES, RATE);
    puts("                                 frames/s each   age of a frame, ms      daemon's      "
         "made a  client");
    puts("  form                            mean  least     p50    p99    most    cores     MB   "
         "frame   cores    GB/s");
    measure_followers(&d, id, "", seconds);
    measure_followers(&d, id, "&dtype=u16", seconds);
    measure_followers(&d, id, "&dtype=u16&vertices=surface", seconds);
    measure_floor("bare send() of as stored", HEAD + 12 * VERTICES, seconds);
    measure_floor("bare send() of u16", HEAD + 48 + 6 * VERTICES, seconds);
    measure_connections(&d, id);
    kill(feeder, SIGKILL);
    waitpid(feeder, NULL, 0);
    daemon_fixture_stop(&d);
}

int main(void)
{
    return bench_run("followers", measure);
}
