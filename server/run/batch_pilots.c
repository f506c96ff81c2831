#include "server/run/batch_pilots.h"

#include "server/base/clock.h"
#include "server/base/logger.h"
#include "server/sessions/batch_state.h"
#include "server/tenants/auth.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ABOUT "about" /* cores, memory, user and group */

enum { WORK_S = 180, ATTEMPTS = 3, AGAIN_MS = 10000 };

/* ---- up and down ---- */

static void load(pl_batch *b, const char *id)
{
    pl_batch_pilot *p = pl_pilot_open(b, id);
    if (!p) {
        return;
    }
    if (!pl_pilot_read_about(p)) { /* the daemon was killed while creating it */
        pl_pilot_remove(p);
        return;
    }
    p->tried = pl_batch_was_submitted(p->directory, p->job);
    p->after_ms = p->tried ? pl_monotonic_ms() : 0;
    pl_pilot_look(p);
    p->next = b->pilots;
    b->pilots = p;
}

void pl_pilots_load(pl_batch *b)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/" PL_PILOTS, b->setup.state);
    DIR *dir = opendir(path);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (strlen(d->d_name) == 32 && strspn(d->d_name, "0123456789abcdef") == 32) {
            load(b, d->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

void pl_pilots_free(pl_batch *b)
{
    for (pl_batch_pilot *p; (p = b->pilots);) {
        b->pilots = p->next;
        pl_pilot_release(p);
    }
}

/* ---- the job ---- */

static long minutes_of(const pl_batch *b)
{
    long most = pl_batch_system_number(b->system, PL_BATCH_MINUTES);
    long wanted = pl_batch_system_number(b->system, PL_BATCH_PILOT_MINUTES);
    return wanted < most ? wanted : most;
}

/* When it stops taking sessions: early enough for one to end before the batch system's signal, if there is time for
 * that. */
static long until_of(const pl_batch *b)
{
    long seconds = 60 * minutes_of(b), lead = pl_batch_system_number(b->system, PL_BATCH_LEAD);
    long left = seconds - (lead < seconds / 4 ? lead : seconds / 4);
    long last = left - pl_batch_system_number(b->system, PL_BATCH_PILOT_SECONDS);
    return last > left / 2 ? last : left / 2;
}

static void note_answer(pl_batch *b, pl_batch_pilot *p, const pl_batch_request *r, bool good)
{
    p->tried = p->tried || r->tried;
    p->after_ms = pl_monotonic_ms();
    memcpy(p->job, r->job, sizeof p->job);
    memcpy(p->error, r->error, sizeof p->error);
    if (good) {
        p->failures = 0;
        pl_logf(PL_LEVEL_INFO, "pilot %s is job %s of %s, for %zu sessions", p->id, p->job,
                pl_batch_system_name(b->system), p->entries);
    } else {
        p->due_ms = p->after_ms + pl_batch_backoff_ms(r, &p->failures);
        pl_logf(PL_LEVEL_WARN, "pilot %s: %s", p->id, r->error);
    }
}

static void submit(pl_batch *b, pl_batch_pilot *p)
{
    char program[PATH_MAX + 32], cores[24], memory[32], idle[24], until[24];
    const char *words[] = {program, "--pilot", p->directory, "--threads", cores, "--memory",
                           memory,  "--idle",  idle,         "--until",   until, NULL};
    snprintf(program, sizeof program, "%s/pliant-worker", b->setup.programs);
    snprintf(cores, sizeof cores, "%ld", p->cores);
    snprintf(memory, sizeof memory, "%lld", (long long)p->memory_mb << 20);
    snprintf(idle, sizeof idle, "%ld", pl_batch_system_number(b->system, PL_BATCH_PILOT_IDLE));
    snprintf(until, sizeof until, "%ld", until_of(b));
    pl_batch_request r = {.id = p->id,
                          .directory = p->directory,
                          .attempt = 1,
                          .cores = p->cores,
                          .memory_mb = (double)p->memory_mb,
                          .minutes = minutes_of(b),
                          .user = p->user,
                          .group = p->group,
                          .words = words};
    pl_batch_pilot_name(p->id, r.name);
    note_answer(b, p, &r, pl_batch_send(b, &r));
}

/* Its job is unknown: search for it, or submit. False: it has no job and is not needed. */
static bool find_job(pl_batch *b, pl_batch_pilot *p, int64_t now)
{
    if (now < p->due_ms || (!p->tried && p->entries == 0)) {
        return p->tried || p->entries > 0;
    }
    if (p->tried &&
        (pl_batch_being_submitted(p->directory) || !pl_batch_known(b, p->after_ms, now))) {
        return true;
    }
    const pl_batch_job *job = pl_batch_list_live(&b->jobs, p->id, NULL);
    if (job) {
        memcpy(p->job, job->id, sizeof p->job);
        pl_logf(PL_LEVEL_INFO, "pilot %s: its job %s was found", p->id, p->job);
    } else if (p->entries == 0) {
        return false;
    } else if (!atomic_load(b->setup.draining) && b->room > 0 && pl_batch_known(b, 0, now)) {
        b->room--;
        submit(b, p);
    }
    return true;
}

/* False: the pilot is finished. */
static bool follow_job(pl_batch *b, pl_batch_pilot *p, int64_t now)
{
    const pl_batch_job *job = b->asked_ms > p->after_ms ? pl_batch_list_find(&b->jobs, p->job)
                                                        : NULL;
    if (job) {
        memcpy(p->word, job->word, sizeof p->word);
        p->phase = job->phase;
    }
    p->gone = p->gone || pl_batch_gone(b, &p->absence, p->after_ms, job, now);
    if (p->entries == 0 && p->phase == PL_BATCH_PENDING && !p->gone && p->due_ms <= now) {
        p->due_ms = now + AGAIN_MS;
        p->told = true;
        pl_batch_tell(b, p->id, p->job, PL_BATCH_CANCEL);
    }
    return !p->gone || p->entries > 0;
}

/* 0: unknown. If it is paced by the clock, or has no end, only its limit counts. */
static double expected_s(const pl_session *s)
{
    if (s->interactive) {
        return s->time_limit;
    }
    bool limited = s->time_limit > 0 && (s->estimate <= 0 || s->time_limit < s->estimate);
    return limited ? s->time_limit : s->estimate;
}

static double load_of(const pl_session *s)
{
    return fmax(expected_s(s), 1) * (double)s->cores;
}

static void count_entries(pl_batch *b, pl_batch_entry *entries)
{
    for (pl_batch_pilot *p = b->pilots; p; p = p->next) {
        pl_pilot_look(p);
        p->entries = p->waiting = p->running = 0;
        p->load = 0;
    }
    for (pl_batch_entry *e = entries; e; e = e->next) {
        pl_pilots_find(b, e);
        if (!e->pilot) {
            continue;
        }
        e->place = pl_pilot_place_of(e);
        e->pilot->entries++;
        e->pilot->waiting += e->place == PL_PILOT_TODO;
        e->pilot->running += e->place == PL_PILOT_RUN;
        e->pilot->load += e->place == PL_PILOT_TODO || e->place == PL_PILOT_RUN
                              ? load_of(e->session)
                              : 0;
    }
}

void pl_pilots_tend(pl_batch *b, pl_batch_entry *entries, int64_t now)
{
    count_entries(b, entries);
    if (!atomic_load(b->setup.ready)) { /* before that, not all sessions are adopted */
        return;
    }
    for (pl_batch_pilot **link = &b->pilots, *p; (p = *link);) {
        if (*p->job ? follow_job(b, p, now) : find_job(b, p, now)) {
            link = &p->next;
        } else {
            *link = p->next;
            pl_pilot_remove(p);
        }
    }
}

void pl_pilots_stop(pl_batch *b)
{
    for (pl_batch_pilot *p = b->pilots; p; p = p->next) {
        bool runs = p->running > 0 || p->phase == PL_BATCH_RUNNING;
        if (*p->job && !p->gone && runs) {
            p->told = true;
            pl_batch_tell(b, p->id, p->job, PL_BATCH_SIGNAL);
        }
    }
}

/* ---- assignments ---- */

static void find_in(pl_batch_pilot *p, pl_batch_entry *e)
{
    size_t n = strlen(e->session->id);
    for (size_t at = pl_pilot_find_file(p, e->session->id); at < p->file_count; at++) {
        const pl_pilot_file *f = &p->files[at];
        long long attempt = strncmp(f->name, e->session->id, n) == 0 && f->name[n] == '-'
                                ? strtoll(f->name + n + 1, NULL, 10)
                                : -1;
        if (attempt < 0) {
            return;
        }
        if (attempt >= e->attempt) {
            e->pilot = p;
            e->attempt = attempt;
        }
    }
}

void pl_pilots_find(pl_batch *b, pl_batch_entry *e)
{
    if (e->searched) {
        return;
    }
    e->searched = true;
    int64_t attempt = e->attempt;
    for (pl_batch_pilot *p = b->pilots; p; p = p->next) {
        find_in(p, e);
    }
    for (pl_batch_pilot *p = b->pilots; p && !e->pilot; p = p->next) {
        e->pilot = *e->job && strcmp(e->job, p->job) == 0 ? p : NULL;
    }
    if (e->pilot && e->attempt != attempt) {
        pl_batch_state_set_attempt(b->setup.sessions, e->session, e->attempt);
    }
    if (e->pilot && e->step == PL_BATCH_WAITS) {
        e->step = PL_BATCH_SENT;
    }
}

static bool wants_pilot(const pl_batch *b, const pl_batch_entry *e)
{
    const pl_session *s = e->session;
    double most = (double)pl_batch_system_number(b->system, PL_BATCH_PILOT_SECONDS);
    double expected = expected_s(s);
    return expected > 0 && expected <= most && s->gpu_memory <= 0 && e->attempt <= ATTEMPTS &&
           s->crashes == 0 && s->memory_retries == 0;
}

static bool is_open(const pl_batch_pilot *p)
{
    return !p->gone && !p->closed && !p->told && p->known;
}

static bool is_of(const pl_batch_pilot *p, const char *user, const char *group)
{
    return strcmp(p->user, user) == 0 && strcmp(p->group, group) == 0;
}

static bool fits(const pl_batch_pilot *p, const pl_session *s)
{
    return s->cores <= p->cores && pl_batch_memory_mb(s) <= (double)p->memory_mb;
}

/* The pilot with the least work, or NULL; and how many its owner has. */
static pl_batch_pilot *choose(const pl_batch *b, const pl_session *s, const char *user,
                              const char *group, long *count)
{
    pl_batch_pilot *best = NULL;
    *count = 0;
    for (pl_batch_pilot *p = b->pilots; p; p = p->next) {
        if (!is_open(p) || !is_of(p, user, group)) {
            continue;
        }
        ++*count;
        if (fits(p, s) &&
            (!best || p->load / (double)p->cores < best->load / (double)best->cores)) {
            best = p;
        }
    }
    return best;
}

/* Memory for as many sessions as it has cores for, rounded to a power of two so that it suits others, too. */
static void measure(const pl_batch *b, const pl_session *s, pl_batch_pilot *p)
{
    long least = pl_batch_system_number(b->system, PL_BATCH_PILOT_CORES);
    long cores = s->cores > 0 ? (long)s->cores : 1, each = 256;
    while ((double)each < pl_batch_memory_mb(s)) {
        each *= 2;
    }
    p->cores = cores > least ? cores : least;
    p->memory_mb = each * (p->cores / cores);
}

static pl_batch_pilot *make(pl_batch *b, const pl_session *s, const char *user, const char *group)
{
    char path[PATH_MAX + 64], id[33];
    snprintf(path, sizeof path, "%s/" PL_PILOTS, b->setup.state);
    if (pl_random_id(id) != 0 || (mkdir(path, 0700) != 0 && errno != EEXIST)) {
        return NULL;
    }
    snprintf(path, sizeof path, "%s/" PL_PILOTS "/%s", b->setup.state, id);
    pl_batch_pilot *p = mkdir(path, 0700) == 0 ? pl_pilot_open(b, id) : NULL;
    if (!p) {
        return NULL;
    }
    measure(b, s, p);
    snprintf(p->user, sizeof p->user, "%s", user);
    snprintf(p->group, sizeof p->group, "%s", group);
    if (!pl_pilot_write_about(p)) {
        pl_pilot_remove(p);
        return NULL;
    }
    p->known = true;
    p->next = b->pilots;
    b->pilots = p;
    return p;
}

static void settle(pl_batch_entry *e, pl_batch_pilot *p)
{
    e->pilot = p;
    e->place = PL_PILOT_TODO;
    e->step = PL_BATCH_SENT;
    p->entries++;
    p->waiting++;
    p->load += load_of(e->session);
}

bool pl_pilots_take(pl_batch *b, pl_batch_entry *e)
{
    char user[PL_NAME_MAX + 1], group[PL_NAME_MAX + 1];
    long count = 0;
    if (!wants_pilot(b, e)) {
        return false;
    }
    pl_sessions_account(b->setup.sessions, e->session, user, group);
    pl_batch_pilot *p = choose(b, e->session, user, group, &count);
    bool more = count < pl_batch_system_number(b->system, PL_BATCH_PILOT_JOBS);
    if (more && (!p || p->load / (double)p->cores >= WORK_S)) {
        p = make(b, e->session, user, group);
    }
    if (!p || !pl_pilot_put(b, e, p)) {
        return false;
    }
    settle(e, p);
    return true;
}

void pl_pilots_move(pl_batch *b, pl_batch_entry *e)
{
    pl_batch_pilot *from = e->pilot;
    for (pl_batch_pilot *p = b->pilots; p; p = p->next) {
        bool better = p != from && is_open(p) && p->phase == PL_BATCH_RUNNING && p->waiting == 0 &&
                      is_of(p, from->user, from->group) && fits(p, e->session) &&
                      (from->phase != PL_BATCH_RUNNING || from->waiting > 1);
        if (better && pl_pilot_withdraw(e)) {
            from->load -= load_of(e->session);
            e->step = PL_BATCH_WAITS;
            if (pl_pilot_put(b, e, p)) {
                settle(e, p);
            }
            return;
        }
    }
}
