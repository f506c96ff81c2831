/* accounts.c - users and groups: what they have used, and who is next. */
#include "server/schedule/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A job that begins is counted with this much of the time to come, so that users who have used nothing take turns. */
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

static pl_account *add(pl_accounts *accounts, const char *name, pl_account *group)
{
    pl_account *a = calloc(1, sizeof *a);
    char *copy = strdup(name);
    if (!a || !copy) {
        free(copy);
        free(a);
        return NULL;
    }
    *a = (pl_account){
        .name = copy, .group = group, .share = 1, .limits = {INT64_MAX, INT64_MAX, INT64_MAX}};
    accounts->list[accounts->count++] = a;
    return a;
}

pl_account *pl_accounts_get(pl_accounts *accounts, const char *name, pl_account *group)
{
    pl_account *found = pl_accounts_find(accounts, name);
    if (found) {
        found->group = group ? group : found->group;
        return found;
    }
    if (accounts->count == accounts->capacity) {
        size_t capacity = accounts->capacity ? 2 * accounts->capacity : 16;
        pl_account **grown = realloc(accounts->list, capacity * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        accounts->list = grown;
        accounts->capacity = capacity;
    }
    return add(accounts, name, group);
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

void pl_account_change(const pl_schedule *s, pl_account *user, int64_t running, int64_t cores,
                       int64_t gpus, double now)
{
    for (pl_account *a = user; a; a = a->group) {
        a->usage = pl_account_used(s, a, now);
        a->seen = now;
        a->running += running;
        a->cores += cores;
        a->gpus += gpus;
    }
}

static double key_of(const pl_schedule *s, const pl_account *a, double now)
{
    return (pl_account_used(s, a, now) + ahead * pl_job_weight(s, a->cores, a->gpus)) / a->share;
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

void pl_schedule_rank(pl_schedule *s, double now)
{
    if (s->ranked_capacity < s->users.count) {
        pl_account **grown = realloc(s->ranked, s->users.capacity * sizeof *grown);
        if (!grown) {
            s->ranked_count = 0; /* nothing is started until there is memory */
            return;
        }
        s->ranked = grown;
        s->ranked_capacity = s->users.capacity;
    }
    for (size_t i = 0; i < s->groups.count; i++) {
        s->groups.list[i]->key = key_of(s, s->groups.list[i], now);
    }
    s->ranked_count = 0;
    for (size_t i = 0; i < s->users.count; i++) {
        pl_account *user = s->users.list[i];
        user->key = key_of(s, user, now);
        if (user->waiting.count) {
            s->ranked[s->ranked_count++] = user;
        }
    }
    if (s->ranked_count) {
        qsort(s->ranked, s->ranked_count, sizeof *s->ranked, compare);
    }
}
