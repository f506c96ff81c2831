/* frame_writer.h - writes the engine's state to the log: positions in the scene's output precision, metrics as JSON,
 * one append. It never writes a value that is not finite.
 *
 * A frame is begun when its step has ended, and appended when its numbers are on the host: on the CPU at once, on a
 * device while it computes the next step (pl_state_fetch).
 */
#ifndef PLIANT_SERVER_WORKER_FRAME_WRITER_H
#define PLIANT_SERVER_WORKER_FRAME_WRITER_H

#include "engine/step/pliant.h"
#include "protocol/log/log.h"

/* A frame that is begun but not appended. */
typedef struct pl_begun_frame {
    pl_state *state; /* its numbers are being fetched; NULL: none */
    int64_t frame;
    pl_frame_header header;
    char *metrics; /* malloc'ed; NULL: none given */
    size_t metrics_length;
    double ms; /* spent so far */
} pl_begun_frame;

typedef struct pl_frame_writer {
    pl_log_writer *log; /* borrowed */
    const pl_scene *scene;
    int64_t vertices, elements; /* elements: 0 if no element values are stored */
    int64_t values;             /* numbers in a frame: fields x vertices x 3 and elements x 3 */
    bool single;                /* stored as float32 */
    double *stress;             /* [vertices][3], or NULL: not stored */
    double *element_stress;     /* [elements][3], or NULL */
    bool has_contacts;
    /* [values] and the points of the begun frame, copied when it was begun; used if a stress or contacts are stored,
     * because these are not fetched; else NULL */
    unsigned char *whole;
    size_t room;      /* bytes of it */
    double ms_output; /* total time of the last frame; NaN before the first */
    pl_begun_frame begun;
} pl_frame_writer;

pl_status pl_frame_writer_init(pl_frame_writer *w, pl_log_writer *log, const pl_scene *scene,
                               const pl_model *model);
void pl_frame_writer_clear(pl_frame_writer *w);

/* Begin frame `frame` (metrics->frame is set to it); no frame may be begun already. ms.output of its metrics is the
 * time for writing the previous frame, because its own is not known yet. The state, which may be stepped, stays in use
 * until the frame is appended. PL_OK or PL_NO_MEMORY. */
pl_status pl_frame_writer_begin(pl_frame_writer *w, int64_t frame, pl_state *state,
                                pl_metrics *metrics);
/* Append the begun frame, if any: with `wait` always, otherwise only if its numbers have arrived. *frame is its number,
 * -1 if nothing was appended. PL_OK; PL_FAILED with *bad_vertex if a number is not finite in the output precision
 * (nothing is written); PL_IO with errno. */
pl_status pl_frame_writer_append(pl_frame_writer *w, bool wait, int64_t *frame,
                                 int64_t *bad_vertex);

/* How a recomputed frame compares with the stored one. */
typedef enum pl_frame_outcome {
    PL_FRAME_SAME,
    PL_FRAME_MOVED,      /* positions differ, in at least one bit */
    PL_FRAME_MEASURED,   /* positions are equal, a metric differs; times are not compared */
    PL_FRAME_UNREADABLE, /* the stored frame is damaged: nothing to compare with */
} pl_frame_outcome;

/* Compare the state with frame `frame` of the log, which is not changed. If metrics is NULL, only positions are
 * compared. PL_OK with *outcome; PL_NO_MEMORY; PL_FAILED with *bad_vertex as in pl_frame_writer_append. */
pl_status pl_frame_writer_compare(pl_frame_writer *w, pl_log_reader *stored, int64_t frame,
                                  pl_state *state, pl_metrics *metrics, int64_t *bad_vertex,
                                  pl_frame_outcome *outcome);

#endif
