/* exporter.h - shared by the formats: the session, the frames, the destination. Private to the files of this
 * folder; each format returns false after recording the reason.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_EXPORTER_H
#define PLIANT_PROTOCOL_EXPORT_EXPORTER_H

#include "protocol/export/export.h"
#include "protocol/export/shape.h"
#include "protocol/log/frame_contacts.h"
#include "protocol/log/log.h"

/* Three values per item, valid until the next frame is read: float64 if the export is `wide`, else float32. `any`
 * is NULL if the session does not store the field. */
typedef union pl_export_values {
    const void *any;
    const float *f32;
    const double *f64;
} pl_export_values;

typedef struct pl_export_frame {
    int64_t frame, vertices;
    double time;
    pl_export_values positions;      /* [vertices], m */
    pl_export_values velocity;       /* [vertices], m/s */
    pl_export_values stress;         /* [vertices], Pa: von Mises', greatest principal, mean */
    pl_export_values element_stress; /* [tetrahedra, then sheets], the same */
    int64_t contacts;
    const pl_contact_point *contact; /* [contacts]: those of the selected body, if any */
} pl_export_frame;

struct pl_export {
    pl_export_order order; /* owns its texts */
    const pl_export_sink *sink;
    pl_export_fault *fault;
    int dir_fd;
    pl_log_reader *reader;
    pl_shape shape;
    int64_t stored;  /* number of vertices of a stored frame */
    int32_t *chosen; /* [shape.vertices]: their indices, ascending; NULL: all */
    int32_t body;    /* the only one exported; -1: all */
    int64_t count;   /* number of frames to be written */
    int64_t *frames; /* [count] */
    double *times;   /* [count] */
    int64_t damaged_count;
    int64_t *damaged; /* number of frames found damaged during selection */
    uint32_t fields;  /* of the first frame, PL_FIELD_* */
    bool wide;        /* values are float64: the format supports it, and a selected frame has it */
    char *scene_name;
    char up_axis; /* 'Y', or 'Z' if gravity acts along z; for formats with `scene` */
    float *start; /* [shape.vertices][3]: for vtu, frame 0 if it is kept and good, or NULL */
    int64_t done;
    unsigned char *payload; /* of the current frame */
    size_t capacity;
    /* Positions, velocities, stress, elements' stress that cannot be used in place: converted, or reduced to the
     * selection. */
    void *made[4];
    pl_contact_point *contact; /* of the current frame */
    int64_t contact_room;
    pl_outlet out;
    pl_zip zip;
};

/* Records why the export is impossible. Returns false. */
__attribute__((format(printf, 3, 4))) bool pl_export_fail(pl_export *e, pl_export_why why,
                                                          const char *format, ...);
bool pl_export_no_memory(pl_export *e);
/* The same for a frame that could not be read. */
bool pl_export_fail_frame(pl_export *e, int64_t frame, pl_log_outcome outcome);

/* Bytes of the three values of an item. */
static inline size_t pl_export_item_bytes(const pl_export *e)
{
    return 3 * (e->wide ? sizeof(double) : sizeof(float));
}
/* Reads a frame (frames.c): PL_LOG_CORRUPT also if it does not match the topology or its neighbours. */
pl_log_outcome pl_export_read(pl_export *e, int64_t frame, pl_export_frame *out);
/* Passes all frames to `take`. Damaged or missing frames are skipped with `gaps`, and otherwise fail the pass. */
typedef bool (*pl_export_take)(void *context, const pl_export_frame *frame);
bool pl_export_frames(pl_export *e, bool gaps, pl_export_take take, void *context);
void pl_export_tell_left_out(pl_export *e, int64_t frame);
/* Writes to the sink; false if it accepts no more. */
bool pl_export_going(pl_export *e);
/* True if frames have stress of elements: it is stored, and the elements are exported. */
bool pl_export_has_element_stress(const pl_export *e);
/* The format of the request. */
const struct pl_export_kind *pl_export_kind_of(const pl_export *e);
/* Writes a file of a series, or the export itself if a plain one is requested. */
bool pl_export_put_file(pl_export *e, const char *name, const pl_span *spans, int count);
/* Writes the text as a frame's file: NAME_000012.obj, by the name of the format. */
bool pl_export_put_numbered(pl_export *e, const pl_export_frame *frame, const pl_text *text);

/* A format: its requirements and its writer. Defined in the format's own file. */
typedef struct pl_export_kind {
    pl_export_about about;
    bool doubles;                /* it holds float64 if the frames do; else always float32 */
    bool tets;                   /* it needs the tetrahedra; with bodies, it needs the topology */
    bool archive;                /* it is always a .zip */
    bool scene;                  /* it includes the scene's name and the up axis */
    bool metrics;                /* it uses metrics records, not frames */
    bool (*check)(pl_export *e); /* checks feasibility before anything is written; or NULL */
    bool (*run)(pl_export *e);
} pl_export_kind;
#define DO(KIND, name, doc) extern const pl_export_kind pl_export_kind_##name;
PL_EXPORT_EACH(DO)
#undef DO

#endif
