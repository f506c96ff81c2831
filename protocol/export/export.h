/* export.h - a session's run in formats that other tools load, from its directory, in one go: the
 * command line writes files so, and the daemon replies.
 *
 * One frame is in memory, beside what the format needs of the mesh, whatever the length of the run.
 * What comes out depends on the session and the order alone, so that it is the same bytes wherever it
 * is made. Frames that were not to be kept are left out, and damaged ones. One that turns out to be
 * damaged only when its values are read is left out where each frame is a file; elsewhere the count was
 * said before, and the export fails.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_EXPORT_H
#define PLIANT_PROTOCOL_EXPORT_EXPORT_H

#include "protocol/export/zip.h"

typedef enum pl_export_format {
    PL_EXPORT_NPZ,
    PL_EXPORT_VTU,
    PL_EXPORT_PC2,
    PL_EXPORT_MDD,
    PL_EXPORT_GLB,
    PL_EXPORT_OBJ,
    PL_EXPORT_CSV,
    PL_EXPORT_FORMATS
} pl_export_format;
#define PL_EXPORT_NAMES "npz, vtu, pc2, mdd, glb, obj or csv"
const char *pl_export_format_name(pl_export_format format);
bool pl_export_format_parse(const char *name, pl_export_format *out);
/* Of vtu and obj each frame is a file: with a name, for a folder or an archive. */
bool pl_export_is_series(pl_export_format format);
/* Of csv there are no bodies to choose from. */
bool pl_export_has_bodies(pl_export_format format);

/* What is wanted. */
typedef struct pl_export_order {
    pl_export_format format;
    /* Frames from, from + every, .. up to `to`, as far as they are there; from -1: from the first that
     * is kept on. */
    int64_t from, to, every;
    bool plain;       /* a series of one frame, as the file itself */
    const char *body; /* of this one alone, by its name; NULL: of all */
    bool surface;     /* only what is drawn: triangles and ropes, and the vertices that they have */
    const char *name; /* what files of a series are called by: NAME_000012.vtu */
} pl_export_order;

typedef enum pl_export_why {
    PL_EXPORT_FINE,
    PL_EXPORT_NO_FRAMES,  /* there is none yet */
    PL_EXPORT_NO_SUCH,    /* none of those that are wanted is there */
    PL_EXPORT_PRUNED,     /* `from` was not to be kept: first_available is the next */
    PL_EXPORT_UNEVEN,     /* frames are missing, and the format has one time step */
    PL_EXPORT_NO_SURFACE, /* there is nothing to draw */
    PL_EXPORT_NO_BODY,    /* no body has the name that is asked for */
    PL_EXPORT_TOO_LARGE,  /* more than the format can hold */
    PL_EXPORT_NO_SHAPE,   /* the session has no topology: it was not checked */
    PL_EXPORT_DAMAGED,    /* a file of the session is not as it was written */
    PL_EXPORT_UNREADABLE, /* a file of the session can not be read */
    PL_EXPORT_NO_MEMORY,
    PL_EXPORT_STOPPED, /* the sink takes no more */
} pl_export_why;
typedef struct pl_export_fault {
    pl_export_why why;
    int64_t first_available; /* of PL_EXPORT_PRUNED */
    char text[240];          /* for people */
} pl_export_fault;

/* Where it goes. A function that gives false stops the export. */
typedef struct pl_export_sink {
    void *context;
    /* The next bytes. A series that has no `file` comes as a zip archive. */
    bool (*write)(void *context, const void *data, size_t size);
    /* A whole file of a series; one that was given before is replaced. */
    bool (*file)(void *context, const char *name, const pl_span *spans, int count);
    /* After each frame of each pass; false stops it. Or NULL. */
    bool (*progress)(void *context, int64_t done, int64_t count);
    /* A frame is damaged, or not kept any more, and left out; or NULL. */
    void (*left_out)(void *context, int64_t frame);
} pl_export_sink;

typedef struct pl_export pl_export;
/* Look at the session in dir_fd (which is not kept), choose the frames, and judge whether it can be:
 * false with *fault. Frames that come later are not seen. */
bool pl_export_open(int dir_fd, const pl_export_order *order, pl_export **out,
                    pl_export_fault *fault);
/* The frames that were chosen: how many, and the numbers of the first and the last. */
int64_t pl_export_count(const pl_export *e);
int64_t pl_export_first(const pl_export *e);
int64_t pl_export_last(const pl_export *e);
/* What its bytes hang on, as 64 hex digits: where it is the same, so are they. Of the session that is not part of it.
 * False without memory. */
bool pl_export_identity(const pl_export *e, char out[65]);
/* Make it, once. */
bool pl_export_run(pl_export *e, const pl_export_sink *sink, pl_export_fault *fault);
void pl_export_close(pl_export *e);

#endif
