#include "server/api/ops.h"

#include "protocol/export/export.h"
#include "protocol/log/directory_sync.h"
#include "protocol/text/json.h"
#include "protocol/scene/scene_json.h"
#include "server/base/daemon.h"
#include "server/base/disk.h"
#include "server/api/metrics_page.h"
#include "server/http/tls.h"
#include "server/run/gpus.h"
#include "server/run/learning.h"
#include "server/sessions/live_counts.h"
#include "server/sessions/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reply_copy(pl_request *r, int status, const char *type, const char *text)
{
    char *copy = strdup(text);
    pl_reply_text(r, status, type, copy, strlen(text));
}

void pl_handle_health(pl_request *r)
{
    reply_copy(r, 200, "application/json", "{\"status\": \"ok\"}");
    pl_reply_header(r, "Cache-Control", "no-store");
}

void pl_handle_ready(pl_request *r)
{
    const pl_daemon *d = pl_request_daemon(r);
    pl_disk_state disk = pl_disk_full(d->disk) ? pl_disk_look(d->disk) : (pl_disk_state){0};
    if (disk.full) {
        pl_reply_problemf(r, 503, "not_ready", "Not ready", "%s", disk.reason);
        pl_reply_header(r, "Retry-After", "10");
    } else if (atomic_load(&d->ready) && !atomic_load(&d->draining)) {
        reply_copy(r, 200, "application/json", "{\"status\": \"ready\"}");
        pl_reply_header(r, "Cache-Control", "no-store");
    } else {
        pl_reply_problem(r, 503, "not_ready", "Not ready",
                         "the daemon is starting or shutting down", NULL);
        pl_reply_header(r, "Retry-After", "1");
    }
}

void pl_handle_version(pl_request *r)
{
    reply_copy(r, 200, "application/json",
               "{\"name\": \"pliant\", \"version\": \"" PLIANT_VERSION
               "\", \"api\": 1, \"scene\": 1, \"record\": 1}");
}

void pl_handle_capabilities(pl_request *r)
{
    pl_reply_document(r, "application/json", strdup(pl_request_daemon(r)->capabilities));
}

static void put_exports(pl_json_writer *w)
{
    pl_json_begin_array(w);
    for (int k = 0; k < PL_EXPORT_FORMATS; k++) {
        const pl_export_about *format = pl_export_describe((pl_export_format)k);
        pl_json_begin_object(w);
        pl_json_set_string(w, "name", format->name);
        pl_json_set_string(w, "media_type", format->media_type);
        pl_json_set_boolean(w, "series", format->series);
        pl_json_set_boolean(w, "bodies", format->bodies);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

char *pl_capabilities_build(const pl_options *options, double memory, pl_gpus *gpus)
{
    pl_json_writer devices = {0}, exports = {0}, limits = {0};
    pl_json_begin_array(&devices);
    pl_json_begin_object(&devices);
    pl_json_set_string(&devices, "device", "cpu");
    pl_json_set_integer(&devices, "cores", options->cores);
    pl_json_set_string(&devices, "cores_by", options->cores_by);
    pl_json_set_number(&devices, "memory", memory);
    pl_json_set_string(&devices, "memory_by", options->memory_by);
    pl_json_end_object(&devices);
    for (int i = 0; i < pl_gpus_count(gpus); i++) {
        pl_gpu_load gpu = pl_gpus_load(gpus, i);
        pl_json_begin_object(&devices);
        pl_json_set_string(&devices, "device", "gpu");
        pl_json_set_string(&devices, "uuid", gpu.uuid);
        pl_json_set_string(&devices, "name", gpu.name);
        pl_json_set_string(&devices, "capability", gpu.capability);
        pl_json_set_number(&devices, "memory", gpu.memory);
        pl_json_end_object(&devices);
    }
    pl_json_end_array(&devices);
    put_exports(&exports);
    pl_json_begin_object(&limits);
    pl_json_set_integer(&limits, "body_bytes", options->max_body);
    pl_json_set_integer(&limits, "mesh_bytes", options->max_mesh);
    pl_json_set_integer(&limits, "sessions_queued", options->max_queued);
    pl_json_set_integer(&limits, "gpu_share", options->gpu_share);
    pl_json_set_integer(&limits, "connections", options->max_connections);
    pl_json_set_integer(&limits, "cores", options->cores);
    pl_json_set_number(&limits, "memory", memory);
    pl_json_end_object(&limits);
    char *devices_text = pl_json_finish(&devices, NULL);
    char *exports_text = pl_json_finish(&exports, NULL);
    char *limits_text = pl_json_finish(&limits, NULL);
    char *text = devices_text && exports_text && limits_text
                     ? pl_capabilities_encode(devices_text, exports_text, limits_text)
                     : NULL;
    free(devices_text);
    free(exports_text);
    free(limits_text);
    return text;
}

/* ---- Prometheus ---- */

static void put_sessions(pl_metrics_page *p, const pl_sessions *sessions, int cores)
{
    pl_metrics_put(p, "# HELP pliant_sessions Sessions by state.\n# TYPE pliant_sessions gauge\n");
    for (int i = 0; i < PL_STATE_COUNT; i++) {
        pl_metrics_put(p, "pliant_sessions{state=\"%s\"} %lld\n",
                       pl_state_name((pl_session_state)i),
                       (long long)pl_sessions_count(sessions, (pl_session_state)i));
    }
    pl_metrics_put_one(p, "cores", "gauge", "Cores that sessions may use.", cores);
    pl_metrics_put_one(p, "cores_used", "gauge", "Cores that running sessions use.",
                       (double)pl_sessions_cores_used(sessions));
}

/* Counts only unfinished sessions, so that there is one series for each active user. */
static void put_users(pl_metrics_page *p, pl_sessions *sessions)
{
    size_t count = 0;
    pl_live_count *users = pl_live_counts(sessions, &count);
    pl_metrics_put(p, "# HELP pliant_user_sessions Sessions that have not ended, by user and "
                      "state.\n# TYPE pliant_user_sessions gauge\n");
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < PL_STATE_COUNT; k++) {
            if (!pl_state_terminal((pl_session_state)k)) {
                pl_metrics_put(p, "pliant_user_sessions{user=\"%s\",state=\"%s\"} %lld\n",
                               users[i].user, pl_state_name((pl_session_state)k),
                               (long long)users[i].sessions[k]);
            }
        }
    }
    free(users);
}

static void put_certificate(pl_metrics_page *p, const char *certificate)
{
    int64_t ends = certificate ? pl_tls_ends(certificate) : -1;
    if (ends >= 0) {
        pl_metrics_put_one(p, "tls_certificate_end_timestamp_seconds", "gauge",
                           "Expiry time of the certificate in the --tls-cert file.", (double)ends);
    }
}

static void put_ends(pl_metrics_page *p, const pl_counters *c)
{
    _Static_assert(sizeof c->sessions_ended / sizeof *c->sessions_ended == PL_STATE_COUNT,
                   "a place for each state");
    pl_metrics_put(p, "# HELP pliant_sessions_ended_total Sessions that ended since the daemon "
                      "started, by state.\n# TYPE pliant_sessions_ended_total counter\n");
    for (int i = 0; i < PL_STATE_COUNT; i++) {
        if (pl_state_terminal((pl_session_state)i)) {
            pl_metrics_put(p, "pliant_sessions_ended_total{state=\"%s\"} %lld\n",
                           pl_state_name((pl_session_state)i),
                           (long long)atomic_load(&c->sessions_ended[i]));
        }
    }
}

static void put_gpus(pl_metrics_page *p, pl_gpus *gpus)
{
    static const char *const help[] = {"memory_bytes",
                                       "Memory of a GPU.",
                                       "memory_used_bytes",
                                       "Memory of a GPU reserved for sessions.",
                                       "memory_others_bytes",
                                       "Memory of a GPU in use by other programs.",
                                       "sessions",
                                       "Sessions running on a GPU."};
    for (int k = 0; k < 4 && pl_gpus_count(gpus) > 0; k++) {
        pl_metrics_put(p, "# HELP pliant_gpu_%s %s\n# TYPE pliant_gpu_%s gauge\n", help[2 * k],
                       help[2 * k + 1], help[2 * k]);
        for (int i = 0; i < pl_gpus_count(gpus); i++) {
            pl_gpu_load gpu = pl_gpus_load(gpus, i);
            const double value[] = {gpu.memory, gpu.used, gpu.others, gpu.sessions};
            pl_metrics_put(p, "pliant_gpu_%s{uuid=\"%s\"} %.15g\n", help[2 * k], gpu.uuid,
                           value[k]);
        }
    }
}

/* Actual run times divided by the estimates shown to the owners. */
static void put_errors(pl_metrics_page *p, pl_learning *learning)
{
    pl_learning_errors e = pl_learning_get_errors(learning);
    pl_metrics_put(p, "# HELP pliant_estimate_ratio Running time of succeeded sessions, divided by "
                      "its estimate.\n"
                      "# TYPE pliant_estimate_ratio histogram\n");
    for (int i = 0; i < PL_LEARNING_BUCKETS; i++) {
        pl_metrics_put(p, "pliant_estimate_ratio_bucket{le=\"%g\"} %lld\n", e.most[i],
                       (long long)e.count[i]);
    }
    pl_metrics_put(
        p,
        "pliant_estimate_ratio_bucket{le=\"+Inf\"} %lld\npliant_estimate_ratio_sum %.15g\n"
        "pliant_estimate_ratio_count %lld\n",
        (long long)e.runs, e.sum, (long long)e.runs);
}

static void put_counters(pl_metrics_page *p, const pl_counters *c)
{
    const struct {
        const char *name, *type, *help;
        const _Atomic int64_t *value;
    } rows[] = {
        {"sessions_created_total", "counter", "Sessions accepted.", &c->sessions_created},
        {"sweeps_created_total", "counter", "Sweeps accepted, including fits.", &c->sweeps_created},
        {"fits_created_total", "counter", "Fits accepted.", &c->fits_created},
        {"sweep_runs_total", "counter", "Sessions started by sweeps.", &c->sweep_runs},
        {"sweep_runs_stopped_total", "counter", "Runs ended by the stop_runs condition.",
         &c->sweep_runs_stopped},
        {"frames_committed_total", "counter", "Frames that workers committed to their logs.",
         &c->frames_committed},
        {"streams", "gauge", "Streams open now.", &c->streams_open},
        {"streams_total", "counter", "Streams opened.", &c->streams_total},
        {"stream_bytes_total", "counter", "Bytes sent in streams.", &c->stream_bytes},
        {"exports", "gauge", "Exports being made now.", &c->exports_open},
        {"exports_total", "counter", "Exports begun.", &c->exports_total},
        {"export_bytes_total", "counter", "Bytes sent in exports.", &c->export_bytes},
        {"frames_encoded_total", "counter", "Frames encoded for streams, once for all clients.",
         &c->frames_encoded},
        {"frames_shared_total", "counter", "Frames that streams reused from another stream.",
         &c->frames_shared},
        {"frame_cache_bytes", "gauge", "Bytes of encoded frames cached for streams.",
         &c->frame_cache_bytes},
        {"stream_log_readers", "gauge", "Streams that have a session's log open.", &c->log_readers},
        {"log_looks_total", "counter",
         "Times that a running session's log was read for new frames.", &c->log_looks},
        {"workers_started_total", "counter", "Workers started.", &c->workers_started},
        {"workers_adopted_total", "counter", "Workers found running when the daemon started.",
         &c->workers_adopted},
        {"workers_crashed_total", "counter", "Workers that ended without a report.",
         &c->workers_crashed},
        {"workers_stalled_total", "counter", "Workers found stalled.", &c->workers_stalled},
        {"prepared_starts_total", "counter",
         "Workers and checks forked from an already linked process.", &c->prepared_starts},
        {"preflights_total", "counter", "Checks of scenes and meshes.", &c->preflights_run},
        {"preflights_refused_total", "counter", "Checks that found faults.",
         &c->preflights_refused},
        {"preflights_killed_total", "counter", "Checks that timed out or crashed.",
         &c->preflights_killed},
        {"meshes_stored_total", "counter", "Mesh files accepted.", &c->meshes_stored},
        {"mesh_bytes_total", "counter", "Bytes of mesh files accepted.", &c->mesh_bytes},
        {"auth_failures_total", "counter", "Requests with an invalid credential.",
         &c->auth_failures},
        {"rate_refusals_total", "counter", "Requests rejected by the rate limit.",
         &c->rate_refusals},
        {"audit_dropped_total", "counter", "Audit rows dropped because the database was behind.",
         &c->audit_dropped},
        {"connections_late_total", "counter",
         "Connections closed because their requests arrived too slowly.", &c->connections_late},
        {"connections_evicted_total", "counter", "Idle connections closed to make room.",
         &c->connections_evicted},
        {"store_commits_total", "counter", "Database transactions.", &c->store_commits},
        {"store_failures_total", "counter", "Session changes that the database did not accept.",
         &c->store_failures},
        {"store_rows_total", "counter", "Database changes, grouped into transactions.",
         &c->store_rows},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pl_metrics_put_one(p, rows[i].name, rows[i].type, rows[i].help,
                           (double)atomic_load(rows[i].value));
    }
}

static void put_syncs(pl_metrics_page *p)
{
    pl_directory_syncs n = pl_directory_sync_counts();
    pl_metrics_put_one(p, "directories_synced_total", "counter",
                       "New directories made durable by a shared sync of the file system.",
                       (double)n.shared);
    pl_metrics_put_one(
        p, "directories_synced_singly_total", "counter",
        "New directories made durable file by file, which is slower: the file system does not "
        "support shared syncs, much was unwritten, or a shared sync has failed.",
        (double)n.single);
}

static void put_disk(pl_metrics_page *p, pl_disk *disk)
{
    pl_disk_state s = pl_disk_look(disk);
    pl_metrics_put_one(p, "disk_free_bytes", "gauge",
                       "Free bytes on the file system of the state directory.",
                       (double)s.free_bytes);
    pl_metrics_put_one(p, "disk_size_bytes", "gauge",
                       "Size of the file system of the state directory.", (double)s.size_bytes);
    pl_metrics_put_one(p, "disk_reserve_bytes", "gauge",
                       "Bytes reserved for the daemon when the disk is full.",
                       (double)s.reserve_bytes);
    pl_metrics_put_one(p, "disk_full", "gauge",
                       "1 while nothing new is stored: the disk is full or cannot be written.",
                       s.full);
}

void pl_handle_metrics_page(pl_request *r)
{
    const pl_daemon *d = pl_request_daemon(r);
    pl_metrics_page p = {0};
    pl_metrics_put(
        &p,
        "# HELP pliant_build_info Version of the running daemon.\n# TYPE pliant_build_info gauge\n"
        "pliant_build_info{version=\"" PLIANT_VERSION "\"} 1\n");
    put_sessions(&p, d->sessions, d->options.cores);
    put_users(&p, d->sessions);
    put_certificate(&p, d->options.tls_cert);
    pl_metrics_put_process(&p);
    put_gpus(&p, d->gpus);
    put_disk(&p, d->disk);
    put_syncs(&p);
    put_counters(&p, &d->counters);
    put_ends(&p, &d->counters);
    pl_metrics_put_waits(&p, &d->counters.queue_wait);
    put_errors(&p, d->learning);
    pl_metrics_put_one(&p, "connections", "gauge", "Connections open now.",
                       (double)pl_http_connections(d->http));
    pl_metrics_put_replies(&p, pl_http_routes(d->http), pl_http_reply_counts(d->http));
    pl_reply_text(r, 200, "text/plain; version=0.0.4; charset=utf-8", p.text, p.length);
    pl_reply_header(r, "Cache-Control", "no-store");
}
