#include "server/api/metrics_page.h"

#include "server/base/spawn.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int count_descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *e; all && (e = readdir(all));) {
        count += e->d_name[0] != '.';
    }
    if (all) {
        closedir(all);
    }
    return count - 1; /* without the directory's own descriptor */
}

static double resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%*d %ld", &pages) != 1) {
        pages = 0;
    }
    if (file) {
        fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void put(pl_metrics_page *p, const char *name, const char *type, const char *help,
                double value)
{
    pl_metrics_put(p, "# HELP process_%s %s\n# TYPE process_%s %s\nprocess_%s %.15g\n", name, help,
                   name, type, name, value);
}

void pl_metrics_put_process(pl_metrics_page *p)
{
    struct rlimit files;
    double began = (double)time(NULL) - pl_process_age(pl_process_start(getpid()));
    getrlimit(RLIMIT_NOFILE, &files);
    put(p, "cpu_seconds_total", "counter", "Processor time of the daemon, without its workers.",
        cpu_seconds());
    put(p, "resident_memory_bytes", "gauge", "Memory of the daemon, without its workers.",
        resident_bytes());
    put(p, "open_fds", "gauge", "Open files and connections.", count_descriptors());
    put(p, "max_fds", "gauge", "Limit of open files and connections.", (double)files.rlim_cur);
    put(p, "start_time_seconds", "gauge", "Start time of the daemon.", began);
}
