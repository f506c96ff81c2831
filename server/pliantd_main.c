/* pliantd: the daemon. This file sets up the parts, waits for a signal, and takes them down. */
#include "server/api/openapi.h"
#include "server/tenants/audit.h"
#include "server/tenants/auth.h"
#include "server/base/activation.h"
#include "server/base/daemon.h"
#include "server/base/disk.h"
#include "server/batch/batch_system.h"
#include "server/run/admission.h"
#include "server/run/batch_executor.h"
#include "server/run/check_queue.h"
#include "server/run/cpu_set.h"
#include "server/run/disk_pause.h"
#include "server/run/dispatcher.h"
#include "server/run/executor.h"
#include "server/streams/exports.h"
#include "server/http/waiter.h"
#include "server/run/gpus.h"
#include "server/run/learning.h"
#include "server/run/memory_groups.h"
#include "server/http/http.h"
#include "server/store/idempotency.h"
#include "server/sessions/links.h"
#include "server/tenants/login.h"
#include "server/api/meshes.h"
#include "server/api/ops.h"
#include "server/base/notify.h"
#include "server/base/pool.h"
#include "server/base/state_folder.h"
#include "server/run/reconcile.h"
#include "server/run/reindex.h"
#include "server/api/routes.h"
#include "server/api/usage.h"
#include "server/sessions/events.h"
#include "server/sessions/removal.h"
#include "server/base/logger.h"
#include "server/sessions/sessions.h"
#include "server/base/spawn.h"
#include "server/base/ticker.h"
#include "server/store/store.h"
#include "server/store/usage.h"
#include "server/store/usage_backup.h"
#include "server/tenants/rate.h"
#include "server/streams/stream_hub.h"
#include "server/tenants/tenant_changes.h"
#include "server/tenants/tenant_command.h"
#include "server/tenants/tenants.h"
#include "server/http/tls.h"
#include "server/streams/watch.h"
#include "server/sweeps/sweep_runner.h"
#include "server/upkeep/upkeep_command.h"
#include "server/run/webhooks.h"

#include "protocol/log/session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FILE_THREADS = 4,
    FILE_QUEUE = 4096,
    CHECK_QUEUE = 512,
    COMMIT_THREADS = 16,
    DRAIN_MS = 3000,
    SWEEP_S = 3600,
    STOP_MS = 20000
};

/* A connection is a descriptor, and a stream that reads a log has three more; at least a quarter is reserved for
 * those. */
static void raise_descriptors(pl_daemon *d)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        rlim_t all = limit.rlim_cur > 256 ? limit.rlim_cur - 200 : 56;
        rlim_t room = all / 4 * 3;
        if ((rlim_t)d->options.max_connections > room) {
            pl_logf(PL_LEVEL_WARN, "connections limited to %llu by the open file limit",
                    (unsigned long long)room);
            d->options.max_connections = (int)room;
        }
        rlim_t readers = (all - (rlim_t)d->options.max_connections) / 3;
        d->log_readers_max = readers < INT_MAX ? (int)readers : INT_MAX;
    }
}

/* ---- up and down ---- */

static void start_sessions(void *context)
{
    pl_daemon *d = context;
    pl_executor_kick(d->executor);
}

static void sessions_changed(void *context, pl_session *ended)
{
    pl_daemon *d = context;
    pl_executor_kick(d->executor);
    if (ended) {
        pl_webhooks_add(d->webhooks, ended);
        pl_sweep_runner_kick(d->sweep_runner);
    }
}

static pl_limits limits_of(void *context, const char *name, bool group)
{
    pl_daemon *d = context;
    return group ? pl_tenants_group_limits(d->tenants, name) : pl_tenants_limits(d->tenants, name);
}

static int64_t limits_version(void *context)
{
    pl_daemon *d = context;
    return pl_tenants_version(d->tenants);
}

static pl_machine machine_of(const pl_daemon *d)
{
    return (pl_machine){.cores = d->options.cores,
                        .memory = d->machine_memory,
                        .gpus = d->gpus,
                        .batch = d->batch ? pl_batch_system_name(d->batch) : NULL,
                        .batch_default = d->options.batch_default,
                        .batch_cores = d->options.batch_cores,
                        .learning = d->learning};
}

static bool start_batch(pl_daemon *d)
{
    char error[400];
    bool good = pl_batch_load(&d->options, &d->batch, error, sizeof error);
    if (!good) {
        pl_logf(PL_LEVEL_ERROR, "--batch: %s", error);
    }
    return good;
}

/* Users, authentication and limits. */
static bool start_tenants(pl_daemon *d)
{
    pl_tenants_setup tenants = {.store = d->store,
                                .state = d->state,
                                .state_fd = d->state_fd,
                                .stop_fd = d->stop_fd,
                                .limits = d->options.limits};
    d->tenants = pl_tenants_create(&tenants);
    d->auth = d->tenants ? pl_auth_create(d->state_fd, &d->options, d->tenants) : NULL;
    return d->auth;
}

static pl_cpus *cpus_of(const pl_options *o)
{
    char *own = o->no_pin ? NULL : pl_cpu_set_of(0);
    pl_cpus *cpus = own ? pl_cpus_create(own, o->cores, "/sys/devices/system/node") : NULL;
    if (own && !cpus) {
        pl_logf(PL_LEVEL_INFO, "workers are not pinned: CPUs %s are fewer than --cores %d", own,
                o->cores);
    }
    free(own);
    return cpus;
}

/* The queue and the table of sessions, which call each other. */
static bool start_table(pl_daemon *d)
{
    pl_dispatcher_setup dispatcher = {.machine = machine_of(d),
                                      .batch_cores = d->options.batch_cores,
                                      .has_batch = d->batch,
                                      .interactive_cores = d->options.interactive_cores,
                                      .disk = d->disk,
                                      .store = d->store,
                                      .limits_of = limits_of,
                                      .limits_version = limits_version,
                                      .cpus = cpus_of(&d->options),
                                      .changed = sessions_changed,
                                      .context = d};
    d->events = pl_events_create();
    d->dispatcher = d->events ? pl_dispatcher_create(&dispatcher) : NULL;
    pl_sessions_setup sessions = {.store = d->store,
                                  .state_fd = d->state_fd,
                                  .files = d->files,
                                  .counters = &d->counters,
                                  .events = d->events,
                                  .ready = &d->ready,
                                  .longest_delay_ms = d->options.restart_delays_ms[PL_RESTARTS - 1],
                                  .queue = &pl_dispatcher_queue,
                                  .context = d->dispatcher};
    d->sessions = d->dispatcher ? pl_sessions_create(&sessions) : NULL;
    if (d->sessions) {
        pl_dispatcher_attach(d->dispatcher, d->sessions);
    }
    return d->sessions;
}

static bool start_prepared(pl_daemon *d)
{
    int owners = d->options.prepared;
    d->prepared_workers = pl_prepared_create(owners, d->tickers, &d->counters.prepared_starts);
    d->prepared_checks = pl_prepared_create(owners, d->tickers, &d->counters.prepared_starts);
    return d->prepared_workers && d->prepared_checks;
}

static bool start_sweeps(pl_daemon *d)
{
    d->sweeps = pl_sweeps_create(d->state, d->state_fd, d->store, d->sessions);
    pl_sweep_setup setup = {.host = {d},
                            .sweeps = d->sweeps,
                            .counters = &d->counters,
                            .sessions = d->sessions,
                            .tenants = d->tenants,
                            .executor = d->executor,
                            .disk = d->disk,
                            .ready = &d->ready,
                            .draining = &d->draining};
    d->sweep_runner = d->sweeps ? pl_sweep_runner_create(&setup) : NULL;
    return d->sweep_runner;
}

/* The parts that take sessions from their checks to their ends. */
static bool start_run(pl_daemon *d, int check_threads)
{
    pl_machine machine = machine_of(d);
    pl_preflight_host checks = {d->programs, d->prepared_checks, d->stop_fd, &d->counters};
    pl_worker_setup workers = {.options = &d->options,
                               .state = d->state,
                               .programs = d->programs,
                               .prepared = d->prepared_workers,
                               .memory = d->machine_memory,
                               .memory_groups = d->memory_groups,
                               .sessions = d->sessions,
                               .dispatcher = d->dispatcher,
                               .counters = &d->counters,
                               .learning = d->learning,
                               .follower = pl_watch_follower(d->watch),
                               .batch = d->batch,
                               .disk = d->disk,
                               .ready = &d->ready,
                               .draining = &d->draining};
    d->check_queue = pl_check_queue_create(d->sessions, &machine, &checks, d->commits,
                                           check_threads);
    d->executor = d->check_queue ? pl_executor_create(&workers) : NULL;
    if (!d->executor ||
        !(d->webhooks = pl_webhooks_create(d->state_fd, &d->options, d->sessions)) ||
        pl_reconcile(d->state, d->state_fd, d->store, d->sessions) != 0 || !start_sweeps(d)) {
        return false;
    }
    pl_reconcile_take_up(d->sessions, d->dispatcher, d->check_queue, d->executor);
    return pl_webhooks_load(d->webhooks);
}

static bool start_http(pl_daemon *d)
{
    pl_http_setup http = {.routes = pl_routes,
                          .policy = {.authenticate = pl_auth_principal,
                                     .authenticator = d->auth,
                                     .authenticate_address = pl_signer_principal,
                                     .signer = d->signer,
                                     .rate_allows = pl_rate_allows,
                                     .rate = d->rate,
                                     .has_room = pl_admission_has_room,
                                     .note = pl_audit_request,
                                     .notes = d->audit},
                          .options = &d->options,
                          .counters = &d->counters,
                          .draining = &d->draining,
                          .disk = d->disk,
                          .tickers = d->tickers,
                          .files = d->files,
                          .checks = d->checks,
                          .commits = d->commits,
                          .daemon = d};
    return pl_http_create(&http, d->url, &d->http);
}

/* Logs the source of the limits of sessions; for a control group, the file. */
static void say_capacity(const pl_options *o)
{
    const pl_capacity *c = &o->capacity;
    bool cores = strcmp(o->cores_by, "option") == 0, memory = strcmp(o->memory_by, "option") == 0;
    pl_logf(PL_LEVEL_INFO, "sessions may use %d cores (%s%s%s) and %.1f GB of memory (%s%s%s)",
            o->cores, o->cores_by, cores || !*c->cores_file ? "" : " ", cores ? "" : c->cores_file,
            1e-9 * (double)o->memory, o->memory_by, memory || !*c->memory_file ? "" : " ",
            memory ? "" : c->memory_file);
    if (o->cores > c->cores || o->memory > c->memory) {
        pl_logf(PL_LEVEL_WARN, "more than the daemon may use: %d cores (%s) and %.1f GB (%s)",
                c->cores, c->cores_by, 1e-9 * (double)c->memory, c->memory_by);
    }
}

static bool start_parts(pl_daemon *d)
{
    int check_threads = d->options.cores < 2 ? 2 : d->options.cores > 8 ? 8 : d->options.cores;
    d->machine_memory = (double)d->options.memory;
    say_capacity(&d->options);
    d->stop_fd = eventfd(0, EFD_CLOEXEC);
    pl_gpu_source gpus = {.options = &d->options,
                          .programs = d->programs,
                          .stop_fd = d->stop_fd,
                          .freed = start_sessions,
                          .context = d};
    return d->stop_fd >= 0 && start_batch(d) &&
           pl_program_folder(d->programs, sizeof d->programs) == 0 &&
           (d->gpus = pl_gpus_create(&gpus)) &&
           (d->capabilities = pl_capabilities_build(&d->options, d->machine_memory, d->gpus)) &&
           (d->store = pl_store_open(d->state, pl_reindex_is_new(d->state_fd), &d->counters)) &&
           (d->audit = pl_audit_create(d->store, &d->counters)) &&
           (d->learning = pl_learning_create(d->store)) && start_tenants(d) &&
           (d->login_codes = pl_login_codes_create()) && (d->signer = pl_signer_create()) &&
           (d->files = pl_pool_create("files", FILE_THREADS, FILE_QUEUE)) && start_table(d) &&
           (d->tickers = pl_tickers_create()) &&
           (d->streams = pl_stream_hub_create(&d->counters, d->tickers, d->events, d->sessions,
                                              d->log_readers_max)) &&
           (d->rate = pl_rate_create(&d->options, d->tenants, &d->counters)) &&
           (d->watch = pl_watch_create(d->sessions, &d->counters)) &&
           (d->checks = pl_pool_create("checks", check_threads, CHECK_QUEUE)) &&
           (d->commits = pl_pool_create("commits", COMMIT_THREADS, CHECK_QUEUE)) &&
           (d->exports = pl_exports_create(&d->counters, d->options.exports)) &&
           pl_memory_groups_start(&d->options, d->state_fd, &d->memory_groups) &&
           start_prepared(d) && start_run(d, check_threads) &&
           pl_tenants_start(d->tenants, start_sessions, d) &&
           (!d->options.tls_cert || pl_tls_load(d->options.tls_cert, d->options.tls_key)) &&
           start_http(d);
}

/* Anyone who sees the terminal that a daemon was started from could read its token. */
static void print_login(pl_daemon *d)
{
    char secret[33], url[400];
    pl_principal *owner = pl_auth_owner(d->auth);
    if (strncmp(d->url, "http", 4) == 0 && !d->options.no_auth && isatty(STDOUT_FILENO) &&
        pl_login_code_make(d->login_codes, d->url, owner, secret, url)) {
        printf("dashboard, valid once and for five minutes: %s\n"
               "later: pliant login prints another address\n",
               url);
    }
    pl_principal_release(owner);
}

static bool announce(pl_daemon *d)
{
    char line[400];
    int n = snprintf(line, sizeof line, "%s\n", d->url);
    if (pl_file_replace(d->state_fd, "url", line, (size_t)n, false) != PL_OK) {
        pl_logf(PL_LEVEL_ERROR, "%s/url: %s", d->state, strerror(errno));
        return false;
    }
    printf("pliantd %s listening on %s\n", PLIANT_VERSION, d->url);
    print_login(d);
    fflush(stdout);
    atomic_store(&d->ready, true);
    pl_executor_kick(d->executor);
    pl_notify("READY=1\nSTATUS=listening on %s", d->url);
    return true;
}

static void disk_changed(void *context, bool full)
{
    pl_daemon *d = context;
    if (full) {
        pl_executor_pause_workers(d->executor);
    } else {
        pl_disk_pause_end(d->sessions);
        pl_executor_kick(d->executor);
    }
}

/* Streams end first, so that their connections can end; then parts that requests wait for; then workers, unless they
 * stay. */
static void stop_parts(pl_daemon *d)
{
    uint64_t one = 1;
    atomic_store(&d->draining, true);
    pl_disk_stop(d->disk);
    if (d->stop_fd >= 0) {
        ssize_t put = write(d->stop_fd, &one, sizeof one);
        (void)put;
    }
    if (d->http) {
        pl_http_quiesce(d->http);
        unlinkat(d->state_fd, "url", 0);
    }
    if (d->streams) {
        pl_stream_hub_stop(d->streams);
    }
    pl_exports_stop(d->exports);
    pl_sweep_runner_stop(d->sweep_runner); /* it posts sessions */
    pl_check_queue_stop(d->check_queue);   /* requests that wait for a check continue in the pool */
    pl_pool_stop(d->checks);
    pl_pool_stop(d->commits);
    pl_check_queue_destroy(d->check_queue);
    pl_pool_stop(d->files);
    pl_http_destroy(d->http, DRAIN_MS);
    pl_tls_clear();
    pl_tenants_stop(d->tenants);
    if (d->executor && d->options.stop_workers) {
        pl_executor_stop_workers(d->executor, STOP_MS);
    }
    pl_gpus_stop(d->gpus);
    pl_executor_destroy(d->executor);
    pl_memory_groups_close(d->memory_groups);
    pl_prepared_destroy(d->prepared_workers);
    pl_prepared_destroy(d->prepared_checks);
    pl_exports_destroy(d->exports);
    pl_pool_destroy(d->checks);
    pl_pool_destroy(d->commits);
    pl_pool_destroy(d->files);
    pl_webhooks_destroy(d->webhooks);
    pl_sweep_runner_destroy(d->sweep_runner);
    pl_sweeps_destroy(d->sweeps);
    pl_watch_destroy(d->watch);
    pl_login_codes_destroy(d->login_codes);
    pl_signer_destroy(d->signer);
    pl_tenants_destroy(d->tenants);
    pl_learning_destroy(d->learning);
    pl_audit_destroy(d->audit);
    if (d->store && d->executor) {
        pl_usage_backup_write(d->store, d->state_fd);
    }
    pl_store_close(d->store);
    pl_tickers_destroy(d->tickers);
    pl_sessions_destroy(d->sessions);
    pl_dispatcher_destroy(d->dispatcher);
    pl_stream_hub_destroy(d->streams);
    pl_events_destroy(d->events);
    pl_rate_destroy(d->rate);
    pl_auth_destroy(d->auth);
    pl_gpus_destroy(d->gpus);
    pl_batch_system_destroy(d->batch);
    free(d->capabilities);
    if (d->stop_fd >= 0) {
        close(d->stop_fd);
    }
}

static void sweep(void *context)
{
    pl_daemon *d = context;
    pl_removal_sweep(d->sessions);
    pl_meshes_sweep(d->store, d->state_fd);
    pl_keys_sweep(d->store);
    pl_tokens_sweep(d->store);
    pl_audit_sweep(d->audit);
    pl_usage_sweep(d->store);
    pl_usage_sample_bytes(d->store, d->sessions, 0);
    pl_usage_backup_write(d->store, d->state_fd);
}

/* The command line, for SIGHUP. */
typedef struct command_line {
    int count;
    char **words;
} command_line;

static void reload(pl_daemon *d, const command_line *line)
{
    pl_options fresh;
    if (pl_options_parse(line->count, line->words, &fresh) != PL_OPTIONS_RUN) {
        pl_logf(PL_LEVEL_ERROR, "%s: rejected; nothing changed", d->options.config);
    } else {
        int changed = pl_options_renew(&d->options, &fresh);
        pl_logf_level(d->options.level);
        pl_logf_choose(d->options.log_format);
        pl_logf(PL_LEVEL_INFO, "options reread: %d changed", changed);
    }
    pl_options_clear(&fresh);
    if (d->options.tls_cert && pl_tls_load(d->options.tls_cert, d->options.tls_key)) {
        pl_logf(PL_LEVEL_INFO, "%s reread", d->options.tls_cert);
    }
}

static void wait_for_signal(pl_daemon *d, const sigset_t *signals, const command_line *line)
{
    for (;;) {
        pl_pool_submit(d->files, sweep, d);
        int got = sigtimedwait(signals, NULL, &(struct timespec){.tv_sec = SWEEP_S});
        if (got == SIGHUP) {
            reload(d, line);
        } else if (got > 0) {
            pl_logf(PL_LEVEL_INFO, "%s: shutting down; %s", strsignal(got),
                    d->options.stop_workers ? "running sessions stop at a checkpoint"
                                            : "running sessions continue");
            pl_notify("STOPPING=1");
            return;
        }
    }
}

static int print_openapi(void)
{
    char *text = pl_openapi_print(pl_routes);
    if (!text) {
        return 1;
    }
    puts(text);
    free(text);
    return 0;
}

/* --check-config: options that are valid individually may still not fit together. */
static int check_config(const pl_options *o)
{
    if (o->tls_cert && !pl_tls_load(o->tls_cert, o->tls_key)) {
        return 2;
    }
    pl_tls_clear();
    pl_batch_system *batch;
    char error[400];
    if (!pl_batch_load(o, &batch, error, sizeof error)) {
        fprintf(stderr, "pliantd: --batch: %s\n", error);
        return 2;
    }
    pl_batch_system_destroy(batch);
    printf("%s: good\n", o->config ? o->config : "the options");
    return 0;
}

int main(int argc, char **argv)
{
    static pl_daemon daemon;
    pl_daemon *d = &daemon;
    if (argc > 1 && pl_tenant_command_is(argv[1])) {
        return pl_tenant_command(argc - 1, argv + 1);
    }
    if (argc > 1 && pl_upkeep_command_is(argv[1])) {
        return pl_upkeep_command(argc - 1, argv + 1);
    }
    switch (pl_options_parse(argc, argv, &d->options)) {
    case PL_OPTIONS_OPENAPI:
        return print_openapi();
    case PL_OPTIONS_DONE:
        return 0;
    case PL_OPTIONS_WRONG:
        return 2;
    default:
        break;
    }
    if (d->options.check_config) {
        return check_config(&d->options);
    }
    pl_logf_level(d->options.level);
    pl_notify_begin();
    pl_logf_choose(d->options.log_format);
    if (!pl_activation_take(&d->options)) {
        return 2;
    }
    /* Blocked in every thread; sigtimedwait receives them here. A lost client is reported as an error code, not by a
     * signal. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    umask(077);
    d->state_fd = d->stop_fd = -1;
    int lock_fd = -1;
    bool good = pl_state_open(d->options.state, d->state, &d->state_fd) &&
                (lock_fd = pl_state_lock(d->state, d->state_fd)) >= 0;
    good = good && (d->disk = pl_disk_create(d->state_fd, d->options.disk_reserve));
    if (good && d->options.reindex) {
        good = pl_reindex(d->state, d->state_fd, &d->counters) == 0;
    } else if (good) {
        raise_descriptors(d);
        pl_give_way();
        good = start_parts(d) && announce(d) && pl_disk_watch(d->disk, disk_changed, d);
        if (good) {
            wait_for_signal(d, &signals, &(command_line){argc, argv});
        }
        stop_parts(d);
    }
    pl_disk_destroy(d->disk);
    if (lock_fd >= 0) {
        close(lock_fd);
    }
    if (d->state_fd >= 0) {
        close(d->state_fd);
    }
    pl_options_clear(&d->options);
    return good ? 0 : 1;
}
