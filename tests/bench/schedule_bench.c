/* A decision of the scheduler with ten thousand waiting sessions; and a week of a lab under it, under first come, first
 * served, and under plain backfill: waits by user and utilisation, as a table and as a picture (the file that the first
 * argument names, or schedule.svg in the build). */
#include "tests/scheduler/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAITING = 10000, DECISIONS = 400, JOBS = 3000, USERS = 8, POLICIES = 3 };

/* Of the processor: a decision waits for nothing but its turn among other programs. */
static double clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* ---- decisions ---- */

static void fill(pl_schedule *s, int users)
{
    sim_random r = {1};
    for (int i = 0; i < WAITING; i++) {
        char user[16];
        snprintf(user, sizeof user, "u%d", i % users);
        pl_schedule_arrive(s,
                           &(pl_job_wish){.key = (uint64_t)i + 1,
                                          .user = user,
                                          .cores_least = 1 + (int32_t)(4 * sim_uniform(&r)),
                                          .memory = 1e9 * sim_uniform(&r),
                                          .length = 60 + 600 * sim_uniform(&r)},
                           0, false);
    }
}

/* One job ends, and what fits in its place is started, again and again; then all is foretold. */
static void time_decisions(int users)
{
    double taken[DECISIONS], now = 0;
    pl_action actions[64];
    pl_schedule *s =
        pl_schedule_create(&(pl_schedule_setup){.cores = 64, .memory = 64e9, .patience = 60});
    fill(s, users);
    while (pl_schedule_decide(s, now, actions, 64) > 0) {
    }
    for (int i = 0; i < DECISIONS; i++) {
        size_t running;
        pl_job *const *jobs = pl_schedule_running(s, &running);
        now += 5;
        pl_schedule_end(s, jobs[(size_t)i % running], now);
        double begun = clock_ms();
        pl_schedule_decide(s, now, actions, 1);
        taken[i] = clock_ms() - begun;
        pl_schedule_decide(s, now, actions, 64);
    }
    double begun = clock_ms();
    pl_schedule_forecast(s, now);
    double forecast = clock_ms() - begun;
    qsort(taken, DECISIONS, sizeof *taken, by_value);
    printf("  %5d    %8.3f    %8.3f    %8.2f\n", users, taken[DECISIONS / 2],
           taken[DECISIONS * 99 / 100], forecast);
    pl_schedule_destroy(s);
}

/* ---- a week ---- */

typedef struct outcome {
    double median[USERS], longest[USERS], utilisation, end;
} outcome;

static const char *const names[POLICIES] = {"fair, backfill", "first come", "plain backfill"};

/* User 0 posts sweeps of 150 sessions, the others single ones: 90 % of what 16 cores can do. */
static sim_job *lab_week(const sim_setup *x)
{
    sim_job *jobs = sim_workload(11, x, JOBS, 7);
    for (int i = 0; i < JOBS; i++) {
        sim_job *j = &jobs[i];
        double scale = 0.9 * 7 * 86400 * x->cores / JOBS / 900;
        j->work *= scale;
        j->estimate = j->work / j->cores_least;
        j->cores_most = j->cores_least;
        j->gpu_memory = j->crash_at = j->cancelled_at = j->held_until = 0;
        j->preemptible = j->interactive = false;
        j->priority = 0;
        j->after = -1;
        j->user = i % 300 < 150 ? 0 : 1 + i % (USERS - 1);
        j->arrives = j->user == 0 ? jobs[i - i % 300].arrives : j->arrives;
    }
    return jobs;
}

static int by_arrival(const void *a, const void *b)
{
    double x = ((const sim_job *)a)->arrives, y = ((const sim_job *)b)->arrives;
    return x < y ? -1 : x > y;
}

static outcome run_week(sim_policy policy)
{
    outcome out = {0};
    double waits[JOBS];
    sim_setup x = {.policy = policy,
                   .cores = 16,
                   .users = USERS,
                   .memory = 64e9,
                   .half_life = 86400,
                   .patience = 600};
    sim_job *jobs = lab_week(&x);
    qsort(jobs, JOBS, sizeof *jobs, by_arrival);
    sim_result result = sim_run(&x, jobs, JOBS);
    if (result.fault[0]) {
        printf("  %s: %s\n", names[policy], result.fault);
    }
    for (int u = 0; u < USERS; u++) {
        size_t n = 0;
        for (int i = 0; i < JOBS; i++) {
            if (jobs[i].user == u && jobs[i].first_start >= 0) {
                waits[n++] = jobs[i].first_start - jobs[i].arrives;
            }
        }
        qsort(waits, n, sizeof *waits, by_value);
        out.median[u] = n ? waits[n / 2] : 0;
        out.longest[u] = n ? waits[n - 1] : 0;
    }
    out.utilisation = result.utilisation;
    out.end = result.end;
    free(jobs);
    return out;
}

static void print_week(const outcome *o)
{
    puts("A week of a lab of 16 cores, 3000 sessions; user 0 posts sweeps of 150: median and "
         "longest "
         "wait, min");
    printf("  user");
    for (int p = 0; p < POLICIES; p++) {
        printf("    %20s", names[p]);
    }
    putchar('\n');
    for (int u = 0; u < USERS; u++) {
        printf("  %4d", u);
        for (int p = 0; p < POLICIES; p++) {
            printf("    %9.1f  %9.1f", o[p].median[u] / 60, o[p].longest[u] / 60);
        }
        putchar('\n');
    }
    printf("  used");
    for (int p = 0; p < POLICIES; p++) {
        printf("    %19.1f%%", 100 * o[p].utilisation);
    }
    putchar('\n');
}

/* Bars of the median wait by user and policy; utilisation in the legend. */
static void draw_week(const outcome *o, const char *path)
{
    static const char *const colours[POLICIES] = {"#1b9e77", "#d95f02", "#7570b3"};
    double most = 1;
    FILE *file = fopen(path, "we");
    if (!file) {
        printf("  %s cannot be written\n", path);
        return;
    }
    for (int u = 0; u < USERS; u++) {
        for (int p = 0; p < POLICIES; p++) {
            most = fmax(most, o[p].median[u]);
        }
    }
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"360\" "
          "font-family=\"sans-serif\" font-size=\"12\"><rect width=\"760\" height=\"360\" "
          "fill=\"white\"/>\n",
          file);
    for (int u = 0; u < USERS; u++) {
        for (int p = 0; p < POLICIES; p++) {
            double height = 240 * o[p].median[u] / most;
            fprintf(file, "<rect x=\"%d\" y=\"%.1f\" width=\"22\" height=\"%.1f\" fill=\"%s\"/>\n",
                    60 + 86 * u + 24 * p, 300 - height, height, colours[p]);
        }
        fprintf(file, "<text x=\"%d\" y=\"318\">user %d</text>\n", 72 + 86 * u, u);
    }
    for (int p = 0; p < POLICIES; p++) {
        fprintf(file, "<text x=\"%d\" y=\"346\" fill=\"%s\">%s, %.1f %% used</text>\n",
                60 + 230 * p, colours[p], names[p], 100 * o[p].utilisation);
    }
    fprintf(file,
            "<text x=\"60\" y=\"24\">median wait of each user, the tallest %.0f min</text>"
            "<line x1=\"50\" y1=\"300\" x2=\"750\" y2=\"300\" stroke=\"black\"/></svg>\n",
            most / 60);
    fclose(file);
    printf("  drawn in %s\n", path);
}

int main(int argc, char **argv)
{
    char path[512];
    const char *build = getenv("PLIANT_BUILD");
    outcome week[POLICIES];
    puts("A decision with 10,000 waiting sessions on 64 cores, after one has ended, ms of "
         "processor time");
    puts("  users      median         p99    forecast of all");
    time_decisions(1);
    time_decisions(100);
    time_decisions(1000);
    for (int p = 0; p < POLICIES; p++) {
        week[p] = run_week((sim_policy)p);
    }
    print_week(week);
    snprintf(path, sizeof path, "%s/schedule.svg", build ? build : "build");
    draw_week(week, argc > 1 ? argv[1] : path);
    return 0;
}
