/* workload.c - synthetic sessions, and traces of real machines in the Standard Workload Format. */
#include "tests/scheduler/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 */
static uint64_t next(sim_random *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double sim_uniform(sim_random *r)
{
    return (double)(next(r) >> 11) * 0x1p-53;
}

static bool chance(sim_random *r, double p)
{
    return sim_uniform(r) < p;
}

static double exponential(sim_random *r, double mean)
{
    return -mean * log1p(-sim_uniform(r));
}

/* Most need one core; a few need all. */
static void draw_cores(sim_random *r, const sim_setup *x, sim_job *j)
{
    double u = sim_uniform(r);
    int32_t all = x->cores - x->interactive_cores;
    j->cores_least = u < 0.6 ? 1 : u < 0.8 ? 2 : u < 0.95 ? all / 2 : all;
    j->cores_least = j->cores_least < 1 ? 1 : j->cores_least;
    j->cores_most = j->cores_least;
    if (chance(r, 0.2)) {
        j->cores_most = j->cores_least + (int32_t)(sim_uniform(r) * (all - j->cores_least + 1));
    }
}

static void draw_rest(sim_random *r, const sim_setup *x, sim_job *j, size_t index)
{
    double length = fmin(1 + exponential(r, 300), 3600);
    j->work = length * j->cores_least;
    j->estimate = chance(r, 0.1) ? 0 : length * (chance(r, 0.3) ? 0.2 + 3 * sim_uniform(r) : 1);
    j->answers = 0.1 + exponential(r, 3);
    j->memory = x->memory * fmin(0.02 + exponential(r, 0.05), 0.9);
    j->gpu_memory = x->devices && chance(r, 0.15) ? x->device_memory * (0.1 + 0.9 * sim_uniform(r))
                                                  : 0;
    j->priority = chance(r, 0.2) ? (int64_t)(sim_uniform(r) * 10) - 9 : chance(r, 0.01) ? 5 : 0;
    j->after = index > 0 && chance(r, 0.05) ? (int64_t)(sim_uniform(r) * (double)index) : -1;
    j->preemptible = chance(r, 0.2);
    j->interactive = chance(r, 0.05) && j->cores_least == 1;
    j->cancelled_at = chance(r, 0.05) ? 1 + exponential(r, 600) : 0;
    j->held_until = chance(r, 0.03) ? 1 + exponential(r, 600) : 0;
    j->crash_at = chance(r, 0.05) ? j->work * sim_uniform(r) : 0;
}

static int by_arrival(const void *a, const void *b)
{
    double x = ((const sim_job *)a)->arrives, y = ((const sim_job *)b)->arrives;
    return x < y ? -1 : x > y;
}

sim_job *sim_workload(uint64_t seed, const sim_setup *x, size_t count, double days)
{
    sim_random r = {seed * 7919 + 1};
    sim_job *jobs = calloc(count, sizeof *jobs);
    for (size_t i = 0; i < count;) {
        int32_t user = (int32_t)(sim_uniform(&r) * sim_uniform(&r) * x->users);
        double when = sim_uniform(&r) * days * 86400;
        size_t burst = chance(&r, 0.1) ? 20 : 1; /* a sweep */
        for (size_t k = 0; k < burst && i < count; k++, i++) {
            jobs[i].user = user;
            jobs[i].arrives = when + 0.2 * (double)k;
        }
    }
    qsort(jobs, count, sizeof *jobs, by_arrival);
    for (size_t i = 0; i < count; i++) {
        draw_cores(&r, x, &jobs[i]);
        draw_rest(&r, x, &jobs[i], i);
    }
    return jobs;
}

sim_job *sim_saturation(uint64_t seed, const sim_setup *x, size_t count)
{
    sim_random r = {seed * 104729 + 7};
    sim_job *jobs = calloc(count, sizeof *jobs);
    for (size_t i = 0; i < count; i++) {
        sim_job *j = &jobs[i];
        double length = 60 + exponential(&r, 240);
        j->user = (int32_t)(i % (size_t)x->users);
        j->arrives = 1e-3 * (double)i;
        j->cores_least = j->cores_most = chance(&r, 0.2) ? 2 : 1;
        j->work = length * j->cores_least;
        j->estimate = length;
        j->memory = 1;
        j->after = -1;
    }
    return jobs;
}

/* ---- the Standard Workload Format ---- */

static bool read_line(const char *line, double field[18])
{
    const char *at = line;
    for (int i = 0; i < 18; i++) {
        char *end;
        field[i] = strtod(at, &end);
        if (end == at) {
            return false;
        }
        at = end;
    }
    return true;
}

static sim_job of_fields(const double f[18], int32_t cores)
{
    double processors = f[7] > 0 ? f[7] : f[4];
    int32_t wanted = (int32_t)fmin(fmax(processors, 1), cores);
    double length = fmax(f[3], 1);
    return (sim_job){.arrives = fmax(f[1], 0),
                     .user = (int32_t)fmax(f[11], 0) % SIM_USERS,
                     .cores_least = wanted,
                     .cores_most = wanted,
                     .work = length * wanted,
                     .estimate = f[8] > 0 ? f[8] : length,
                     .memory = fmax(f[9], 0) * 1024 * wanted,
                     .after = -1};
}

sim_job *sim_read_swf(const char *path, int32_t cores, size_t *count, char fault[160])
{
    char line[1024];
    double field[18];
    size_t n = 0, number = 0, capacity = 0;
    sim_job *jobs = NULL;
    FILE *file = fopen(path, "re");
    snprintf(fault, 160, "%s", file ? "" : "it cannot be opened");
    while (file && !fault[0] && fgets(line, sizeof line, file)) {
        number++;
        if (line[strspn(line, " \t\r\n")] == 0 || line[0] == ';') {
            continue;
        }
        if (!read_line(line, field)) {
            snprintf(fault, 160, "line %zu has not the 18 numbers of a job", number);
        } else if (field[3] >= 0) { /* -1: it never ran */
            if (n == capacity) {
                capacity = 2 * capacity + 64;
                jobs = realloc(jobs, capacity * sizeof *jobs);
            }
            jobs[n++] = of_fields(field, cores);
        }
    }
    if (file) {
        fclose(file);
    }
    if (fault[0]) {
        free(jobs);
        return NULL;
    }
    qsort(jobs, n, jobs ? sizeof *jobs : 1, by_arrival);
    *count = n;
    return jobs;
}
