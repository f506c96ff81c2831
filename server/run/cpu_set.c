#include "server/run/cpu_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_TEXT = 12 }; /* most bytes of a CPU in a text */

/* ---- texts ---- */

bool pl_cpu_set_parse(const char *text, cpu_set_t *out)
{
    CPU_ZERO(out);
    while (*text && *text != '\n') {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text) {
            return false;
        }
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
        }
        if (end == text || first < 0 || last < first || last >= CPU_SETSIZE) {
            return false;
        }
        for (long cpu = first; cpu <= last; cpu++) {
            CPU_SET((int)cpu, out);
        }
        text = *end == ',' ? end + 1 : end;
        if (*end && *end != ',' && *end != '\n') {
            return false;
        }
    }
    return CPU_COUNT(out) > 0;
}

char *pl_cpu_set_print(const cpu_set_t *set)
{
    size_t room = (size_t)CPU_COUNT(set) * CPU_TEXT + 1, used = 0;
    char *text = CPU_COUNT(set) ? malloc(room) : NULL;
    for (int cpu = 0; text && cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, set)) {
            continue;
        }
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set)) {
            last++;
        }
        const char *before = used ? "," : "";
        used += (size_t)(last > cpu
                             ? snprintf(text + used, room - used, "%s%d-%d", before, cpu, last)
                             : snprintf(text + used, room - used, "%s%d", before, cpu));
        cpu = last;
    }
    return text;
}

/* ---- affinities ---- */

char *pl_cpu_set_of(pid_t pid)
{
    cpu_set_t set;
    return sched_getaffinity(pid, sizeof set, &set) == 0 ? pl_cpu_set_print(&set) : NULL;
}

/* Move each thread that is not on the set yet. Returns how many, or -1 with errno if one cannot be moved. */
static int move_threads(DIR *tasks, const cpu_set_t *set)
{
    int moved = 0;
    rewinddir(tasks);
    for (struct dirent *e; (e = readdir(tasks));) {
        cpu_set_t now;
        pid_t thread = (pid_t)atoi(e->d_name);
        if (thread <= 0 || sched_getaffinity(thread, sizeof now, &now) != 0 ||
            CPU_EQUAL(&now, set)) {
            continue;
        }
        if (sched_setaffinity(thread, sizeof *set, set) == 0) {
            moved++;
        } else if (errno != ESRCH) {
            return -1;
        }
    }
    return moved;
}

int pl_cpu_set_pin(pid_t pid, const char *text)
{
    enum { ROUNDS = 8 }; /* a thread that was moved late may have started another one before */
    cpu_set_t set;
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = pl_cpu_set_parse(text, &set) ? opendir(path) : NULL;
    if (!tasks) {
        return errno;
    }
    int moved = 1, error = 0;
    for (int i = 0; i < ROUNDS && moved > 0; i++) {
        moved = move_threads(tasks, &set);
        error = moved < 0 ? errno : 0;
    }
    closedir(tasks);
    return error;
}

void pl_cpu_set_enter(const char *text, cpu_set_t *before)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof *before, before) != 0) {
        CPU_ZERO(before);
    } else if (text && pl_cpu_set_parse(text, &set)) {
        sched_setaffinity(0, sizeof set, &set);
    }
}

void pl_cpu_set_leave(const char *text, const cpu_set_t *before)
{
    if (text && CPU_COUNT(before) > 0) {
        sched_setaffinity(0, sizeof *before, before);
    }
}
