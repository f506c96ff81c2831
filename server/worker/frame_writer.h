/* frame_writer.h - from the engine's state to the log: positions in the scene's output precision,
 * metrics as JSON, one append. Nothing that is not finite gets past here.
 *
 * A frame is begun where its step has ended, and appended where its numbers have come to the host: on the CPU at
 * once, from a device while it does the next step (pl_state_fetch).
 */
#ifndef PLIANT_SERVER_WORKER_FRAME_WRITER_H
#define PLIANT_SERVER_WORKER_FRAME_WRITER_H

#include "engine/step/pliant.h"
#include "protocol/log/log.h"

/* A frame that is begun and not appended. */
typedef struct pl_begun_frame {
    pl_state *state; /* whose numbers are fetched; NULL: there is none */
    int64_t frame;
    pl_frame_header header;
    char *metrics; /* malloc'ed, NULL where none were given */
    size_t metrics_length;
    double ms; /* that it has taken so far */
} pl_begun_frame;

typedef struct pl_frame_writer {
    pl_log_writer *log; /* borrowed */
    const pl_scene *scene;
    int64_t vertices, elements; /* elements: 0 where none have values that are stored */
    int64_t values;             /* numbers of a frame: fields x vertices x 3 and elements x 3 */
    bool single;                /* stored as floats */
    double *stress;             /* [vertices][3], or NULL where none is stored */
    double *element_stress;     /* [elements][3], or NULL */
    bool has_contacts;
    /* [values] and the points of the frame that is begun, which were put there then; where a stress or contacts
     * are stored, which are not fetched; else NULL */
    unsigned char *whole;
    size_t room;      /* bytes of it */
    double ms_output; /* what the last frame took in all, NaN before the first */
    pl_begun_frame begun;
} pl_frame_writer;

pl_status pl_frame_writer_init(pl_frame_writer *w, pl_log_writer *log, const pl_scene *scene,
                               const pl_model *model);
void pl_frame_writer_clear(pl_frame_writer *w);

/* Begin frame `frame` (metrics->frame is set to it), none being begun. ms.output of its metrics is the time
 * that writing the frame before took: its own is not known before it is written. The state, which may be
 * stepped, stays until the frame is appended. PL_OK or PL_NO_MEMORY. */
pl_status pl_frame_writer_begin(pl_frame_writer *w, int64_t frame, pl_state *state,
                                pl_metrics *metrics);
/* Append the frame that was begun, if there is one, and with `wait` or without if its numbers have come; *frame
 * is it, and -1 where nothing was appended. PL_OK; PL_FAILED with *bad_vertex where a number is not finite in
 * the output precision (nothing is written); PL_IO with errno. */
pl_status pl_frame_writer_append(pl_frame_writer *w, bool wait, int64_t *frame,
                                 int64_t *bad_vertex);

/* How a frame that was computed again compares with what is stored of it. */
typedef enum pl_frame_outcome {
    PL_FRAME_SAME,
    PL_FRAME_MOVED,      /* positions differ, in a bit at least */
    PL_FRAME_MEASURED,   /* positions are the same, a metric is not; times are not compared */
    PL_FRAME_UNREADABLE, /* what is stored is damaged: nothing to compare with */
} pl_frame_outcome;

/* Compare the state with frame `frame` of the log, which stays as it is. metrics may be NULL: then
 * only the positions are looked at. PL_OK with *outcome; PL_NO_MEMORY; PL_FAILED with *bad_vertex as
 * pl_frame_writer_append. */
pl_status pl_frame_writer_compare(pl_frame_writer *w, pl_log_reader *stored, int64_t frame,
                                  pl_state *state, pl_metrics *metrics, int64_t *bad_vertex,
                                  pl_frame_outcome *outcome);

#endif
