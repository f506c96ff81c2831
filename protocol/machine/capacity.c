#include "protocol/machine/capacity.h"

#include "protocol/machine/own_group.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char by_machine[] = "machine", by_affinity[] = "affinity",
                  by_group[] = "control_group";

/* ---- limits of one group ---- */

/* Reads the numbers of a file's first line ("max" is INT64_MAX) and returns their count. */
static int read_numbers(const char *path, int64_t *out, int most)
{
    char line[128] = "", *state = NULL;
    int count = 0;
    FILE *file = fopen(path, "re");
    if (file) {
        char *got = fgets(line, sizeof line, file);
        (void)got; /* an empty line has no numbers */
        fclose(file);
    }
    for (char *word = strtok_r(line, " \n", &state); word && count < most;
         word = strtok_r(NULL, " \n", &state)) {
        char *end;
        long long value = strtoll(word, &end, 10);
        if (strcmp(word, "max") == 0) {
            value = INT64_MAX;
        } else if (end == word || *end) {
            return count;
        }
        out[count++] = value;
    }
    return count;
}

/* Returns the limit of the group in this directory and the file that sets it; 0: no limit. */
typedef int64_t (*limit_of)(const char *directory, int version, char file[PATH_MAX + 32]);

static int64_t cores_of(const char *directory, int version, char file[PATH_MAX + 32])
{
    char period_file[PATH_MAX + 32];
    int64_t n[2] = {0, 0};
    if (version == 2) {
        snprintf(file, PATH_MAX + 32, "%s/cpu.max", directory);
        if (read_numbers(file, n, 2) < 2) {
            return 0;
        }
    } else {
        snprintf(file, PATH_MAX + 32, "%s/cpu.cfs_quota_us", directory);
        snprintf(period_file, sizeof period_file, "%s/cpu.cfs_period_us", directory);
        if (read_numbers(file, n, 1) < 1 || read_numbers(period_file, n + 1, 1) < 1) {
            return 0;
        }
    }
    if (n[0] <= 0 || n[0] == INT64_MAX || n[1] <= 0) { /* version 1 uses -1 for no limit */
        return 0;
    }
    return n[0] / n[1] > 1 ? n[0] / n[1] : 1;
}

/* memory.high throttles a group until it frees memory, so sessions make no progress above it. */
static int64_t memory_of(const char *directory, int version, char file[PATH_MAX + 32])
{
    static const char *const files[] = {"memory.max", "memory.high", "memory.limit_in_bytes"};
    int64_t least = 0;
    for (int i = version == 2 ? 0 : 2; i < (version == 2 ? 2 : 3); i++) {
        char path[PATH_MAX + 32];
        int64_t value = 0;
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        if (read_numbers(path, &value, 1) == 1 && value > 0 && value < INT64_MAX &&
            (!least || value < least)) {
            least = value;
            memcpy(file, path, sizeof path);
        }
    }
    return least;
}

/* ---- a group and its ancestors ---- */

/* Moves to the parent directory; stops where the hierarchy is mounted. */
static int go_up(pl_control_group *g)
{
    size_t length = strlen(g->path);
    if (length <= g->top) {
        return 0;
    }
    while (length > g->top && g->path[--length] != '/') {
    }
    g->path[length] = 0;
    return 1;
}

static int64_t least_of(FILE *groups, FILE *mounts, const char *controller, limit_of limit,
                        char file[PATH_MAX + 32])
{
    pl_control_group g;
    char why[PL_WHY_NO_GROUP], from[PATH_MAX + 32];
    int64_t least = 0;
    if (!groups || !mounts) {
        return 0;
    }
    rewind(groups);
    rewind(mounts);
    if (!pl_control_group_find(groups, mounts, controller, &g, why)) {
        return 0;
    }
    do {
        int64_t value = limit(g.path, g.version, from);
        if (value > 0 && (!least || value < least)) {
            least = value;
            memcpy(file, from, sizeof from);
        }
    } while (go_up(&g));
    return least;
}

void pl_capacity_find(const pl_machine_size *machine, FILE *groups, FILE *mounts, pl_capacity *out)
{
    char file[PATH_MAX + 32];
    *out = (pl_capacity){.cores = machine->cores > 0 ? machine->cores : 1,
                         .memory = machine->memory,
                         .cores_by = by_machine,
                         .memory_by = by_machine};
    if (machine->affinity > 0 && machine->affinity < out->cores) {
        out->cores = machine->affinity;
        out->cores_by = by_affinity;
    }
    int64_t cores = least_of(groups, mounts, "cpu", cores_of, file);
    if (cores > 0 && cores < out->cores) {
        out->cores = (int)cores;
        out->cores_by = by_group;
        memcpy(out->cores_file, file, sizeof file);
    }
    int64_t memory = least_of(groups, mounts, "memory", memory_of, file);
    if (memory > 0 && memory < out->memory) {
        out->memory = memory;
        out->memory_by = by_group;
        memcpy(out->memory_file, file, sizeof file);
    }
}

/* ---- of this process ---- */

static int count_affinity(void)
{
    cpu_set_t sets[16]; /* 16,384 CPUs */
    return sched_getaffinity(0, sizeof sets, sets) == 0 ? CPU_COUNT_S(sizeof sets, sets) : 0;
}

void pl_capacity_own(pl_capacity *out)
{
    FILE *groups = fopen("/proc/self/cgroup", "re"), *mounts = fopen("/proc/self/mountinfo", "re");
    pl_machine_size machine = {.cores = (int)sysconf(_SC_NPROCESSORS_ONLN),
                               .affinity = count_affinity(),
                               .memory = (int64_t)sysconf(_SC_PHYS_PAGES) *
                                         (int64_t)sysconf(_SC_PAGESIZE)};
    pl_capacity_find(&machine, groups, mounts, out);
    if (groups) {
        fclose(groups);
    }
    if (mounts) {
        fclose(mounts);
    }
}
