/* run.h - one attempt, as its parts share it; private to session_run.c (from the lock to exit.json, and the steps),
 * run_several.c, run_start.c, run_again.c and run_failures.c.
 */
#ifndef PLIANT_SERVER_WORKER_RUN_H
#define PLIANT_SERVER_WORKER_RUN_H

#include "engine/step/pliant.h"
#include "protocol/log/log.h"
#include "protocol/log/session_dir.h"
#include "server/worker/checkpoints.h"
#include "server/worker/control_reader.h"
#include "server/worker/frame_writer.h"
#include "server/worker/log_syncer.h"
#include "server/worker/pace.h"
#include "server/worker/probes.h"
#include "server/worker/recovery.h"
#include "server/worker/run_profile.h"
#include "server/worker/run_warnings.h"
#include "server/worker/session_enter.h"
#include "server/worker/session_options.h"
#include "server/worker/session_scene.h"
#include "server/worker/thread_count.h"
#include "server/worker/control_apply.h"

/* How a run ends. PL_RUN_FENCED: a newer attempt has begun and owns the directory. PL_RUN_DEVICE_FAULT: the device
 * failed, and with it everything that this process has on it. */
typedef enum pl_run_end {
    PL_RUN_ON,
    PL_RUN_SUCCEEDED,
    PL_RUN_FAILED,
    PL_RUN_CANCELLED,
    PL_RUN_STOPPED,
    PL_RUN_PAUSED,
    PL_RUN_DEVICE_FAULT,
    PL_RUN_FENCED
} pl_run_end;

/* Lifetime: the process. */
typedef struct pl_run {
    const pl_session_options *options;
    int directory, lock;
    bool shares; /* its process with other sessions */
    int32_t threads;
    double started;  /* s, monotonic */
    double beaten;   /* time of the last heartbeat */
    bool on_network; /* pl_is_on_network of the directory */
    double looked;   /* time of the last check for commands and fences */
    double frame_began;
    double earlier; /* s of running before the checkpoint */
    pl_session_scene scene;
    pl_status read_status; /* result of reading scene.json */
    int read_error;        /* its errno */
    pl_faults read_faults;
    bool has_device;      /* the one that the scene asks for is available */
    char no_device[512];  /* why not */
    pl_steering steering; /* model and state */
    pl_log_writer *log;
    pl_log_syncer *syncer;
    pl_frame_writer writer;
    pl_probes probes;
    pl_pace_keeper pace;
    pl_control_reader control;
    pl_thread_count thread_count;
    pl_checkpoints checkpoints;
    pl_checkpoint resumed;    /* frame -1: from none */
    pl_comparison comparison; /* open while frames are computed again */
    pl_run_warnings warnings;
    pl_run_profile profile;
    int64_t last_frame;        /* committed, -1 before frame 0 */
    int64_t state_frame;       /* last whole frame that the state has reached, -1 before frame 0 */
    bool first_step;           /* the frame's first step is not yet begun */
    int64_t first_step_number; /* of frame 0: above 0 in a branch */
    int64_t halved_frames;     /* number of frames with steps taken as two halves */
    /* number of steps that backward Euler took under another integrator */
    int64_t by_euler;
    pl_run_end end;
    pl_failure failure;
    bool launching; /* it was launching when the device failed */
    int disk_error; /* errno of a disk failure that may pass: full or unwritable */
} pl_run;

/* ---- failures: run->end becomes PL_RUN_FAILED, described by run->failure ---- */

__attribute__((format(printf, 4, 5))) void pl_run_fail(pl_run *run, pl_failure_code code,
                                                       const char *advice, const char *format, ...);
void pl_run_fail_memory(pl_run *run, const char *doing);
void pl_run_fail_io(pl_run *run, const char *doing, int error);
/* Check a status; PL_IO with errno. True for PL_OK. */
bool pl_run_done_or_fail(pl_run *run, pl_status status, const pl_faults *faults, const char *doing);

/* ---- start: in this order; false if the run has ended ---- */

/* Read scene.json and find the device that it asks for. Errors are reported once the log is open. */
void pl_run_decode_scene(pl_run *run);
/* Called before anything that takes long: from here on older attempts are fenced off. */
bool pl_run_open_log(pl_run *run);
bool pl_run_read_scene(pl_run *run);
bool pl_run_build_model(pl_run *run);

/* ---- recomputing ---- */

/* Restore the newest checkpoint, and begin to compare. */
bool pl_run_resume(pl_run *run);
/* Compare the state with a committed frame. metrics NULL: positions only. */
bool pl_run_compare_frame(pl_run *run, int64_t frame, pl_metrics *metrics);
/* The run has caught up with the log. */
void pl_run_end_comparison(pl_run *run);
void pl_run_fail_not_reproducible(pl_run *run, int64_t frame, const char *how);

/* ---- the whole run ---- */

/* SIGTERM and SIGINT end all runs of the process at a checkpoint. */
void pl_run_set_signals(void);
/* Run one attempt. `entry` says whether the directory could be entered. */
pl_worker_exit pl_run_one(const pl_session_options *options, const pl_session_entry *entry,
                          bool shares);

/* ---- measuring ---- */

/* Add the metrics of a frame that the engine does not know. */
void pl_run_tell_more(pl_run *run, pl_metrics *metrics);

#endif
