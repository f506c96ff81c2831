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

static int64_t express(const pl_account *a)
{
    int64_t first = a->waiting.count ? a->waiting.jobs[0]->priority : 0;
    return first > 0 ? first : 0;
}

static double oldest(const pl_account *a)
{
    return a->waiting.count ? (double)a->waiting.jobs[0]->order : 0;
}

int pl_account_compare(const pl_account *a, const pl_account *b)
{
    if (express(a) != express(b)) {
        return express(a) > express(b) ? -1 : 1;
    }
    if (a->group != b->group && a->group->key != b->group->key) {
        return a->group->key < b->group->key ? -1 : 1;
    }
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return oldest(a) < oldest(b) ? -1 : oldest(a) > oldest(b);
}

static int compare(const void *a, const void *b)
{
    return pl_account_compare(*(pl_account *const *)a, *(pl_account *const *)b);
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

void pl_schedule_rank(pl_schedule *s, double now)
{
    if (s->ranked_capacity < s->users.count) {
        pl_account **grown = realloc(s->ranked, s->users.capacity * sizeof *grown);
        if (!grown) {
            s->ranked_count = 0; /* nothing is started until memory is available */
            return;
        }
        s->ranked = grown;
        s->ranked_capacity = s->users.capacity;
    }
    rank_groups(s, now);
    s->ranked_count = 0;
    for (size_t i = 0; i < s->users.count; i++) {
        pl_account *user = s->users.list[i];
        user->key = key_of(s, user, user->person->share, now);
        if (user->waiting.count) {
            s->ranked[s->ranked_count++] = user;
        }
    }
    if (s->ranked_count) {
        qsort(s->ranked, s->ranked_count, sizeof *s->ranked, compare);
    }
}
