/* export.h - exports a session's run in one pass, from its directory, in formats that other tools load; for files
 * of the command line and for replies of the daemon.
 *
 * One frame is in memory, beside the mesh data that the format needs, whatever the length of the run. The result
 * depends on the session and the request alone, so it has the same bytes wherever it is made. Pruned and damaged
 * frames are left out. A frame found damaged only when its values are read is left out if each frame is a file; in
 * other formats the count has already been written, and the export fails.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_EXPORT_H
#define PLIANT_PROTOCOL_EXPORT_EXPORT_H

#include "protocol/export/zip.h"

/* Every format: DO(KIND, name, description; lines after the first are indented by five). A new format is a row
 * here, and a file that defines its pl_export_kind (exporter.h). */
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

/* As string literals: "npz, vtu", "npz, vtu, ", "npz|vtu|", and one line of the manual for each. */
#define PL_EXPORT_NAME_(KIND, name, doc)  ", " #name
#define PL_EXPORT_COMMA_(KIND, name, doc) #name ", "
#define PL_EXPORT_BAR_(KIND, name, doc)   #name "|"
#define PL_EXPORT_LINE_(KIND, name, doc)  #name "  " doc "\n"
#define PL_EXPORT_NAMES                   (PL_EXPORT_EACH(PL_EXPORT_NAME_) + 2)
#define PL_EXPORT_COMMAS                  PL_EXPORT_EACH(PL_EXPORT_COMMA_)
#define PL_EXPORT_BARS                    PL_EXPORT_EACH(PL_EXPORT_BAR_)
#define PL_EXPORT_LINES                   PL_EXPORT_EACH(PL_EXPORT_LINE_)

/* Properties of a format. */
typedef struct pl_export_about {
    const char *name, *media_type;
    bool series;       /* each frame is a file, in a folder or an archive */
    bool bodies;       /* a body can be selected */
    bool moves_mesh;   /* it holds positions alone, of the vertices of an .obj */
    const char *index; /* extension of the file that opens a series, ".pvd"; NULL: not a series */
} pl_export_about;
const pl_export_about *pl_export_describe(pl_export_format format);
bool pl_export_format_parse(const char *name, pl_export_format *out);

/* A request. */
typedef struct pl_export_order {
    pl_export_format format;
    /* Frames from, from + every, .. up to `to`, where available; from -1: from the first kept frame on. */
    int64_t from, to, every;
    bool plain;       /* a series of one frame, as the file itself */
    const char *body; /* this body alone, by its name; NULL: all */
    bool surface;     /* only the drawn parts: triangles and ropes, and their vertices */
    const char *name; /* file names in a series: NAME_000012.vtu */
} pl_export_order;

typedef enum pl_export_why {
    PL_EXPORT_FINE,
    PL_EXPORT_NO_FRAMES,  /* there are no frames yet */
    PL_EXPORT_NO_SUCH,    /* none of the requested frames exists */
    PL_EXPORT_PRUNED,     /* `from` was pruned: first_available is the next frame */
    PL_EXPORT_UNEVEN,     /* frames are missing, and the format needs constant time steps */
    PL_EXPORT_NO_SURFACE, /* there is nothing to draw */
    PL_EXPORT_NO_BODY,    /* no body has the requested name */
    PL_EXPORT_TOO_LARGE,  /* too large for the format */
    PL_EXPORT_NO_SHAPE,   /* the session has no topology: it was not checked */
    PL_EXPORT_DAMAGED,    /* a file of the session is damaged */
    PL_EXPORT_UNREADABLE, /* a file of the session cannot be read */
    PL_EXPORT_NO_MEMORY,
    PL_EXPORT_STOPPED, /* the sink accepts no more */
} pl_export_why;
typedef struct pl_export_fault {
    pl_export_why why;
    int64_t first_available; /* for PL_EXPORT_PRUNED */
    char text[240];          /* human-readable */
} pl_export_fault;

/* The destination. A function that returns false stops the export. */
typedef struct pl_export_sink {
    void *context;
    /* Takes the next bytes. A series without `file` comes as a zip archive. */
    bool (*write)(void *context, const void *data, size_t size);
    /* Takes a whole file of a series; replaces an earlier file of that name. */
    bool (*file)(void *context, const char *name, const pl_span *spans, int count);
    /* Called after each frame of each pass; false stops it. May be NULL. */
    bool (*progress)(void *context, int64_t done, int64_t count);
    /* Called for a frame that is damaged or pruned, and so left out; may be NULL. */
    void (*left_out)(void *context, int64_t frame);
} pl_export_sink;

typedef struct pl_export pl_export;
/* Opens the session in dir_fd (which is not kept), selects the frames, and checks that the export is possible:
 * false with *fault. Frames that arrive later are ignored. */
bool pl_export_open(int dir_fd, const pl_export_order *order, pl_export **out,
                    pl_export_fault *fault);
/* The selected frames: their number, and the numbers of the first and the last. */
int64_t pl_export_count(const pl_export *e);
int64_t pl_export_first(const pl_export *e);
int64_t pl_export_last(const pl_export *e);
/* A digest of all inputs of the export's bytes, as 64 hex digits: equal digests mean equal bytes. The session is
 * not part of it. False if out of memory. */
bool pl_export_identity(const pl_export *e, char out[65]);
/* Makes the export, once. */
bool pl_export_run(pl_export *e, const pl_export_sink *sink, pl_export_fault *fault);
void pl_export_close(pl_export *e);

#endif
