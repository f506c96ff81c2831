/* contact_series.h - contacts for ParaView: one .vtu per frame, with a vertex wherever bodies push each other,
 * beside the bodies' .vtu, and its own .pvd. */
#ifndef PLIANT_PROTOCOL_EXPORT_CONTACT_SERIES_H
#define PLIANT_PROTOCOL_EXPORT_CONTACT_SERIES_H

#include "protocol/export/exporter.h"

/* Zero-initialise. */
typedef struct pl_contact_series {
    char *prefix; /* prefix of the files' names */
    int64_t room;
    float *place, *force, *gap; /* [room][3], [room][3], [room] */
    int32_t *body, *point;      /* [room][2], [room] */
} pl_contact_series;

/* The file of a frame. */
bool pl_contact_series_put(pl_contact_series *s, pl_export *e, const pl_export_frame *frame);
/* The .pvd of the frames written. */
bool pl_contact_series_list(pl_contact_series *s, pl_export *e, const int64_t *frames,
                            const double *times, int64_t count);
void pl_contact_series_clear(pl_contact_series *s);

#endif
