/* exporter.h - what the formats share: the session, which frames, where it goes. Private to the files
 * of this folder; each format gives false after noting why.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_EXPORTER_H
#define PLIANT_PROTOCOL_EXPORT_EXPORTER_H

#include "protocol/export/export.h"
#include "protocol/export/shape.h"
#include "protocol/log/frame_contacts.h"
#include "protocol/log/log.h"

/* Three values an item, valid until the next frame is read: float64 where the export is `wide`, else
 * float32. `any` is NULL where the session does not store the field. */
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
    const pl_contact_point *contact; /* [contacts]: those of the body, where one is chosen */
} pl_export_frame;

struct pl_export {
    pl_export_order order; /* its texts are ours */
    const pl_export_sink *sink;
    pl_export_fault *fault;
    int dir_fd;
    pl_log_reader *reader;
    pl_shape shape;
    int64_t stored;  /* vertices of a stored frame */
    int32_t *chosen; /* [shape.vertices]: which of them, ascending; NULL: all */
    int32_t body;    /* the only one that is exported; -1: all */
    int64_t count;   /* frames to be written */
    int64_t *frames; /* [count] */
    double *times;   /* [count] */
    int64_t damaged_count;
    int64_t *damaged; /* frames that were found damaged while they were chosen */
    uint32_t fields;  /* of the first of them, PL_FIELD_* */
    bool wide;        /* values are float64: the format takes them, and a chosen frame has them */
    char *scene_name;
    char up_axis; /* 'Y', or 'Z' where gravity acts along z; of formats with `scene` */
    float *start; /* [shape.vertices][3]: of vtu, frame 0 where it is kept and good, or NULL */
    int64_t done;
    unsigned char *payload; /* of the current frame */
    size_t capacity;
    /* Positions, velocities, stress, elements' stress that are not taken as they lie: converted, or
     * those of what is chosen. */
    void *made[4];
    pl_contact_point *contact; /* of the current frame */
    int64_t contact_room;
    pl_outlet out;
    pl_zip zip;
};

/* Note why it cannot be. Return false. */
__attribute__((format(printf, 3, 4))) bool pl_export_fail(pl_export *e, pl_export_why why,
                                                          const char *format, ...);
bool pl_export_no_memory(pl_export *e);
/* Because a frame was not read. */
bool pl_export_fail_frame(pl_export *e, int64_t frame, pl_log_outcome outcome);

/* Bytes of the three values of an item. */
static inline size_t pl_export_item_bytes(const pl_export *e)
{
    return 3 * (e->wide ? sizeof(double) : sizeof(float));
}
/* Read a frame (frames.c): PL_LOG_CORRUPT also where it does not fit the topology or its neighbours. */
pl_log_outcome pl_export_read(pl_export *e, int64_t frame, pl_export_frame *out);
/* All frames to `take`, a pass. Those that turn out damaged or gone are passed over with `gaps`, and
 * fail it without. */
typedef bool (*pl_export_take)(void *context, const pl_export_frame *frame);
bool pl_export_frames(pl_export *e, bool gaps, pl_export_take take, void *context);
void pl_export_tell_left_out(pl_export *e, int64_t frame);
/* Whether the sink takes more; what was put goes there. */
bool pl_export_going(pl_export *e);
/* Whether frames come with stress of elements: it is stored, and the elements are exported. */
bool pl_export_has_element_stress(const pl_export *e);
/* The order's format. */
const struct pl_export_kind *pl_export_kind_of(const pl_export *e);
/* A file of a series, or the export itself where a plain one is wanted. */
bool pl_export_put_file(pl_export *e, const char *name, const pl_span *spans, int count);
/* The text as the file of a frame: NAME_000012.obj, by the name of the format. */
bool pl_export_put_numbered(pl_export *e, const pl_export_frame *frame, const pl_text *text);

/* A format: what it needs and how it is written. Defined in the format's own file. */
typedef struct pl_export_kind {
    pl_export_about about;
    bool doubles;                /* it holds float64 where the frames do; else always float32 */
    bool tets;                   /* it has the tetrahedra; a format with bodies has the topology */
    bool archive;                /* it is a .zip whatever is asked for */
    bool scene;                  /* it carries the scene's name and which axis is up */
    bool metrics;                /* it is of metrics records, not of frames */
    bool (*check)(pl_export *e); /* whether it can be, before anything is written; or NULL */
    bool (*run)(pl_export *e);
} pl_export_kind;
#define DO(KIND, name, doc) extern const pl_export_kind pl_export_kind_##name;
PL_EXPORT_EACH(DO)
#undef DO

#endif
