/* exporter.h - what the formats of `pliant export` share: the session, which frames, what was written.
 *
 * A series is one pass over the frames with one frame in memory. Private to cmd_export.c and the
 * export_*.c files, one for each kind of file; each gives an exit status and has said what failed.
 */
#ifndef PLIANT_CLIENTS_CLI_EXPORTER_H
#define PLIANT_CLIENTS_CLI_EXPORTER_H

#include "clients/cli/outfile.h"
#include "clients/cli/session_source.h"

typedef struct pl_exporter {
    pl_cli *cli;
    pl_session_source source;
    pl_session_shape shape;
    const char *path;
    const char *what;                  /* the format's name */
    int64_t first, last, every, count; /* frames to be written */
    int64_t done;
    int status;
    double *times;   /* [count] */
    int64_t *frames; /* [count] */
    float *kept;     /* a frame by itself: its positions */
    int64_t kept_vertices;
    double kept_time;
    bool kept_velocity; /* it has velocities, too */
} pl_exporter;

/* Note the failure in e->status and say it. Return false. */
bool pl_export_fail_file(pl_exporter *e, const char *path);
bool pl_export_fail_memory(pl_exporter *e);

/* Whether the frame fits the topology and is one of those that were counted; else that is said. */
bool pl_export_fits(pl_exporter *e, const pl_session_frame *f);
/* Note the frame as written and show progress. */
void pl_export_note(pl_exporter *e, const pl_session_frame *f);

/* One frame's positions, malloc'ed in e->kept. */
int pl_export_fetch(pl_exporter *e, int64_t frame);
/* All frames of the series to `take`, a pass; PL_EXIT_FAILED where fewer are there than were counted
 * and `all` are needed. */
int pl_export_frames(pl_exporter *e, bool all, pl_take_frame take, void *context);

/* PATH's folder and what its files begin with, malloc'ed; the folder is made. */
bool pl_export_split(pl_exporter *e, const char *ending, char **folder, char **prefix);

int pl_export_npz(pl_exporter *e);
int pl_export_pc2(pl_exporter *e);
int pl_export_mdd(pl_exporter *e);
int pl_export_vtu(pl_exporter *e);
int pl_export_obj(pl_exporter *e);
int pl_export_glb(pl_exporter *e);
int pl_export_csv(pl_exporter *e);
int pl_export_film(pl_exporter *e);

/* --size, --azimuth and --elevation into a picture of the session's shape; PL_EXIT_USAGE after saying what
 * is wrong. */
int pl_export_picture(const pl_exporter *e, pl_picture *out);

/* A frame as .obj: all vertices, the triangles and the edges. */
bool pl_obj_write(pl_exporter *e, const char *path, const float *positions);

#endif
