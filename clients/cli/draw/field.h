/* field.h - the quantity that colours a picture: a number for each vertex, from its position and its position in frame
 * 0, as in the dashboard. Stress is the von Mises stress of Hooke's law applied to the Green strain, with the
 * material's moduli.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_FIELD_H
#define PLIANT_CLIENTS_CLI_DRAW_FIELD_H

#include "clients/cli/session/session_shape.h"

#define PL_COLOUR_NAMES "height|displacement|stretch|stress"
typedef enum pl_colour_kind {
    PL_COLOUR_NONE,
    PL_COLOUR_HEIGHT,       /* m */
    PL_COLOUR_DISPLACEMENT, /* from frame 0, m */
    PL_COLOUR_STRETCH,      /* mean lengthening of a vertex's edges, % */
    PL_COLOUR_STRESS,       /* of tetrahedra and sheets, Pa */
} pl_colour_kind;

/* Zero-initialise; everything is malloc'ed. */
typedef struct pl_field {
    pl_colour_kind kind;
    float *rest;     /* [vertices][3] of frame 0 */
    float *value;    /* [vertices] */
    float *weight;   /* [vertices], of the elements whose mean a value is */
    float *colour;   /* [vertices][3], linear light */
    double *modulus; /* [bodies][2]: shear modulus, Poisson's ratio; of stress alone */
    bool fixed;      /* the range was given and does not follow the values */
    double low, high;
} pl_field;

/* Read --colour and --range, before any data is read. PL_EXIT_USAGE after printing what is wrong. */
int pl_field_choose(const pl_cli *cli, pl_field *out);
/* Read the data that the field needs. Returns an exit status. For stress, the shape's tetrahedra are read too. */
int pl_field_open(pl_session_source *s, pl_session_shape *shape, pl_field *out);
/* Compute the values for positions [vertices][3] and widen the range to include them. */
void pl_field_measure(pl_field *f, const pl_shape *mesh, const float *positions);
/* Compute colours from the values and the range. */
void pl_field_paint(pl_field *f, int64_t vertices);
/* Print the range. */
void pl_field_say(const pl_field *f, const pl_cli *cli);
void pl_field_clear(pl_field *f);

#endif
