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

/* Every format: DO(KIND, name, what a person reads of it; lines after the first are indented by five).
 * A new format is a row here, and a file that defines its pl_export_kind (exporter.h). */
#define PL_EXPORT_EACH(DO)                                                                         \
    DO(NPZ, npz,                                                                                   \
       "for numpy.load: positions (frames, n, 3); velocities, stress (frames, n, 3) and\n"         \
       "     element_stress (frames, tets and then sheets, 3) where they are stored; time, "       \
       "frame,\n"                                                                                  \
       "     triangles, edges, tets, body (of each vertex); with element_stress sheets; of a "     \
       "part\n"                                                                                    \
       "     vertex, its numbers in the whole. float64 if output.precision is double. With\n"      \
       "     contacts stored contact_offsets (frames + 1): frame k has the rows from [k] up to\n"  \
       "     [k + 1] of contact_bodies (m, 2), contact_positions, contact_forces (m, 3) and\n"     \
       "     contact_gaps")                                                                        \
    DO(VTU, vtu,                                                                                   \
       "PATH.pvd and one .vtu a frame beside it: ParaView opens the .pvd. Displacement,\n"         \
       "     volume ratio and stretch count from frame 0; velocity and stress where they are\n"    \
       "     stored. With contacts stored PATH_contacts.pvd has their points, with force and gap") \
    DO(PC2, pc2,                                                                                   \
       "a cache of points, and beside it the .obj whose vertices it moves: in Blender import\n"    \
       "     the .obj, add a Mesh Cache modifier (flip axes: none) and choose the file")           \
    DO(MDD, mdd, "the same as pc2, with a time for each frame")                                    \
    DO(GLB, glb,                                                                                   \
       "one file with the moving surface, for short runs: Blender and web viewers open it")        \
    DO(OBJ, obj, "PATH_000012.obj, one a frame")                                                   \
    DO(CSV, csv, "the metrics, a row a frame")                                                     \
    DO(PLY, ply, "PATH_000012.ply, one a frame, binary, with velocities where they are stored")    \
    DO(USDA, usda,                                                                                 \
       "one file with the moving surface of each body as USD: Houdini, Omniverse, usdview;\n"      \
       "     points, and velocities where they are stored, are time samples")

typedef enum pl_export_format {
#define DO(KIND, name, doc) PL_EXPORT_##KIND,
    PL_EXPORT_EACH(DO) PL_EXPORT_FORMATS
#undef DO
} pl_export_format;

/* As string literals: "npz, vtu", "npz, vtu, ", "npz|vtu|", and a line of the manual for each. */
#define PL_EXPORT_NAME_(KIND, name, doc)  ", " #name
#define PL_EXPORT_COMMA_(KIND, name, doc) #name ", "
#define PL_EXPORT_BAR_(KIND, name, doc)   #name "|"
#define PL_EXPORT_LINE_(KIND, name, doc)  #name "  " doc "\n"
#define PL_EXPORT_NAMES                   (PL_EXPORT_EACH(PL_EXPORT_NAME_) + 2)
#define PL_EXPORT_COMMAS                  PL_EXPORT_EACH(PL_EXPORT_COMMA_)
#define PL_EXPORT_BARS                    PL_EXPORT_EACH(PL_EXPORT_BAR_)
#define PL_EXPORT_LINES                   PL_EXPORT_EACH(PL_EXPORT_LINE_)

/* What callers know of a format. */
typedef struct pl_export_about {
    const char *name, *media_type;
    bool series;       /* each frame is a file: with a name, for a folder or an archive */
    bool bodies;       /* there are bodies to choose from */
    bool moves_mesh;   /* it holds positions alone, of the vertices of an .obj */
    const char *index; /* ending of the file that a series is opened by, ".pvd"; NULL: no series */
} pl_export_about;
const pl_export_about *pl_export_describe(pl_export_format format);
bool pl_export_format_parse(const char *name, pl_export_format *out);

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
    PL_EXPORT_UNREADABLE, /* a file of the session cannot be read */
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
