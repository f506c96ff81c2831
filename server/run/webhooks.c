#include "server/run/webhooks.h"

#include "engine/deadline.h"
#include "protocol/text/json.h"
#include "protocol/log/session_dir.h"
#include "protocol/text/sha256.h"
#include "server/base/daemon.h"
#include "server/tenants/auth.h"
#include "server/base/logger.h"
#include "server/sessions/directory_record.h"
#include "server/http/waiter.h"
#include "server/run/webhook_post.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* At most two of one owner are being sent, so that an owner with slow addresses delays nobody else. */
enum { THREADS = 4, OWNER_MAX = 2, WAITING_MAX = 10000, KEY_HEX = 64 };

typedef struct job {
    struct job *next;
    pl_session *session; /* a reference */
    int tries;
    int64_t due_ms; /* on pl_monotonic_ms */
    bool running;
} job;

struct pl_webhooks {
    const pl_options *options;
    pl_sessions *sessions;
    char key[KEY_HEX + 1];
    pthread_t threads[THREADS];
    int thread_count;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t changed;
    job *jobs;
    int count;
    _Atomic bool stopping;
};

/* ---- keys ---- */

static bool make_key(int state_fd, char key[KEY_HEX + 1])
{
    return pl_random_id(key) == 0 && pl_random_id(key + KEY_HEX / 2) == 0 &&
           pl_file_replace(state_fd, "webhook-key", key, KEY_HEX, true) == PL_OK;
}

static bool load_key(int state_fd, char key[KEY_HEX + 1])
{
    char *text;
    size_t size;
    if (pl_file_read(state_fd, "webhook-key", 4096, &text, &size) != PL_OK) {
        return errno == ENOENT && make_key(state_fd, key);
    }
    bool good = size == KEY_HEX;
    if (good) {
        memcpy(key, text, KEY_HEX);
        key[KEY_HEX] = 0;
    } else {
        errno = EINVAL;
    }
    free(text);
    return good;
}

/* One owner's secret reveals nothing about another's. */
static bool owner_secret(const pl_webhooks *w, const char *owner, char secret[65])
{
    return pl_hmac_sha256_hex(w->key, KEY_HEX, owner, strlen(owner), secret);
}

void pl_handle_webhook_secret(pl_request *r)
{
    char secret[65];
    pl_json_writer w = {0};
    if (!owner_secret(pl_request_daemon(r)->webhooks, pl_request_owner(r), secret)) {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
        return;
    }
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "secret", secret);
    pl_json_end_object(&w);
    pl_reply_json(r, 200, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}

/* ---- one delivery ---- */

/* {"event": "session.ended", "delivery": id, "session": {...}}; malloc'ed. */
static char *build_body(pl_webhooks *w, pl_session *s)
{
    char *session = pl_sessions_encode(w->sessions, s, NULL);
    pl_json_writer body = {0};
    pl_json_begin_object(&body);
    pl_json_set_string(&body, "event", "session.ended");
    pl_json_set_string(&body, "delivery", s->id);
    pl_json_set_raw(&body, "session", session ? session : "null");
    pl_json_end_object(&body);
    free(session);
    return pl_json_finish(&body, NULL);
}

static bool sign(const pl_webhooks *w, const pl_session *s, const char *body, char header[128])
{
    char secret[65], hex[65], *signed_text = NULL;
    long long now = (long long)time(NULL);
    int n = asprintf(&signed_text, "%lld.%s", now, body);
    if (n < 0) {
        return false;
    }
    bool good = owner_secret(w, s->owner, secret) &&
                pl_hmac_sha256_hex(secret, 64, signed_text, (size_t)n, hex);
    free(signed_text);
    if (!good) {
        return false;
    }
    snprintf(header, 128, "Pliant-Signature: t=%lld,v1=%s", now, hex);
    return true;
}

static int deliver(pl_webhooks *w, pl_session *s, const char *url, char why[160])
{
    char signature[128], delivery[64];
    char *body = build_body(w, s);
    int status = 0;
    snprintf(why, 160, "out of memory");
    snprintf(delivery, sizeof delivery, "Pliant-Delivery: %s", s->id);
    if (body && sign(w, s, body, signature)) {
        pl_post post = {.options = w->options,
                        .url = url,
                        .body = body,
                        .headers = {"Content-Type: application/json", signature, delivery, NULL},
                        .stopping = &w->stopping};
        status = pl_post_send(&post, why);
    }
    free(body);
    return status;
}

/* Write the outcome to session.json, from which the database may be rebuilt. */
static void write_down(const pl_webhooks *w, pl_session *s)
{
    pthread_mutex_lock(&s->lifecycle);
    pl_row row = pl_session_row(w->sessions, s);
    int dir_fd = row.id[0] ? open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir_fd >= 0) { /* otherwise it was deleted meanwhile */
        if (pl_identity_write(dir_fd, &row, true) != PL_OK) {
            pl_logf(PL_LEVEL_WARN, "session %s: session.json: %s", s->id, strerror(errno));
        }
        close(dir_fd);
    }
    pl_row_clear(&row);
    pthread_mutex_unlock(&s->lifecycle);
}

/* True if the job is finished, successfully or not. */
static bool attempt(pl_webhooks *w, job *j)
{
    const pl_options *o = w->options;
    char why[160], status_text[200];
    char *url = pl_sessions_webhook(w->sessions, j->session);
    if (!url) {
        return true; /* deleted, or withdrawn */
    }
    int status = deliver(w, j->session, url, why);
    free(url);
    if (atomic_load(&w->stopping)) {
        return false;
    }
    bool good = status >= 200 && status < 300;
    bool over = good || status == 410 || j->tries >= o->webhook_delay_count;
    snprintf(status_text, sizeof status_text, "%s: %s",
             good   ? "delivered"
             : over ? "failed"
                    : "waiting",
             why);
    if (!good) {
        pl_logf(over ? PL_LEVEL_WARN : PL_LEVEL_DEBUG, "session %s: its webhook: %s",
                j->session->id, why);
    }
    pl_sessions_set_webhook(w->sessions, j->session, status_text);
    if (over) {
        write_down(w, j->session);
    }
    if (!over) {
        j->due_ms = pl_monotonic_ms() + o->webhook_delays_ms[j->tries];
    }
    j->tries++;
    return over;
}

/* ---- the threads ---- */

static int running_of(const pl_webhooks *w, const char *owner)
{
    int count = 0;
    for (const job *j = w->jobs; j; j = j->next) {
        count += j->running && strcmp(j->session->owner, owner) == 0;
    }
    return count;
}

/* The first job that is due and whose owner may send, or NULL with the time of the next look. */
static job *take(pl_webhooks *w, int64_t *next_ms)
{
    int64_t now = pl_monotonic_ms();
    *next_ms = INT64_MAX;
    for (job *j = w->jobs; j; j = j->next) {
        if (j->running) {
            continue;
        }
        if (j->due_ms > now) {
            *next_ms = j->due_ms < *next_ms ? j->due_ms : *next_ms;
        } else if (running_of(w, j->session->owner) < OWNER_MAX) {
            j->running = true;
            return j;
        }
    }
    return NULL;
}

static void remove_job(pl_webhooks *w, job *gone)
{
    job **link = &w->jobs;
    while (*link != gone) {
        link = &(*link)->next;
    }
    *link = gone->next;
    w->count--;
}

static void sleep_until(pl_webhooks *w, int64_t due_ms)
{
    if (due_ms == INT64_MAX) {
        pthread_cond_wait(&w->changed, &w->mutex);
        return;
    }
    pl_condition_wait_until(&w->changed, &w->mutex, 1000 * due_ms);
}

static void *run(void *context)
{
    pl_webhooks *w = context;
    pthread_mutex_lock(&w->mutex);
    while (!atomic_load(&w->stopping)) {
        int64_t next_ms;
        job *j = take(w, &next_ms);
        if (!j) {
            sleep_until(w, next_ms);
            continue;
        }
        pthread_mutex_unlock(&w->mutex);
        bool over = attempt(w, j);
        pthread_mutex_lock(&w->mutex);
        j->running = false;
        if (over) {
            remove_job(w, j);
            pl_session_release(j->session);
            free(j);
        }
        pthread_cond_broadcast(&w->changed); /* its owner may send again */
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

static bool is_known(const pl_webhooks *w, const pl_session *s)
{
    for (const job *j = w->jobs; j; j = j->next) {
        if (j->session == s) {
            return true;
        }
    }
    return false;
}

void pl_webhooks_add(pl_webhooks *w, pl_session *s)
{
    char *url = w ? pl_sessions_webhook(w->sessions, s) : NULL;
    if (!url) {
        return;
    }
    free(url);
    job *fresh = calloc(1, sizeof *fresh);
    pthread_mutex_lock(&w->mutex);
    bool known = is_known(w, s), room = fresh && w->count < WAITING_MAX;
    if (!known && room) {
        pl_session_acquire(s);
        *fresh = (job){.session = s, .due_ms = pl_monotonic_ms()};
        job **last = &w->jobs;
        while (*last) {
            last = &(*last)->next;
        }
        *last = fresh;
        w->count++;
        fresh = NULL;
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->mutex);
    free(fresh);
    if (!known && !room) {
        pl_sessions_set_webhook(w->sessions, s, "failed: too many webhooks wait for delivery");
    }
}

/* ---- up and down ---- */

pl_webhooks *pl_webhooks_create(int state_fd, const pl_options *options, pl_sessions *sessions)
{
    pl_webhooks *w = calloc(1, sizeof *w);
    if (!w || !load_key(state_fd, w->key) || !pl_post_begin() || !pl_condition_init(&w->changed)) {
        pl_logf(PL_LEVEL_ERROR, "STATE/webhook-key: %s", strerror(errno));
        free(w);
        return NULL;
    }
    w->options = options;
    w->sessions = sessions;
    pthread_mutex_init(&w->mutex, NULL);
    while (w->thread_count < THREADS &&
           pthread_create(&w->threads[w->thread_count], NULL, run, w) == 0) {
        pthread_setname_np(w->threads[w->thread_count++], "webhooks");
    }
    return w;
}

bool pl_webhooks_load(pl_webhooks *w)
{
    size_t count;
    pl_session **all = pl_sessions_all(w->sessions, &count);
    for (size_t i = 0; i < count; i++) {
        if (pl_state_terminal((pl_session_state)all[i]->state)) {
            pl_webhooks_add(w, all[i]);
        }
        pl_session_release(all[i]);
    }
    bool good = all;
    free(all);
    return good;
}

void pl_webhooks_destroy(pl_webhooks *w)
{
    if (!w) {
        return;
    }
    pthread_mutex_lock(&w->mutex);
    atomic_store(&w->stopping, true);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    for (int i = 0; i < w->thread_count; i++) {
        pthread_join(w->threads[i], NULL);
    }
    for (job *j = w->jobs, *next; j; j = next) {
        next = j->next;
        pl_session_release(j->session);
        free(j);
    }
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->mutex);
    pl_post_end();
    free(w);
}
