/* pliant-worker: run one session directory, or several on one GPU, or a pilot. */
#include "server/worker/crash_report.h"
#include "server/worker/compare.h"
#include "server/worker/gpu.h"
#include "server/worker/memory_group.h"
#include "server/worker/pilot.h"
#include "server/worker/prepared.h"
#include "server/worker/replay.h"
#include "server/worker/sandbox.h"
#include "server/worker/session_run.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: pliant-worker --session DIR --attempt N [--threads T] [--threads-most M]\n"
    "                     [--memory BYTES] [--checkpoint-every SECONDS]\n"
    "                     [--gpu UUID|auto [--gpu-plugin FILE] | --profile]\n"
    "       pliant-worker --session DIR --attempt N --session DIR --attempt N ... --gpu UUID|auto\n"
    "                     [--threads T] [--memory BYTES] [--checkpoint-every SECONDS]\n"
    "       pliant-worker --session DIR --attempt N --compare STEP --entries E\n"
    "                     [--references R] [--threads T] [--gpu UUID|auto]\n"
    "       pliant-worker --session DIR --replay [--threads T] [--gpu UUID|auto]\n"
    "       pliant-worker --pilot DIR [--threads T] [--memory BYTES] [--idle SECONDS]\n"
    "                     [--until SECONDS]\n"
    "       pliant-worker --devices [--gpu-plugin FILE]\n"
    "\n"
    "Runs the session in DIR: reads DIR/scene.json and DIR/meshes, writes DIR/log, DIR/exit.json\n"
    "and DIR/worker.log. A later attempt resumes from the newest checkpoint, and compares the\n"
    "frames that it repeats with the stored ones.\n"
    "\n"
    "Several sessions of one owner run in one process, one thread each, on the GPU that all of\n"
    "them ask for. Each ends independently. A fault of the GPU ends all; exit.json then says\n"
    "`device_fault` and whether the session may have caused it. --threads applies to each,\n"
    "--memory to all together.\n"
    "\n"
    "  --session DIR    the session directory\n"
    "  --attempt N      number of this attempt, larger than every earlier one\n"
    "  --threads T      threads to compute with (default: the scene's resources.cores)\n"
    "  --threads-most M follow DIR/cores.json, which may ask for up to M threads while it runs; "
    "the\n"
    "                   worker answers in DIR/threads.json. The results are the same\n"
    "  --memory BYTES   maximum memory to use (default: no limit)\n"
    "  --memory-group DIR\n"
    "                   enter this control group first; the kernel enforces its memory limit\n"
    "  --checkpoint-every SECONDS\n"
    "                   minimum time between two checkpoints (default 10); longer if they would\n"
    "                   take more than 2 % of the time\n"
    "  --compare STEP   compute that step from one state with the settings of each of\n"
    "                   DIR/entry-0.json, ...; results go to DIR/compare.ndjson\n"
    "  --entries E      number of entries\n"
    "  --references R   entries from number R on are references: stop after the first that "
    "succeeds\n"
    "  --replay         compute the session again, with the controls that were applied, and "
    "compare\n"
    "                   every frame. Prints one line of JSON; exits 3 if a frame differs. Changes\n"
    "                   nothing\n"
    "  --parent PID     stop as by SIGTERM when this process, which started the program, ends\n"
    "  --uid N          when started by root: give DIR to this uid, and run as it\n"
    "  --gpu UUID       GPU for a scene that asks for one; auto: the one with the most unused\n"
    "                   memory. Without a GPU such a scene fails with the reason\n"
    "  --gpu-plugin FILE\n"
    "                   GPU plug-in (default: libpliant_cuda.so beside the program)\n"
    "  --profile        compute frames on one and two threads in turns, and write "
    "DIR/profile.json:\n"
    "                   the time of each phase, and how much faster more threads could be\n"
    "  --pilot DIR      run as a batch job for many sessions: start a worker for each assignment\n"
    "                   that the daemon puts into DIR, as many at once as T threads and\n"
    "                   --memory allow. SIGTERM stops all at their checkpoints\n"
    "  --idle SECONDS   end a pilot that has been idle for this time (default 10)\n"
    "  --until SECONDS  let a pilot accept no session after this time (default: no limit)\n"
    "  --devices        print the GPUs as JSON, or why none is usable\n"
    "  --prepared ROOM  link the libraries, wait, and fork a worker for each message on standard\n"
    "                   output, a socket; ROOM is the space that shows their arguments\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 succeeded, 3 failed, 4 cancelled, 5 lock held or attempt stale, 6 stopped by\n"
    "SIGTERM, 7 paused, 8 the GPU failed, 9 and 10 exit.json could not be written because of the\n"
    "disk or for lack of memory (after 6 to 10 a later attempt resumes), 2 usage. Of\n"
    "several sessions: 0 if each has left its exit.json, 8, or 2 and 5 if one has left none.\n";

enum { SESSIONS_MAX = 256 }; /* in one process */

static int64_t number(const char *option, const char *text, int64_t maximum)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > maximum) {
        fprintf(stderr, "pliant-worker: --%s takes a number from 1 to %" PRId64 ", not '%s'\n",
                option, maximum, text);
        exit(PL_WORKER_USAGE);
    }
    return value;
}

static double seconds(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value <= 1e6)) {
        fprintf(stderr, "pliant-worker: --%s takes seconds from 0 to 1e6, not '%s'\n", option,
                text);
        exit(PL_WORKER_USAGE);
    }
    return value;
}

/* A BLAS with its own threads starts them before main, outside the sandbox and in addition to this program's
 * fixed-order parallelism. Restarts the program with an environment that disables them. */
static void restart_without_library_threads(char **argv)
{
    struct stat tasks;
    /* The link count of /proc/self/task is 2 plus the number of threads. */
    if (getenv("OPENBLAS_NUM_THREADS") || stat("/proc/self/task", &tasks) != 0 ||
        tasks.st_nlink <= 3)
        return;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"session", required_argument, NULL, 's'},
                                            {"attempt", required_argument, NULL, 'a'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"threads-most", required_argument, NULL, 'n'},
                                            {"memory", required_argument, NULL, 'm'},
                                            {"memory-group", required_argument, NULL, 'o'},
                                            {"checkpoint-every", required_argument, NULL, 'c'},
                                            {"compare", required_argument, NULL, 'p'},
                                            {"entries", required_argument, NULL, 'e'},
                                            {"references", required_argument, NULL, 'r'},
                                            {"parent", required_argument, NULL, 'R'},
                                            {"uid", required_argument, NULL, 'u'},
                                            {"gpu", required_argument, NULL, 'g'},
                                            {"gpu-plugin", required_argument, NULL, 'l'},
                                            {"pilot", required_argument, NULL, 'P'},
                                            {"idle", required_argument, NULL, 'i'},
                                            {"until", required_argument, NULL, 'U'},
                                            {"replay", no_argument, NULL, 'y'},
                                            {"profile", no_argument, NULL, 'f'},
                                            {"devices", no_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    static pl_session_options sessions[SESSIONS_MAX];
    pl_session_options run = {.checkpoint_every = 10};
    int count = 0;
    pl_compare_options compare = {.references = INT32_MAX};
    bool devices = false, replay = false;
    pl_pilot_options pilot = {.idle = 10};
    const char *group = NULL;
    pl_prepared_run(&argc, &argv);
    pl_sandbox_close_inherited();
    restart_without_library_threads(argv);
    pl_crash_report_begin();
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (c) {
        case 's':
            if (count == SESSIONS_MAX) {
                fprintf(stderr, "pliant-worker: at most %d sessions\n", SESSIONS_MAX);
                return PL_WORKER_USAGE;
            }
            sessions[count++].directory = optarg;
            break;
        case 'a':
            sessions[count > 0 ? count - 1 : 0].attempt = (int32_t)number("attempt", optarg,
                                                                          INT32_MAX);
            break;
        case 't':
            run.threads = (int32_t)number("threads", optarg, 4096);
            break;
        case 'n':
            run.threads_most = (int32_t)number("threads-most", optarg, 4096);
            break;
        case 'm':
            run.memory = (uint64_t)number("memory", optarg, INT64_MAX / 2);
            break;
        case 'o':
            group = optarg;
            break;
        case 'c':
            run.checkpoint_every = seconds("checkpoint-every", optarg);
            break;
        case 'p':
            compare.step = number("compare", optarg, INT64_MAX / 2);
            break;
        case 'e':
            compare.entries = (int32_t)number("entries", optarg, 1000);
            break;
        case 'r':
            compare.references = (int32_t)number("references", optarg, 1000);
            break;
        case 'R':
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            if (getppid() != (pid_t)number("parent", optarg, INT32_MAX))
                return PL_WORKER_STOPPED;
            break;
        case 'u':
            run.uid = (uint32_t)number("uid", optarg, UINT32_MAX - 1);
            break;
        case 'g':
            run.gpu = optarg;
            break;
        case 'l':
            run.gpu_plugin = optarg;
            break;
        case 'P':
            pilot.directory = optarg;
            break;
        case 'i':
            pilot.idle = seconds("idle", optarg);
            break;
        case 'U':
            pilot.seconds = seconds("until", optarg);
            break;
        case 'y':
            replay = true;
            break;
        case 'f':
            run.profile = true;
            break;
        case 'd':
            devices = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'v':
            puts("pliant-worker " PLIANT_VERSION);
            return 0;
        default:
            fputs("Try pliant-worker --help.\n", stderr);
            return PL_WORKER_USAGE;
        }
    if (pilot.directory && count == 0 && optind == argc && !devices && !replay) {
        pilot.cores = run.threads > 0 ? run.threads : 1;
        pilot.memory = run.memory;
        return pl_pilot_run(&pilot);
    }
    int attempts = 0;
    for (int i = 0; i < (count > 0 ? count : 1); i++) {
        attempts += sessions[i].attempt > 0;
        run.directory = sessions[i].directory;
        run.attempt = sessions[i].attempt;
        sessions[i] = run;
    }
    if (devices && !run.directory && optind == argc)
        return pl_worker_gpu_list(run.gpu_plugin) ? PL_WORKER_SUCCEEDED : PL_WORKER_FAILED;
    if (replay && count == 1 && optind == argc && !devices && !compare.step && !run.attempt)
        return pl_replay_run(&run);
    if (replay || devices || !count || attempts != count || optind != argc ||
        (compare.step > 0) != (compare.entries > 0) || (count > 1 && (compare.step || !run.gpu)) ||
        (run.profile && (run.gpu || compare.step))) {
        fputs(usage, stderr);
        return PL_WORKER_USAGE;
    }
    if (group)
        pl_memory_group_enter(group);
    if (count > 1)
        return pl_session_run_all(sessions, count);
    int status = compare.step ? (int)pl_compare_run(&run, &compare) : (int)pl_session_run(&run);
    return run.gpu ? status : pl_prepared_leave(status);
}
