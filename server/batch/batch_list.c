#include "server/batch/batch_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PREFIX "pliant-"
#define PILOT  PREFIX "pilot-"

void pl_batch_job_name(const char *session, int64_t attempt, char out[PL_BATCH_NAME_MAX])
{
    snprintf(out, PL_BATCH_NAME_MAX, PREFIX "%s-%lld", session, (long long)attempt);
}

void pl_batch_pilot_name(const char *pilot, char out[PL_BATCH_NAME_MAX])
{
    snprintf(out, PL_BATCH_NAME_MAX, PILOT "%s", pilot);
}

static bool read_name(const char *name, pl_batch_job *job)
{
    long long attempt = 1;
    char session[33], rest;
    bool ours = sscanf(name, PREFIX "%32[0-9a-f]-%lld%c", session, &attempt, &rest) == 2 ||
                sscanf(name, PILOT "%32[0-9a-f]%c", session, &rest) == 1;
    if (!ours || strlen(session) != 32 || attempt < 1) {
        return false;
    }
    memcpy(job->session, session, sizeof session);
    job->attempt = attempt;
    return true;
}

/* "2026-11-28T01:02:03" in this machine's time zone, or seconds since 1970; -1 for anything else. */
static int64_t read_time(const char *text)
{
    struct tm when = {.tm_isdst = -1};
    char *end;
    if (sscanf(text, "%d-%d-%dT%d:%d:%d", &when.tm_year, &when.tm_mon, &when.tm_mday, &when.tm_hour,
               &when.tm_min, &when.tm_sec) == 6) {
        when.tm_year -= 1900;
        when.tm_mon--;
        return (int64_t)mktime(&when);
    }
    long long seconds = strtoll(text, &end, 10);
    return end > text && *end == 0 && seconds > 0 ? seconds : -1;
}

/* Replaces all but printable ASCII: foreign text becomes part of a UTF-8 document. */
static void make_plain(char *text)
{
    for (; *text; text++) {
        *text = (unsigned char)*text < ' ' || (unsigned char)*text > '~' ? '?' : *text;
    }
}

/* 1: one of our jobs, 0: another job, -1: not a line of a query. */
static int read_line(const pl_batch_system *s, const char *line, pl_batch_job *job)
{
    char name[256], text[64];
    *job = (pl_batch_job){.start = -1};
    if (!pl_batch_system_field(s, line, PL_BATCH_JOB, job->id, sizeof job->id) || !*job->id ||
        !pl_batch_system_field(s, line, PL_BATCH_NAME, name, sizeof name) ||
        !pl_batch_system_field(s, line, PL_BATCH_STATE, job->word, sizeof job->word)) {
        return -1;
    }
    if (!read_name(name, job)) {
        return 0;
    }
    pl_batch_system_field(s, line, PL_BATCH_REASON, job->reason, sizeof job->reason);
    make_plain(job->reason);
    make_plain(job->word);
    make_plain(job->id);
    if (pl_batch_system_field(s, line, PL_BATCH_START, text, sizeof text)) {
        job->start = read_time(text);
    }
    if (pl_batch_system_field(s, line, PL_BATCH_PRIORITY, text, sizeof text)) {
        job->priority = strtod(text, NULL);
    }
    job->phase = pl_batch_system_phase(s, job->word);
    return 1;
}

static int by_turn(const void *a, const void *b)
{
    const pl_batch_job *x = a, *y = b;
    if ((x->phase == PL_BATCH_PENDING) != (y->phase == PL_BATCH_PENDING)) {
        return x->phase == PL_BATCH_PENDING ? -1 : 1;
    }
    if (x->priority != y->priority) {
        return x->priority > y->priority ? -1 : 1;
    }
    long long n = strtoll(x->id, NULL, 10), m = strtoll(y->id, NULL, 10);
    return n < m ? -1 : n > m;
}

static int by_session(const void *a, const void *b)
{
    const pl_batch_job *x = a, *y = b;
    int order = strcmp(x->session, y->session);
    return order ? order : (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

static void give_positions(pl_batch_list *list)
{
    if (list->count == 0) {
        return;
    }
    qsort(list->jobs, list->count, sizeof *list->jobs, by_turn);
    for (size_t i = 0; i < list->count && list->jobs[i].phase == PL_BATCH_PENDING; i++) {
        list->jobs[i].position = (int64_t)i + 1;
    }
    qsort(list->jobs, list->count, sizeof *list->jobs, by_session);
}

static size_t count_lines(const char *text)
{
    size_t count = 1;
    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

bool pl_batch_list_read(const pl_batch_system *s, char *text, pl_batch_list *out)
{
    pl_batch_list list = {calloc(count_lines(text), sizeof *list.jobs), 0};
    char *rest = NULL;
    bool good = list.jobs;
    for (char *line = strtok_r(text, "\n", &rest); good && line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (line[strspn(line, " \t\r")] == 0) {
            continue;
        }
        int ours = read_line(s, line, &list.jobs[list.count]);
        good = ours >= 0;
        list.count += ours > 0;
    }
    if (!good) {
        free(list.jobs);
        return false;
    }
    give_positions(&list);
    *out = list;
    return true;
}

void pl_batch_list_clear(pl_batch_list *list)
{
    free(list->jobs);
    *list = (pl_batch_list){0};
}

const pl_batch_job *pl_batch_list_find(const pl_batch_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->jobs[i].id, id) == 0) {
            return &list->jobs[i];
        }
    }
    return NULL;
}

bool pl_batch_job_lives(const pl_batch_job *job)
{
    return job->phase == PL_BATCH_PENDING || job->phase == PL_BATCH_RUNNING ||
           job->phase == PL_BATCH_UNKNOWN;
}

const pl_batch_job *pl_batch_list_live(const pl_batch_list *list, const char *session,
                                       const pl_batch_job *last)
{
    size_t i = last ? (size_t)(last - list->jobs) + 1 : 0;
    for (; i < list->count; i++) {
        if (strcmp(list->jobs[i].session, session) == 0 && pl_batch_job_lives(&list->jobs[i])) {
            return &list->jobs[i];
        }
    }
    return NULL;
}
