#include "server/base/prepared.h"

#include "protocol/log/start_message.h"
#include "server/base/clock.h"
#include "server/base/logger.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    AGAIN_MS = 10000, /* a second start within this time prepares a process */
    IDLE_MS = 30000,  /* it ends after this long without work */
    ANSWER_MS = 1000,
    BROKEN_MS = 60000, /* normal starts for this long after one did not answer */
    SHOWN = 600        /* room for the arguments of its children, as `ps` shows them */
};

typedef struct place {
    char *owner;       /* NULL: nobody's yet */
    int64_t last_ms;   /* its last start */
    int64_t broken_ms; /* normal starts until then */
    pl_child child;    /* pidfd -1: none */
    int channel;       /* to it */
} place;

struct pl_prepared {
    pthread_mutex_t mutex;
    pl_tickers *tickers;
    pl_ticker ticker;
    _Atomic int64_t *started;
    int count;
    place places[];
};

/* It holds nothing, so no cleanup is needed. */
static void end(place *at)
{
    if (at->child.pidfd >= 0) {
        pl_child_kill(&at->child);
        close(at->channel);
        at->channel = -1;
    }
}

/* End the idle ones. One that is being asked is left to the next tick. */
static void sweep(pl_ticker *ticker, int64_t now_ms)
{
    pl_prepared *p = (pl_prepared *)((char *)ticker - offsetof(pl_prepared, ticker));
    if (pthread_mutex_trylock(&p->mutex) != 0) {
        return;
    }
    for (int i = 0; i < p->count; i++) {
        if (now_ms - p->places[i].last_ms > IDLE_MS) {
            end(&p->places[i]);
        }
    }
    pthread_mutex_unlock(&p->mutex);
}

pl_prepared *pl_prepared_create(int owners, pl_tickers *tickers, _Atomic int64_t *started)
{
    pl_prepared *p = calloc(1, sizeof *p + (size_t)owners * sizeof *p->places);
    if (!p) {
        return NULL;
    }
    pthread_mutex_init(&p->mutex, NULL);
    p->started = started;
    p->count = owners;
    for (int i = 0; i < owners; i++) {
        p->places[i].child.pidfd = p->places[i].channel = -1;
    }
    p->ticker.tick = sweep;
    p->tickers = tickers;
    pl_tickers_enlist(tickers, &p->ticker);
    return p;
}

void pl_prepared_destroy(pl_prepared *p)
{
    if (!p) {
        return;
    }
    pl_tickers_delist(p->tickers, &p->ticker);
    for (int i = 0; i < p->count; i++) {
        end(&p->places[i]);
        free(p->places[i].owner);
    }
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

static place *find(pl_prepared *p, const char *owner)
{
    for (int i = 0; i < p->count; i++) {
        if (p->places[i].owner && strcmp(p->places[i].owner, owner) == 0) {
            return &p->places[i];
        }
    }
    return NULL;
}

/* Give the least recently used place to the owner. NULL: out of memory, or there are no places. */
static place *take_place(pl_prepared *p, const char *owner)
{
    place *oldest = p->count > 0 ? p->places : NULL;
    for (int i = 1; i < p->count; i++) {
        if (p->places[i].last_ms < oldest->last_ms) {
            oldest = &p->places[i];
        }
    }
    char *name = oldest ? strdup(owner) : NULL;
    if (!name) {
        return NULL;
    }
    end(oldest);
    free(oldest->owner);
    *oldest = (place){.owner = name, .child = {-1, -1}, .channel = -1};
    return oldest;
}

static void prepare(place *at, const char *program)
{
    char room[SHOWN];
    memset(room, '-', sizeof room - 1);
    room[sizeof room - 1] = 0;
    char *argv[] = {(char *)program, (char *)"--prepared", room, NULL};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return;
    }
    int error = pl_spawn_bound(argv, pair[1], STDERR_FILENO, "/", &at->child);
    close(pair[1]);
    at->channel = pair[0];
    if (error) {
        close(pair[0]);
        at->child.pidfd = at->channel = -1;
    }
}

void pl_prepared_expect(pl_prepared *p, const char *program, const char *owner)
{
    int64_t now = pl_monotonic_ms();
    pthread_mutex_lock(&p->mutex);
    place *at = find(p, owner);
    bool often = at && now - at->last_ms < AGAIN_MS;
    at = at ? at : take_place(p, owner);
    if (at) {
        at->last_ms = now;
    }
    if (often && at->child.pidfd < 0 && now >= at->broken_ms) {
        prepare(at, program);
    }
    pthread_mutex_unlock(&p->mutex);
}

/* 0, or an errno. */
static int ask(place *at, char *const argv[], int out_fd, int err_fd, const char *directory,
               pl_child *child)
{
    pl_start_message m = {.out_fd = out_fd, .err_fd = err_fd, .directory = (char *)directory};
    while (argv[m.count] && m.count < PL_START_ARGUMENTS_MAX) {
        m.arguments[m.count] = argv[m.count];
        m.count++;
    }
    if (argv[m.count]) {
        return E2BIG;
    }
    pl_child started = {-1, -1};
    if (sched_getaffinity(0, sizeof m.cpus, &m.cpus) != 0 ||
        !pl_start_message_send(at->channel, &m) ||
        !pl_start_answer_receive(at->channel, ANSWER_MS, &started.pid, &started.pidfd)) {
        return errno;
    }
    if (started.pidfd < 0) {
        return started.pid < 0 ? -started.pid : EIO;
    }
    *child = started;
    return 0;
}

int pl_prepared_start(pl_prepared *p, const char *owner, char *const argv[], int out_fd, int err_fd,
                      const char *directory, pl_child *child)
{
    pthread_mutex_lock(&p->mutex);
    place *at = find(p, owner);
    bool asked = at && at->child.pidfd >= 0;
    int error = asked ? ask(at, argv, out_fd, err_fd, directory, child) : ENOENT;
    if (asked && error) {
        /* If it did start one, that process finds the lock held, or holds it: ending.c handles both. */
        pl_logf(PL_LEVEL_WARN, "a prepared %s did not start another: %s", argv[0], strerror(error));
        at->broken_ms = pl_monotonic_ms() + BROKEN_MS;
        end(at);
    }
    pthread_mutex_unlock(&p->mutex);
    if (!error) {
        atomic_fetch_add(p->started, 1);
    }
    return error ? pl_spawn(argv, out_fd, err_fd, directory, child) : 0;
}
