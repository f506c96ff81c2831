/* accounts.c - users and groups: their usage, and who is next. */
#include "server/schedule/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A job that begins is charged this much future time, so that users without usage take turns. */
static const double ahead = 60;

pl_account *pl_accounts_find(const pl_accounts *accounts, const char *name)
{
    for (size_t i = 0; i < accounts->count; i++) {
        if (strcmp(accounts->list[i]->name, name) == 0) {
            return accounts->list[i];
        }
    }
    return NULL;
}

static pl_account *add(pl_accounts *accounts, const char *name)
{
    if (accounts->count == accounts->capacity) {
        size_t capacity = accounts->capacity ? 2 * accounts->capacity : 16;
        pl_account **grown = realloc(accounts->list, capacity * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        accounts->list = grown;
        accounts->capacity = capacity;
    }
    pl_account *a = calloc(1, sizeof *a);
    char *copy = strdup(name);
    if (!a || !copy) {
        free(copy);
        free(a);
        return NULL;
    }
    *a = (pl_account){
        .name = copy, .share = 1, .parts = 1, .limits = {INT64_MAX, INT64_MAX, INT64_MAX}};
    accounts->list[accounts->count++] = a;
    return a;
}

pl_account *pl_accounts_get(pl_accounts *accounts, const char *name)
{
    pl_account *found = pl_accounts_find(accounts, name);
    return found ? found : add(accounts, name);
}

pl_account *pl_schedule_seat(pl_schedule *s, const char *user, const char *group)
{
    for (size_t i = 0; i < s->users.count; i++) {
        pl_account *a = s->users.list[i];
        if (strcmp(a->name, user) == 0 && strcmp(a->group->name, group) == 0) {
            return a;
        }
    }
    pl_account *of = pl_accounts_get(&s->groups, group);
    pl_account *person = of ? pl_accounts_get(&s->persons, user) : NULL;
    pl_account *made = person ? add(&s->users, user) : NULL;
    if (made) {
        made->group = of;
        made->person = person;
    }
    return made;
}

void pl_accounts_clear(pl_accounts *accounts)
{
    for (size_t i = 0; i < accounts->count; i++) {
        free(accounts->list[i]->waiting.jobs);
        free(accounts->list[i]->name);
        free(accounts->list[i]);
    }
    free(accounts->list);
}

double pl_job_weight(const pl_schedule *s, int64_t cores, int64_t gpus)
{
    double of_a_gpu = s->device_count ? (double)s->setup.cores / s->device_count : 0;
    return (double)cores + (double)gpus * of_a_gpu;
}

/* u(t) = u(t0) 2^(-(t-t0)/H) + w H/ln 2 (1 - 2^(-(t-t0)/H)), with w the cores in use since t0. */
double pl_account_used(const pl_schedule *s, const pl_account *a, double now)
{
    if (a->usage == 0 && a->cores == 0 && a->gpus == 0) {
        return 0;
    }
    double left = exp2(-(now - a->seen) / s->setup.half_life);
    double weight = pl_job_weight(s, a->cores, a->gpus);
    return a->usage * left + weight * s->setup.half_life / M_LN2 * (1 - left);
}

static void change(const pl_schedule *s, pl_account *a, int64_t running, int64_t cores,
                   int64_t gpus, double now)
{
    a->usage = pl_account_used(s, a, now);
    a->seen = now;
    a->running += running;
    a->cores += cores;
    a->gpus += gpus;
}

void pl_account_change(const pl_schedule *s, pl_account *user, int64_t running, int64_t cores,
                       int64_t gpus, double now)
{
    change(s, user, running, cores, gpus, now);
    change(s, user->person, running, cores, gpus, now);
    change(s, user->group, running, cores, gpus, now);
}

/* ---- shares and limits ---- */

static bool set_account(pl_account *a, double share, pl_account_limits limits)
{
    if (a) {
        a->share = share > 0 ? share : 1;
        a->limits = limits;
    }
    return a;
}

bool pl_schedule_set_user(pl_schedule *s, const char *user, double share, pl_account_limits limits)
{
    return set_account(pl_accounts_get(&s->persons, user), share, limits);
}

bool pl_schedule_set_group(pl_schedule *s, const char *group, double share,
                           pl_account_limits limits)
{
    return set_account(pl_accounts_get(&s->groups, group), share, limits);
}

static const char *name_of(const pl_accounts *accounts, size_t k)
{
    return k < accounts->count ? accounts->list[k]->name : NULL;
}

const char *pl_schedule_user(const pl_schedule *s, size_t k)
{
    return name_of(&s->persons, k);
}

const char *pl_schedule_group(const pl_schedule *s, size_t k)
{
    return name_of(&s->groups, k);
}

void pl_schedule_limit_user(pl_schedule *s, size_t k, double share, pl_account_limits limits)
{
    set_account(s->persons.list[k], share, limits);
}

void pl_schedule_limit_group(pl_schedule *s, size_t k, double share, pl_account_limits limits)
{
    set_account(s->groups.list[k], share, limits);
}

/* ---- usage ---- */

double pl_schedule_usage(pl_schedule *s, const char *user, double now)
{
    const pl_account *a = pl_accounts_find(&s->persons, user);
    return a ? pl_account_used(s, a, now) : 0;
}

bool pl_schedule_remember(pl_schedule *s, const char *user, const char *group, double core_seconds,
                          double gpu_seconds, double now)
{
    pl_account *seat = pl_schedule_seat(s, user, group);
    double used = core_seconds + gpu_seconds * pl_job_weight(s, 0, 1);
    if (seat) {
        pl_account_change(s, seat, 0, 0, 0, now);
        seat->usage += used;
        seat->person->usage += used;
        seat->group->usage += used;
    }
    return seat;
}

/* ---- who is next ---- */

static double key_of(const pl_schedule *s, const pl_account *a, double share, double now)
{
    return (pl_account_used(s, a, now) + ahead * pl_job_weight(s, a->cores, a->gpus)) / share;
}

static pl_rank rank_of(pl_account *user)
{
    const pl_job *first = user->waiting.jobs[0].job;
    return (pl_rank){.express = first->priority > 0 ? first->priority : 0,
                     .group = user->group->key,
                     .own = user->key,
                     .oldest = (double)first->order,
                     .user = user};
}

static int compare(const void *left, const void *right)
{
    const pl_rank *a = left, *b = right;
    if (a->express != b->express) {
        return a->express > b->express ? -1 : 1;
    }
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    if (a->own != b->own) {
        return a->own < b->own ? -1 : 1;
    }
    return a->oldest < b->oldest ? -1 : a->oldest > b->oldest;
}

/* Compute the keys of groups. Users without a group do not form one: each of them with a job counts as one share. */
static void rank_groups(pl_schedule *s, double now)
{
    double alone = 0;
    for (size_t i = 0; s->groups.count > 1 && i < s->users.count; i++) {
        const pl_account *user = s->users.list[i];
        alone += !*user->group->name && (user->waiting.count || user->running);
    }
    for (size_t i = 0; i < s->groups.count; i++) {
        pl_account *group = s->groups.list[i];
        group->parts = group->share * (*group->name ? 1 : fmax(alone, 1));
        group->key = key_of(s, group, group->parts, now);
    }
}

/* Room in both arrays for all users. */
static bool reserve_ranks(pl_schedule *s)
{
    if (s->ranked_capacity >= s->users.count) {
        return true;
    }
    pl_rank *ranks = realloc(s->ranks, s->users.capacity * sizeof *ranks);
    s->ranks = ranks ? ranks : s->ranks;
    pl_account **ranked = ranks ? realloc(s->ranked, s->users.capacity * sizeof *ranked) : NULL;
    if (ranked) {
        s->ranked = ranked;
        s->ranked_capacity = s->users.capacity;
    }
    return ranked;
}

void pl_schedule_rank(pl_schedule *s, double now)
{
    s->ranked_count = 0;
    if (!reserve_ranks(s)) {
        return; /* nothing is started until memory is available */
    }
    rank_groups(s, now);
    for (size_t i = 0; i < s->users.count; i++) {
        pl_account *user = s->users.list[i];
        user->key = key_of(s, user, user->person->share, now);
        if (user->waiting.count) {
            s->ranks[s->ranked_count++] = rank_of(user);
        }
    }
    if (s->ranked_count) {
        qsort(s->ranks, s->ranked_count, sizeof *s->ranks, compare);
    }
    for (size_t i = 0; i < s->ranked_count; i++) {
        s->ranked[i] = s->ranks[i].user;
    }
}
