/* batch_submit.c - one submission: the job's script, the command and its output. */
#include "server/run/batch_jobs.h"

#include "protocol/log/small_file.h"
#include "server/base/logger.h"
#include "server/batch/batch_command.h"
#include "server/sessions/batch_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define SCRIPT "job.sh"
#define OUTPUT "job.id" /* output of the submitting command; locked while it runs */

enum { VALUES = 20, RETRY_FIRST_MS = 2000, RETRY_MOST_MS = 60000 };

/* Texts of the placeholders for one submission. */
typedef struct submission {
    char attempt[24], cores[24], memory_mb[32], minutes[24], seconds[24], lead[24];
    char script[PATH_MAX + 16];
    char *command, *command_json; /* malloc'ed */
    pl_batch_value values[VALUES];
} submission;

void pl_batch_say(pl_batch *b, const pl_batch_entry *entry, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pl_batch_state_place(b->setup.sessions, entry->session, 0, -1, text);
}

/* ---- the worker's command ---- */

static void quote_for_shell(FILE *out, const char *word)
{
    fputc('\'', out);
    for (; *word; word++) {
        if (*word == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*word, out);
        }
    }
    fputs("' ", out);
}

/* Writes the command as shell words and as a JSON array. */
static bool write_command(submission *x, const char *const *words)
{
    size_t size = 0;
    FILE *out = open_memstream(&x->command, &size);
    pl_json_writer w = {0};
    pl_json_begin_array(&w);
    for (size_t i = 0; out && words[i]; i++) {
        quote_for_shell(out, words[i]);
        pl_json_put_string(&w, words[i]);
    }
    pl_json_end_array(&w);
    x->command_json = pl_json_finish(&w, NULL);
    return out && fclose(out) == 0 && x->command_json;
}

void pl_batch_worker_words(const pl_batch *b, const pl_batch_entry *e, pl_batch_words *x)
{
    const pl_options *o = b->setup.options;
    const pl_session *s = e->session;
    const char *words[] = {x->program,  "--session", s->directory,         "--attempt", x->attempt,
                           "--threads", x->cores,    "--checkpoint-every", x->every};
    size_t n = sizeof words / sizeof *words;
    memset(x->words, 0, sizeof x->words);
    memcpy(x->words, words, sizeof words);
    snprintf(x->program, sizeof x->program, "%s/pliant-worker", b->setup.programs);
    snprintf(x->attempt, sizeof x->attempt, "%lld", (long long)e->attempt);
    snprintf(x->cores, sizeof x->cores, "%lld", (long long)s->cores);
    snprintf(x->every, sizeof x->every, "%d", o->checkpoint_every);
    if (s->memory_limit >= 1) {
        snprintf(x->memory, sizeof x->memory, "%.0f", s->memory_limit);
        x->words[n++] = "--memory";
        x->words[n++] = x->memory;
    }
    if (s->gpu_memory > 0) { /* the one given to the job */
        x->words[n++] = "--gpu";
        x->words[n++] = "auto";
    }
    if (s->gpu_memory > 0 && o->gpu_plugin) {
        x->words[n++] = "--gpu-plugin"; /* the job runs in another folder */
        x->words[n++] = realpath(o->gpu_plugin, x->plugin) ? x->plugin : o->gpu_plugin;
    }
}

/* ---- the job ---- */

/* Minutes to request: the rest of the time limit, or three times the estimate, plus ten. */
static long job_minutes(const pl_batch *b, const pl_session *s)
{
    long most = pl_batch_system_number(b->system, PL_BATCH_MINUTES);
    double seconds = s->time_limit > 0 ? s->time_limit : 3 * s->estimate;
    double minutes = ceil(seconds / 60) + 10;
    return seconds > 0 && minutes < (double)most ? (long)minutes : most;
}

/* The worker's limit covers its allocations; a job's limit also covers the program and its files. */
double pl_batch_memory_mb(const pl_session *s)
{
    double bytes = s->memory_limit > s->memory ? s->memory_limit : s->memory;
    return ceil(bytes * 1.05 / (1 << 20)) + 256;
}

static void describe_job(const pl_batch *b, const pl_batch_request *r, submission *x)
{
    long minutes = r->minutes, lead = pl_batch_system_number(b->system, PL_BATCH_LEAD);
    snprintf(x->attempt, sizeof x->attempt, "%lld", (long long)r->attempt);
    snprintf(x->cores, sizeof x->cores, "%lld", (long long)r->cores);
    snprintf(x->minutes, sizeof x->minutes, "%ld", minutes);
    snprintf(x->seconds, sizeof x->seconds, "%ld", 60 * minutes);
    snprintf(x->lead, sizeof x->lead, "%ld", lead < 15 * minutes ? lead : 15 * minutes);
    snprintf(x->memory_mb, sizeof x->memory_mb, "%.0f", r->memory_mb);
    snprintf(x->script, sizeof x->script, "%s/" SCRIPT, r->directory);
    const pl_batch_value values[] = {{"user", r->user},
                                     {"group", r->group},
                                     {"name", r->name},
                                     {"session", r->id},
                                     {"attempt", x->attempt},
                                     {"directory", r->directory},
                                     {"cores", x->cores},
                                     {"memory_mb", x->memory_mb},
                                     {"minutes", x->minutes},
                                     {"seconds", x->seconds},
                                     {"lead", x->lead},
                                     {"gpus", r->gpu ? "1" : ""},
                                     {"script", x->script},
                                     {"command", x->command},
                                     {"command_json", x->command_json},
                                     {NULL, NULL}};
    memcpy(x->values, values, sizeof values);
}

static bool write_script(const pl_batch *b, const char *directory, const submission *x)
{
    char *text = pl_batch_system_script(b->system, x->values);
    int dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = text && dir_fd >= 0 &&
                pl_file_replace(dir_fd, SCRIPT, text, strlen(text), false) == PL_OK;
    int error = errno;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    free(text);
    errno = error;
    return good;
}

/* ---- the command ---- */

/* Locked while any process has it open: the command outlives a killed daemon. */
static int open_output(const char *directory, int flags)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/" OUTPUT, directory);
    return open(path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool pl_batch_being_submitted(const char *directory)
{
    int fd = open_output(directory, 0);
    if (fd < 0) {
        return false;
    }
    bool busy = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return busy;
}

/* The first word of the output: "123", "123;cluster", "123.server", "job.batch/name". */
static bool read_id(int fd, char out[PL_BATCH_ID_MAX])
{
    char text[512];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    const char *at = text + strspn(text, " \t\r\n");
    size_t length = strcspn(at, "; \t\r\n");
    snprintf(out, PL_BATCH_ID_MAX, "%.*s", (int)length, at);
    return length > 0 && length < PL_BATCH_ID_MAX;
}

bool pl_batch_was_submitted(const char *directory, char job[PL_BATCH_ID_MAX])
{
    int fd = open_output(directory, 0);
    if (fd >= 0) {
        if (job && !read_id(fd, job)) {
            *job = 0;
        }
        close(fd);
    }
    return fd >= 0;
}

static bool run_command(pl_batch *b, const submission *x, int fd, pl_batch_request *r)
{
    pl_batch_result result;
    char **argv = pl_batch_system_command(b->system, PL_BATCH_SUBMIT, x->values);
    char *const none[] = {NULL};
    r->tried = true;
    pl_batch_run(argv ? argv : none, (int)pl_batch_ms(b, PL_BATCH_TIMEOUT), fd, b->stop_fd,
                 &result);
    pl_batch_command_free(argv);
    bool good = result.good && read_id(fd, r->job);
    if (!good) {
        *r->job = 0;
        snprintf(r->error, sizeof r->error, "its job was not accepted: %s",
                 *result.error ? result.error : "the command printed no job id");
    }
    pl_batch_result_clear(&result);
    return good;
}

bool pl_batch_send(pl_batch *b, pl_batch_request *r)
{
    submission x = {.command = NULL};
    int fd = open_output(r->directory, O_CREAT);
    bool good = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && ftruncate(fd, 0) == 0 &&
                write_command(&x, r->words);
    if (good) {
        describe_job(b, r, &x);
        good = write_script(b, r->directory, &x);
    }
    if (!good) { /* or another submission is in progress */
        snprintf(r->error, sizeof r->error, "its job's script cannot be written: %s",
                 strerror(errno));
    }
    good = good && run_command(b, &x, fd, r);
    if (fd >= 0) {
        close(fd);
    }
    free(x.command);
    free(x.command_json);
    return good;
}

int64_t pl_batch_backoff_ms(const pl_batch_request *r, int *failures)
{
    int64_t wait = (int64_t)RETRY_FIRST_MS << (*failures < 5 ? *failures : 5);
    *failures += r->tried;
    return !r->tried ? RETRY_FIRST_MS : wait < RETRY_MOST_MS ? wait : RETRY_MOST_MS;
}

/* ---- a session's own job ---- */

static void note_answer(pl_batch *b, pl_batch_entry *e, const pl_batch_request *r, bool good)
{
    e->tried = e->tried || r->tried;
    e->after_ms = pl_monotonic_ms();
    memcpy(e->job, r->job, sizeof e->job);
    if (good) {
        e->step = PL_BATCH_SENT;
        e->failures = 0;
        pl_batch_state_set_job(b->setup.sessions, e->session, e->attempt, e->job);
        pl_batch_say(b, e, "job %s waits for its turn", e->job);
        pl_logf(PL_LEVEL_INFO, "session %s: attempt %lld is job %s of %s", e->session->id,
                (long long)e->attempt, e->job, pl_batch_system_name(b->system));
        return;
    }
    int64_t wait = pl_batch_backoff_ms(r, &e->failures);
    e->due_ms = e->after_ms + wait;
    pl_batch_say(b, e, "%s; tried again after %lld s", r->error, (long long)wait / 1000);
    pl_logf(PL_LEVEL_WARN, "session %s: %s", e->session->id, r->error);
}

void pl_batch_submit(pl_batch *b, pl_batch_entry *e)
{
    const pl_session *s = e->session;
    char user[PL_NAME_MAX + 1], group[PL_NAME_MAX + 1];
    pl_batch_words words;
    pl_batch_worker_words(b, e, &words);
    pl_sessions_account(b->setup.sessions, s, user, group);
    pl_batch_request r = {.id = s->id,
                          .directory = s->directory,
                          .attempt = e->attempt,
                          .cores = s->cores,
                          .memory_mb = pl_batch_memory_mb(s),
                          .minutes = job_minutes(b, s),
                          .gpu = s->gpu_memory > 0,
                          .user = user,
                          .group = group,
                          .words = words.words};
    pl_batch_job_name(s->id, e->attempt, r.name);
    note_answer(b, e, &r, pl_batch_send(b, &r));
}

void pl_batch_tell(pl_batch *b, const char *id, const char *job, pl_batch_verb verb)
{
    const pl_batch_value values[] = {{"job", job}, {"session", id}, {NULL, NULL}};
    pl_batch_result result = {0};
    char **argv = pl_batch_system_command(b->system, verb, values);
    if (argv) {
        pl_batch_run(argv, (int)pl_batch_ms(b, PL_BATCH_TIMEOUT), -1, b->stop_fd, &result);
    }
    if (!result.good) {
        pl_logf(PL_LEVEL_WARN, "%s: job %s cannot be %s: %s", id, job,
                verb == PL_BATCH_CANCEL ? "cancelled" : "signalled", result.error);
    }
    pl_batch_result_clear(&result);
    pl_batch_command_free(argv);
}
