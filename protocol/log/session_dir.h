/* session_dir.h - the session directory: names, JSON documents and the lock, shared by daemon, worker and command
 * line. It is the only interface between them; protocol/README.md has the table of who writes what.
 *
 *   session.json     id, owner, name, creation (server/sessions/directory_record.h)   daemon
 *   scene.json       as posted                                   creator
 *   meshes/HASH      uploaded files the scene refers to (links)  creator
 *   effective.json   scene with all defaults                     preflight
 *   preflight.json   faults, bodies, estimate                    preflight
 *   topology.json    what to draw                                preflight
 *   triangles.npy tets.npy  int32 (m,3), (m,4), global vertices  preflight
 *   surface.npy      int32 (m,1), the vertices that are drawn    preflight
 *   lock             exclusive OFD lock, held while a worker lives   worker
 *   head.json        attempt and its chain of segments           worker, by rename
 *   log/AAAA-SSSS.seg, .idx   records, and one entry per frame   worker
 *   checkpoint-A.bin, -B.bin   states to resume from (checkpoint.h)   worker, by rename
 *   snapshots/       states kept by name (snapshot.h)            daemon
 *   warnings.json    what its frames showed (warnings.h)         worker, by rename
 *   profile.json     times of its phases, if asked for (server/worker/run_profile.h)   worker, by rename
 *   exit.json        how the attempt ended                       worker, by rename
 *   verdict.json     how it ended without an exit.json (server/sessions/directory_record.h)   daemon
 *   worker.log       the worker's messages                       worker
 *   control.log      records of type PL_RECORD_CONTROL           daemon (or pliant run)
 *   cores.json       requested number of cores (cores.h)         daemon, by rename
 *   threads.json     number of cores in use (cores.h)            worker, by rename
 *   job.sh job.id job.log   for a batch system: script, id, output (server/run/batch_submit.c)   daemon, job
 */
#ifndef PLIANT_PROTOCOL_LOG_SESSION_DIR_H
#define PLIANT_PROTOCOL_LOG_SESSION_DIR_H

#include "engine/scene/fault.h"
#include "engine/scene/metrics.h"
#include "protocol/log/segment.h"
#include "protocol/log/small_file.h"
#include "protocol/log/warnings.h"
#include "protocol/text/json.h"

#include <stdbool.h>
#include <stdint.h>

/* head.json: {"format": 2, "attempt": N, "segments": [...]}. Segments are in frame order; all but the last are
 * sealed. Malloc'ed list, owned by the struct. For a pruned log (log_prune.h) it is format 3: the first segment may
 * then begin after frame 0, and segments may have "every". head.json, exit.json and preflight.json are sealed
 * documents (sealed.h); format 1 had no seal, was otherwise the same and is still read. */
typedef struct pl_head {
    int32_t attempt;
    int64_t segment_count;
    pl_segment *segments;
} pl_head;
/* PL_IO with errno ENOENT if it is missing, EBADMSG if it is damaged: head_recover.h. */
pl_status pl_head_read(int dir_fd, pl_head *out);
/* Writes head.json by temporary + rename. PL_INVALID if the present head's attempt is newer than head->attempt: a
 * stale worker changes nothing. If the present head is lost or damaged, the attempts in the segments' names count
 * instead. */
pl_status pl_head_write(int dir_fd, const pl_head *head);
void pl_head_clear(pl_head *head);

/* exit.json: {"format": 2, "attempt": N, "state": "succeeded|failed|cancelled|stopped|paused|device_fault",
 * "frames": n, "failure": null | {"code", "step", "frame", "body", "element", "vertex", "message", "advice"},
 * "launching": b, "disk_full": b, "disk_error": "read_only"|"io", "seconds": s}. "stopped" (SIGTERM), "paused"
 * (requested in control.log) and "device_fault" are not final: a later attempt resumes from the checkpoint.
 * launching, for device_fault: the session may be the cause, because its work was in flight on the device, or it
 * had the device to itself. */
typedef struct pl_exit {
    int32_t attempt;
    char state[16];
    int64_t frames;     /* last committed frame */
    double seconds;     /* of running, over all attempts */
    pl_failure failure; /* code PL_FAILURE_NONE unless failed, or a device fault */
    bool launching;     /* for a device fault */
    int disk_error; /* errno of a disk failure that may pass (ENOSPC, EROFS, EIO): a later attempt continues; 0: none */
} pl_exit;
pl_status pl_exit_read(int dir_fd, pl_exit *out);
pl_status pl_exit_write(int dir_fd, const pl_exit *e);

/* preflight.json: {"format": 2, "accepted": bool, "faults": [...], "faults_total": n, "bodies":
 * [{"name", "vertices", "first_vertex", "tets"}], "vertices", "tets", "estimate": {"memory_bytes",
 * "seconds_per_frame", "setup_seconds", "frame_bytes", "cores", "kind"}, "warnings": [{"code", "detail", "count",
 * "of"}], "remarks": ["..."], "files": {"scene.json":
 * {"bytes": n, "crc32c": "a1b2c3d4"}, ...}}. */
/* The files whose sizes and sums are in preflight.json: the scene as read, and the files made from it.
 * session_file.h reads them against their sums. */
typedef enum pl_session_file {
    PL_FILE_SCENE,
    PL_FILE_EFFECTIVE,
    PL_FILE_TOPOLOGY,
    PL_FILE_TRIANGLES,
    PL_FILE_TETS,
    PL_FILE_SURFACE, /* missing in sessions that an earlier version accepted */
    PL_FILE_COUNT
} pl_session_file;
typedef struct pl_file_sum {
    bool known; /* false: preflight.json has none; format 1 never had any */
    uint32_t crc;
    uint64_t bytes;
} pl_file_sum;
typedef struct pl_preflight_body {
    char name[128];
    int64_t vertices, first_vertex, tets;
} pl_preflight_body;
typedef struct pl_preflight {
    pl_faults faults;
    int32_t body_count;
    pl_preflight_body *bodies; /* malloc'ed */
    int64_t vertices, tets;
    int64_t cores; /* number that is useful; 0: from an earlier version */
    char kind[64]; /* kind of run for its time: "quasi_newton cpu double"; "": earlier version */
    double memory_bytes, gpu_memory_bytes, seconds_per_frame, setup_seconds, frame_bytes;
    pl_warnings warnings;
    int32_t remark_count; /* "body 'bunny' consists of 3 separate pieces", ... */
    char **remarks;
    pl_file_sum sums[PL_FILE_COUNT];
} pl_preflight;
/* preview.json is written up to this size of topology.json, and of surface.npy. */
enum { PL_PREVIEW_MOST = 8 << 20 };
pl_status pl_preflight_read(int dir_fd, pl_preflight *out);
pl_status pl_preflight_write(int dir_fd, const pl_preflight *p);
void pl_preflight_clear(pl_preflight *p);
/* Writes its "bodies" as the next value of a document. */
void pl_bodies_encode(pl_json_writer *w, const pl_preflight *p);
/* Writes the answer to a scene without faults as the next value: "valid", "estimate", "bodies", "warnings" and
 * "remarks". frames < 0: without an end. Times are the check's, multiplied by `ratio`. `geometry`: JSON of that
 * key; NULL: without it. */
void pl_validation_encode(pl_json_writer *w, const pl_preflight *p, int64_t frames, double ratio,
                          const char *geometry);
/* Writes its "warnings" and "remarks" as the next keys. */
void pl_remarks_encode(pl_json_writer *w, const pl_preflight *p);

/* Opens (on request creates) `lock` and tries to take the exclusive OFD lock. PL_OK with *out_fd holding it until
 * closed; PL_INVALID if another process holds it; PL_IO. */
pl_status pl_session_lock(int dir_fd, bool create, int *out_fd);
/* True exactly while some process holds the lock. */
bool pl_session_locked(int dir_fd);
/* Heartbeat: the holder of the lock signals that it is alive. Cheap enough for several times a second. */
void pl_session_beat(int lock_fd);
/* Time of the last heartbeat, in microseconds since 1970; 0: never. */
int64_t pl_session_last_beat(int dir_fd);

#endif
