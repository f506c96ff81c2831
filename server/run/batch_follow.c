/* batch_follow.c - the next action for a job, according to its session's files and the last good query. */
#include "server/run/batch_pilots.h"

#include "protocol/log/session_dir.h"
#include "server/base/logger.h"
#include "server/sessions/batch_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { AGAIN_MS = 10000, BUSY_MS = 500, ABSENT_QUERIES = 2, OVER_MS = 1000 };

/* ---- files ---- */

/* The attempt's state according to its directory. */
typedef struct attempt_files {
    bool reported, stopped, begun, locked;
} attempt_files;

static attempt_files look_at_files(const pl_batch_entry *e)
{
    attempt_files f = {false};
    pl_exit report = {0};
    pl_head head = {0};
    int dir_fd = open(e->session->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return f;
    }
    f.locked = pl_session_locked(dir_fd);
    f.reported = pl_exit_read(dir_fd, &report) == PL_OK && report.attempt >= e->attempt &&
                 !f.locked;
    f.stopped = f.reported && strcmp(report.state, "stopped") == 0;
    f.begun = f.reported || (pl_head_read(dir_fd, &head) == PL_OK && head.attempt >= e->attempt);
    pl_head_clear(&head);
    close(dir_fd);
    return f;
}

/* ---- the end ---- */

static void begin(pl_batch *b, pl_batch_entry *e)
{
    if (pl_batch_state_begin(b->setup.sessions, e->session, e->attempt)) {
        e->began = true;
        b->setup.follower.start(b->setup.follower.context, e->session);
    }
}

static pl_job_end end_of(const pl_batch_entry *e)
{
    switch (e->phase) {
    case PL_BATCH_AGAIN:
        return PL_JOB_LOST;
    case PL_BATCH_OVERTIME:
        return PL_JOB_OVERTIME;
    case PL_BATCH_CANCELLED:
        return e->kill == PL_KILL_NONE ? PL_JOB_CANCELLED : PL_JOB_ENDED;
    default:
        return PL_JOB_ENDED;
    }
}

/* The pilot knows its worker's status. If it does not, the pilot died, which is not the session's fault; after some
 * attempts the session gets its own job (batch_pilots.c). */
static void describe_pilots_end(const pl_batch_entry *e, pl_ending *how)
{
    bool own = how->job == PL_JOB_ENDED;
    how->status_known = pl_pilot_status(e, &how->status);
    if (how->status_known && own) {
        how->job = PL_JOB_NONE;
        how->job_state = NULL;
        how->out_of_memory = false;
    } else if (own && !how->out_of_memory) {
        how->job = PL_JOB_LOST;
    }
}

/* False: the entry is finished. */
static bool conclude(pl_batch *b, pl_batch_entry *e)
{
    char text[200];
    begin(b, e);
    if (atomic_load(&e->session->state) != PL_STATE_RUNNING) {
        return true; /* paused or cancelled just now */
    }
    bool known = e->phase != PL_BATCH_RUNNING && e->phase != PL_BATCH_PENDING && *e->word;
    snprintf(text, sizeof text, "job %s of %s %s%s", *e->job ? e->job : "(not found)",
             pl_batch_system_name(b->system), known ? "ended as " : "is gone",
             known ? e->word : "");
    pl_ending how = {.kill = e->kill,
                     .out_of_memory = e->phase == PL_BATCH_MEMORY,
                     .job = end_of(e),
                     .job_state = text};
    if (e->pilot) {
        describe_pilots_end(e, &how);
    }
    pl_batch_state_set_job(b->setup.sessions, e->session, e->attempt, NULL);
    how.frame = b->setup.follower.finish(b->setup.follower.context, e->session);
    pl_ending_conclude(&b->setup, e->session, &how);
    if (e->pilot) {
        pl_pilot_forget(e);
    }
    return false;
}

/* ---- waiting ---- */

static bool has_earlier(const pl_batch *b, const pl_batch_entry *e)
{
    for (const pl_batch_entry *other = e->next; other; other = other->next) {
        if (other->session == e->session) {
            return true; /* newer entries come first */
        }
    }
    return false;
}

bool pl_batch_known(pl_batch *b, int64_t after_ms, int64_t now)
{
    bool known = b->asked_ms > 0 && b->asked_ms > after_ms;
    if (!known && b->failures == 0) {
        b->next_ms = now;
    }
    return known;
}

static void say_silence(pl_batch *b, const pl_batch_entry *e)
{
    char since[32];
    if (b->failures > 0 && atomic_load(&e->session->state) == PL_STATE_QUEUED) {
        pl_time_view(b->failed_us / 1000000, since);
        pl_batch_say(b, e, "no answer since %s: %s", since, b->error);
    }
}

/* Finds this attempt's job in the last query. Cancels jobs of earlier attempts, and second ones. */
static const pl_batch_job *find_own(pl_batch *b, const pl_batch_entry *e, bool *others)
{
    const pl_batch_job *own = NULL, *job = NULL;
    while ((job = pl_batch_list_live(&b->jobs, e->session->id, job))) {
        if (!own && job->attempt >= e->attempt) {
            own = job;
            continue;
        }
        pl_batch_tell(b, e->session->id, job->id, PL_BATCH_CANCEL);
        *others = true;
    }
    return own;
}

static void take(pl_batch *b, pl_batch_entry *e, const pl_batch_job *job)
{
    memcpy(e->job, job->id, sizeof e->job);
    e->step = PL_BATCH_SENT;
    if (job->attempt > e->attempt) {
        e->attempt = job->attempt;
        pl_batch_state_set_attempt(b->setup.sessions, e->session, job->attempt);
    }
    pl_batch_state_set_job(b->setup.sessions, e->session, e->attempt, e->job);
    pl_logf(PL_LEVEL_INFO, "session %s: its job %s was found", e->session->id, e->job);
}

static void wait_for_job(pl_batch *b, pl_batch_entry *e, int64_t now)
{
    bool others = false;
    if (now < e->due_ms || has_earlier(b, e)) {
        return;
    }
    if (!e->looked && pl_batch_being_submitted(e->session->directory)) {
        e->due_ms = now + BUSY_MS;
        return;
    }
    if (!e->looked) {
        e->looked = true;
        e->after_ms = pl_batch_was_submitted(e->session->directory, NULL) ? now : e->after_ms;
    }
    if (!pl_batch_known(b, e->after_ms, now)) {
        say_silence(b, e);
        return;
    }
    const pl_batch_job *own = find_own(b, e, &others);
    if (own) {
        take(b, e, own);
    } else if (others) {
        e->after_ms = now;
        e->due_ms = now + pl_batch_ms(b, PL_BATCH_INTERVAL);
    } else if (e->found_only || look_at_files(e).begun) {
        e->step = PL_BATCH_SENT; /* the files, or its absence, will show its end */
    } else if (!atomic_load(b->setup.draining) && !pl_pilots_take(b, e) && b->room > 0) {
        b->room--;
        pl_batch_submit(b, e);
    }
}

/* ---- following ---- */

static void note(pl_batch_entry *e, const pl_batch_job *job)
{
    memcpy(e->word, job->word, sizeof e->word);
    e->phase = job->phase;
}

static void show(pl_batch *b, const pl_batch_entry *e, const pl_batch_job *job)
{
    char text[240];
    if (atomic_load(&e->session->state) != PL_STATE_QUEUED) {
        return;
    }
    if (job->phase == PL_BATCH_PENDING) {
        snprintf(text, sizeof text, "job %s waits%s%s", job->id, *job->reason ? ": " : "",
                 job->reason);
        pl_batch_state_place(b->setup.sessions, e->session, job->position, job->start, text);
    } else if (job->phase == PL_BATCH_UNKNOWN) {
        pl_batch_say(b, e, "job %s is %s", job->id, job->word);
    }
}

bool pl_batch_gone(const pl_batch *b, pl_batch_absence *a, int64_t after_ms,
                   const pl_batch_job *job, int64_t now)
{
    if (b->asked_ms <= after_ms || b->queries == a->seen) {
        return a->queries >= ABSENT_QUERIES && now - a->ms >= pl_batch_ms(b, PL_BATCH_GRACE);
    }
    a->seen = b->queries;
    if (job && pl_batch_job_lives(job)) {
        a->queries = 0;
        return false;
    }
    a->ms = a->queries++ == 0 ? now : a->ms;
    return false;
}

static void end_late(pl_batch *b, pl_batch_entry *e, int64_t now)
{
    pthread_mutex_lock(&b->mutex);
    bool late = e->deadline_ms > 0 && e->deadline_ms <= now;
    pthread_mutex_unlock(&b->mutex);
    if (late && e->due_ms <= now && *e->job) {
        e->kill = PL_KILL_DEAF;
        e->due_ms = now + AGAIN_MS;
        if (e->pilot) {
            pl_pilot_end_worker(e);
        } else {
            pl_batch_tell(b, e->session->id, e->job, PL_BATCH_CANCEL);
        }
    }
}

/* False when the entry is finished. */
static bool follow(pl_batch *b, pl_batch_entry *e, int64_t now)
{
    const pl_batch_job *job = b->asked_ms > e->after_ms ? pl_batch_list_find(&b->jobs, e->job)
                                                        : NULL;
    if (job) {
        note(e, job);
        show(b, e, job);
    }
    say_silence(b, e);
    bool news = b->queries != e->absence.seen;
    bool gone = pl_batch_gone(b, &e->absence, e->after_ms, job, now);
    bool ended = job && !pl_batch_job_lives(job);
    bool pending = job && job->phase == PL_BATCH_PENDING;
    if (pending && !news) {
        return true;
    }
    attempt_files files = look_at_files(e);
    if (files.begun || (job && job->phase == PL_BATCH_RUNNING)) {
        begin(b, e);
    }
    if (pending) { /* in the batch system's view; some systems do not report the start of a job */
        end_late(b, e, now);
        return true;
    }
    /* If a worker was told to stop, wait for the batch system, which knows the reason. */
    if (files.reported && (!files.stopped || ended || gone || e->kill)) {
        return conclude(b, e);
    }
    if (files.reported && b->failures == 0 && b->next_ms > now + BUSY_MS) {
        b->next_ms = now + BUSY_MS;
    }
    if (gone && !files.locked) {
        return conclude(b, e);
    }
    end_late(b, e, now);
    return true;
}

/* ---- in a pilot ---- */

/* The pilot's job becomes the session's. */
static const pl_batch_job *take_over(pl_batch *b, pl_batch_entry *e)
{
    const pl_batch_pilot *p = e->pilot;
    const pl_batch_job *job = *p->job ? pl_batch_list_find(&b->jobs, p->job) : NULL;
    if (*p->job && strcmp(p->job, e->job) != 0) {
        memcpy(e->job, p->job, sizeof e->job);
        pl_batch_state_set_job(b->setup.sessions, e->session, e->attempt, e->job);
    }
    memcpy(e->word, p->word, sizeof e->word);
    e->phase = p->phase;
    return job;
}

/* No pilot has it, or ever had it: the same attempt waits again. */
static void wait_again(pl_batch *b, pl_batch_entry *e)
{
    e->pilot = NULL;
    e->step = PL_BATCH_WAITS;
    e->over_ms = 0;
    *e->job = 0;
    pl_batch_state_set_job(b->setup.sessions, e->session, e->attempt, PL_JOB_SUBMITTING);
}

/* Its pilot has not taken it: set the reason, or assign it elsewhere. */
static void wait_in_pilot(pl_batch *b, pl_batch_entry *e, const pl_batch_job *job)
{
    const pl_batch_pilot *p = e->pilot;
    if (p->gone || p->closed || p->told) {
        if (pl_pilot_withdraw(e)) {
            wait_again(b, e);
        }
        return;
    }
    if (job && pl_batch_job_lives(job) && job->phase != PL_BATCH_RUNNING) {
        show(b, e, job);
    } else if (job || *p->job) {
        pl_batch_say(b, e, "job %s runs sessions one after the other", p->job);
    } else if (p->failures > 0) {
        pl_batch_say(b, e, "%s", p->error);
    }
    say_silence(b, e);
    pl_pilots_move(b, e);
}

/* True if its worker has certainly ended: writes of another machine may appear late. */
static bool is_over(const pl_batch *b, pl_batch_entry *e, int64_t now)
{
    int64_t grace = pl_batch_ms(b, PL_BATCH_GRACE);
    if (e->place != PL_PILOT_DONE && e->place != PL_PILOT_NOWHERE) {
        e->over_ms = 0;
        return false;
    }
    e->over_ms = e->over_ms ? e->over_ms : now;
    return now - e->over_ms >= (grace > OVER_MS ? grace : OVER_MS);
}

/* False: the entry is finished. */
static bool follow_in_pilot(pl_batch *b, pl_batch_entry *e, int64_t now)
{
    const pl_batch_job *job = take_over(b, e);
    if (e->place == PL_PILOT_UNKNOWN) {
        return true;
    }
    if (e->place == PL_PILOT_TODO) {
        wait_in_pilot(b, e, job);
        return true;
    }
    attempt_files files = look_at_files(e);
    if (files.begun || e->place == PL_PILOT_RUN) {
        begin(b, e);
    }
    bool over = is_over(b, e, now), gone = e->pilot->gone;
    bool ended = gone || (job && !pl_batch_job_lives(job));
    /* If it was told to stop, the batch system knows who did it, provided that it told the pilot as well. */
    bool told = over && !e->pilot->closed;
    if (files.reported && (!files.stopped || told || ended || e->kill)) {
        return conclude(b, e);
    }
    if (files.reported && b->failures == 0 && b->next_ms > now + BUSY_MS) {
        b->next_ms = now + BUSY_MS;
    }
    if (over && e->place == PL_PILOT_NOWHERE && !files.begun && !files.locked && !e->began) {
        wait_again(b, e); /* the daemon was killed while moving it */
        return true;
    }
    if (!files.locked && (gone || (over && !files.reported))) {
        return conclude(b, e);
    }
    end_late(b, e, now);
    return true;
}

/* False: nothing is left of it. */
static bool leave_pilot(pl_batch_entry *e, int64_t now)
{
    if (e->place == PL_PILOT_TODO && pl_pilot_withdraw(e)) {
        return false;
    }
    if (e->place == PL_PILOT_RUN && e->due_ms <= now) {
        e->due_ms = now + AGAIN_MS;
        pl_pilot_end_worker(e);
    }
    bool over = e->place == PL_PILOT_DONE || e->place == PL_PILOT_NOWHERE || e->pilot->gone;
    if (over) {
        pl_pilot_forget(e);
    }
    return !over;
}

/* ---- leaving ---- */

/* False when no job of the entry is left. */
static bool leave(pl_batch *b, pl_batch_entry *e, int64_t now)
{
    if (e->pilot) {
        return leave_pilot(e, now);
    }
    bool may_be_there = *e->job || e->tried || e->found_only;
    if (may_be_there && !*e->job && pl_batch_known(b, e->after_ms, now)) {
        const pl_batch_job *job = pl_batch_list_live(&b->jobs, e->session->id, NULL);
        may_be_there = job;
        memcpy(e->job, job ? job->id : "", job ? sizeof e->job : 1);
    }
    if (!may_be_there) {
        return false;
    }
    if (*e->job && e->due_ms <= now) {
        pl_batch_tell(b, e->session->id, e->job, PL_BATCH_CANCEL);
        e->after_ms = pl_monotonic_ms();
        e->due_ms = e->after_ms + AGAIN_MS;
        b->next_ms = b->failures ? b->next_ms : e->after_ms + BUSY_MS;
        return true;
    }
    const pl_batch_job *job = pl_batch_list_find(&b->jobs, e->job);
    bool known = b->asked_ms > e->after_ms;
    return !*e->job || !known || (job && pl_batch_job_lives(job));
}

bool pl_batch_advance(pl_batch *b, pl_batch_entry *e, int64_t now)
{
    if (e->step != PL_BATCH_LEAVING &&
        !pl_batch_state_wants(b->setup.sessions, e->session, e->attempt)) {
        e->step = PL_BATCH_LEAVING;
        e->due_ms = 0;
    }
    if (e->step == PL_BATCH_WAITS) {
        wait_for_job(b, e, now);
        return true;
    }
    if (e->step == PL_BATCH_SENT) {
        return e->pilot ? follow_in_pilot(b, e, now) : follow(b, e, now);
    }
    if (leave(b, e, now)) {
        return true;
    }
    pl_batch_state_set_job(b->setup.sessions, e->session, e->attempt, NULL);
    return false;
}
