#include "server/upkeep/doctor.h"

#include "protocol/log/small_file.h"
#include "server/base/spawn.h"
#include "server/run/gpus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

enum { FILES_LEAST = 4096, SMALL_FILE = 1 << 16, WORKER_MS = 20000 };
#define GB 1e9

/* Reads a kernel file without its last newline; false if it cannot be read. */
static bool read_text(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    bool good = file && fgets(out, (int)size, file);
    if (file) {
        fclose(file);
    }
    if (good) {
        out[strcspn(out, "\n")] = 0;
    }
    return good;
}

/* ---- cores and memory ---- */

static void look_at_cores(pl_doctor *d)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    bool many = d->options->cores > online;
    pl_doctor_say(d, "machine", many ? PL_FINDING_WARNING : PL_FINDING_OK,
                  many ? "sessions will wait for each other's cores: lower --cores" : NULL,
                  "%ld cores, %d of them for sessions; %.1f GB of memory", online,
                  d->options->cores, memory / GB);
}

/* The version 2 control group of this process; "" if unknown. */
static void own_group(char out[PATH_MAX])
{
    char line[PATH_MAX];
    *out = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0::", 3) == 0) {
            snprintf(out, PATH_MAX, "/sys/fs/cgroup%.4000s", line + 3);
        }
    }
    if (file) {
        fclose(file);
    }
}

/* Finds the lowest limit of a group and its ancestors; false if unlimited. */
static bool tightest(const char *group, const char *file, double *least)
{
    char path[PATH_MAX], text[80], part[PATH_MAX];
    bool found = false;
    snprintf(part, sizeof part, "%s", group);
    for (char *end = part + strlen(part); end > part + strlen("/sys/fs/"); *end = 0) {
        snprintf(path, sizeof path, "%.4000s/%s", part, file);
        double most, period = 1;
        if (read_text(path, text, sizeof text) && sscanf(text, "%lf %lf", &most, &period) >= 1) {
            most /= period;
            *least = !found || most < *least ? most : *least;
            found = true;
        }
        end = strrchr(part, '/');
    }
    return found;
}

/* Checks this process's limits; a service has its own, set in its unit. */
static void look_at_group(pl_doctor *d)
{
    char group[PATH_MAX];
    double cores = 0, memory = 0, processes = 0;
    own_group(group);
    bool few_cores = tightest(group, "cpu.max", &cores) && cores < d->options->cores;
    bool has_memory = tightest(group, "memory.max", &memory);
    bool few = tightest(group, "pids.max", &processes) && processes < 512;
    if (few_cores) {
        pl_doctor_say(
            d, "group", PL_FINDING_WARNING, "lower --cores, or raise CPUQuota= of the unit",
            "the control group has %.1f cores, but sessions may use %d", cores, d->options->cores);
    }
    if (few) {
        pl_doctor_say(d, "group", PL_FINDING_ERROR, "raise TasksMax= of the unit",
                      "the control group allows %.0f processes and threads", processes);
    }
    if (has_memory) {
        pl_doctor_say(d, "group", PL_FINDING_WARNING,
                      "the daemon allocates the machine's memory: with MemoryMax= sessions may be "
                      "killed instead of waiting",
                      "the control group is limited to %.1f GB of memory", memory / GB);
    } else if (!few_cores && !few) {
        pl_doctor_say(d, "group", PL_FINDING_OK, NULL, "no control group limit");
    }
}

static void look_at_limits(pl_doctor *d)
{
    struct rlimit files, processes;
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NPROC, &processes);
    rlim_t all = files.rlim_max > 256 ? files.rlim_max - 200 : 56; /* as in the daemon */
    bool few = (rlim_t)d->options->max_connections > all / 4 * 3;
    if (files.rlim_max < FILES_LEAST || few) {
        pl_doctor_say(
            d, "limits", PL_FINDING_WARNING, "raise LimitNOFILE= of the unit, or ulimit -n",
            "%llu open files are allowed, enough for %llu connections of --max-connections %d",
            (unsigned long long)files.rlim_max, (unsigned long long)(all / 4 * 3),
            d->options->max_connections);
    } else if (processes.rlim_cur != RLIM_INFINITY && processes.rlim_cur < 512) {
        pl_doctor_say(
            d, "limits", PL_FINDING_WARNING, "raise LimitNPROC= of the unit, or ulimit -u",
            "%llu processes and threads are allowed", (unsigned long long)processes.rlim_cur);
    } else {
        pl_doctor_say(d, "limits", PL_FINDING_OK, NULL, "%llu open files are allowed",
                      (unsigned long long)files.rlim_max);
    }
}

/* ---- the clock ---- */

static void look_at_clock(pl_doctor *d)
{
    struct timex state = {0};
    struct stat program;
    time_t now = time(NULL);
    bool behind = stat("/proc/self/exe", &program) == 0 && program.st_mtime - 86400 > now;
    char text[40];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", gmtime(&now));
    if (behind) {
        pl_doctor_say(d, "clock", PL_FINDING_ERROR, "set the clock: timedatectl set-ntp true",
                      "%s, which is earlier than the build of this program", text);
    } else if (adjtimex(&state) == TIME_ERROR) {
        pl_doctor_say(d, "clock", PL_FINDING_WARNING,
                      "tokens, sessions and usage record this time: install and start chrony or "
                      "systemd-timesyncd",
                      "%s, not synchronised", text);
    } else {
        pl_doctor_say(d, "clock", PL_FINDING_OK, NULL, "%s, synchronised", text);
    }
}

/* ---- programs and their sandbox ---- */

/* Runs a program without output. Returns its exit status, or -1 if it does not start. */
static int start_program(const char *path)
{
    char *argv[] = {(char *)path, (char *)"--version", NULL};
    pl_child child;
    int status = -1, null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int error = null < 0 ? errno : pl_spawn(argv, null, null, "/", &child);
    pl_close_fd(null);
    if (error) {
        return -1;
    }
    if (pl_child_wait(&child, WORKER_MS, -1, &status) != PL_WAIT_ENDED) {
        pl_child_kill(&child);
        return -1;
    }
    return status;
}

static void look_at_programs(pl_doctor *d)
{
    static const char *const names[] = {"pliant-worker", "pliant-preflight"};
    char folder[PATH_MAX], path[PATH_MAX + 32];
    bool good = pl_program_folder(folder, sizeof folder) == 0;
    for (int i = 0; good && i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (start_program(path) != 0) {
            good = false;
            pl_doctor_say(
                d, "programs", PL_FINDING_ERROR,
                "install Pliant completely; run the program by hand with --version to see "
                "which library is missing",
                "%s does not start", path);
        }
    }
    if (good) {
        pl_doctor_say(d, "programs", PL_FINDING_OK, NULL, "worker and check start, in %s", folder);
    }
}

static void look_at_sandbox(pl_doctor *d)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    bool filters = prctl(PR_GET_SECCOMP) >= 0;
    if (abi > 0 && filters) {
        pl_doctor_say(d, "sandbox", PL_FINDING_OK, NULL, "Landlock %ld and seccomp", abi);
        return;
    }
    pl_doctor_say(d, "sandbox", PL_FINDING_WARNING,
                  abi > 0 ? "use a kernel with CONFIG_SECCOMP_FILTER"
                          : "workers can read every file of the daemon's user: boot with "
                            "lsm=landlock,... or set --worker-uids",
                  "%s%s is missing in this kernel", abi > 0 ? "" : "Landlock",
                  filters ? "" : (abi > 0 ? "seccomp" : " and seccomp"));
}

/* ---- GPUs ---- */

static int count_devices(bool *usable)
{
    int count = 0;
    DIR *dev = opendir("/dev");
    *usable = true;
    for (struct dirent *e; dev && (e = readdir(dev));) {
        char path[280];
        if (strncmp(e->d_name, "nvidia", 6) == 0 && e->d_name[6] >= '0' && e->d_name[6] <= '9') {
            snprintf(path, sizeof path, "/dev/%s", e->d_name);
            *usable = *usable && access(path, R_OK | W_OK) == 0;
            count++;
        }
    }
    if (dev) {
        closedir(dev);
    }
    return count;
}

static void say_gpus(pl_doctor *d, pl_gpus *gpus)
{
    char driver[160] = "no driver";
    bool usable;
    int devices = count_devices(&usable), count = pl_gpus_count(gpus);
    read_text("/proc/driver/nvidia/version", driver, sizeof driver);
    if (count > 0) {
        pl_gpu_load load = pl_gpus_load(gpus, 0);
        pl_doctor_say(d, "gpu", PL_FINDING_OK, NULL, "%d, the first: %s, %.1f GB; %s", count,
                      load.name, load.memory / GB, driver);
    } else if (devices > 0 || strcmp(d->options->gpus, "auto") != 0) {
        pl_doctor_say(d, "gpu", PL_FINDING_ERROR,
                      usable ? "update the driver, or start with --gpus none"
                             : "give the service the driver's devices: copy systemd/gpu.conf "
                               "(deploy/README.md)",
                      "none is usable: %.200s; %.80s", pl_gpus_reason(gpus), driver);
    } else {
        pl_doctor_say(d, "gpu", PL_FINDING_OK, NULL, "none: %s", pl_gpus_reason(gpus));
    }
}

static void freed(void *context) {}

static void look_at_gpus(pl_doctor *d)
{
    char folder[PATH_MAX];
    if (strcmp(d->options->gpus, "none") == 0) {
        pl_doctor_say(d, "gpu", PL_FINDING_OK, NULL, "not used: --gpus none");
        return;
    }
    pl_gpu_source source = {
        .options = d->options, .programs = folder, .stop_fd = -1, .freed = freed};
    pl_gpus *gpus = pl_program_folder(folder, sizeof folder) == 0 ? pl_gpus_create(&source) : NULL;
    if (gpus) {
        say_gpus(d, gpus);
        pl_gpus_stop(gpus);
        pl_gpus_destroy(gpus);
    }
}

void pl_doctor_machine(pl_doctor *d)
{
    look_at_cores(d);
    look_at_group(d);
    look_at_limits(d);
    look_at_clock(d);
    look_at_sandbox(d);
    look_at_programs(d);
    look_at_gpus(d);
}
