/* model.h - the immutable model: rest state, masses, term groups, constant matrix and factor.
 *
 * The matrix is A = inertia M + D^T W^2 D, inertia = 1 / (a h)^2, over the free vertices: one scalar n x n matrix
 * for x, y and z (Narain 2016, eq. 15 divided by h^2; Liu 2017, section 3). Vertices that pins hold in all three
 * coordinates are eliminated: at every iteration they are where their motion puts them, and they enter the
 * right-hand side through `coupling`.
 *
 * A is solved with by its factor, or by multigrid where `solver.matrix` says so (linear/multigrid.h).
 *
 * A vertex held in one or two coordinates keeps its row. A_k, the matrix of coordinate k, is A with the rows and
 * columns of coordinates held in k replaced by the identity's: a zero right-hand side gives zero there, and a held
 * position gives that position. Code that uses only the backend's phases therefore gets zero in these rows of a
 * gradient, a step and a direction, and needs no special case. Coordinates in which the same vertices are held
 * share a factor.
 */
#ifndef PLIANT_ENGINE_MODEL_MODEL_H
#define PLIANT_ENGINE_MODEL_MODEL_H

#include "engine/contact/bodies.h"
#include "engine/linear/linear.h"
#include "engine/linear/multigrid.h"
#include "engine/model/gather.h"
#include "engine/model/group.h"
#include "engine/model/loads.h"
#include "engine/model/materials.h"
#include "engine/scene/motion.h"
#include "engine/step/pliant.h"

typedef struct pl_pin_model {
    pl_motion motion; /* with its origin */
    int32_t axes;     /* bit c where it holds coordinate c */
    int32_t *vertex;
    int64_t count;
} pl_pin_model;

struct pl_model {
    int64_t vertices, tets, free_vertices;
    int32_t body_count, pin_count, obstacle_count, group_count;
    int64_t *first_vertex, *first_tet, *first_triangle; /* [body_count + 1] */
    double *thickness;                                  /* [triangles], m, at rest */
    double *x0, *v0;                                    /* [vertices][3], initial state */
    double *mass;    /* [vertices], kg, lumped: pl_layout_masses */
    double *gravity; /* [3]; shared by a model and its halved and reweighed copies */
    double h, a;     /* the step, and the integrator's a */
    double inertia;  /* 1 / (a h)^2: weight of masses in the objective and in A; 0 in statics */
    int64_t steps, every;
    pl_integrator_kind integrator;
    bool restitution; /* some obstacle has it */
    bool friction;    /* some obstacle has it */
    pl_solver_settings solver;
    pl_metrics_detail detail;
    bool lists_contacts; /* for pl_state_contacts: not hashed, as it changes no bits of a step */
    uint64_t built_hash; /* of the model as built */
    uint64_t hash;       /* pl_model_hash(): that hash, and the changes by controls */

    pl_material_numbers *materials; /* [material_count], of the scene; groups read their `shared` */
    int32_t material_count;
    pl_group *groups;        /* in the builders' order (build.h): tetrahedra first, contacts last */
    int32_t *group_obstacle; /* [group_count]: obstacle of a contact group, or -1 */
    int64_t contributions;   /* size of the contributions buffer in doubles */
    int64_t multipliers;     /* number of doubles that held groups carry from stage to stage */
    pl_gather gather;
    pl_contact_bodies *touching; /* contact between bodies; NULL: none */

    int32_t *free_vertex;    /* [free_vertices]: model vertex of a free row, ascending */
    int32_t *free_row;       /* [vertices]: row, or -1 if held in all coordinates */
    unsigned char *held;     /* [vertices]: bit c where a pin holds coordinate c */
    double *diagonal;        /* [free_vertices]: A_ii, N/m */
    pl_sparse A;             /* free rows, lower triangle. Empty if the method needs no matrix;
                                so are the coupling and the factors */
    bool partly_held;        /* some vertex is held in one or two coordinates */
    int64_t *coupling_start; /* [free_vertices + 1]: A's columns of held vertices, by free row */
    int32_t *coupling_vertex;
    double *coupling_value;
    /* Of A_x, A_y, A_z, the same pointer where they are the same: factors, or multigrids. All NULL for a device. */
    pl_factor *factor[3];
    pl_multigrid *multigrid[3];

    pl_pin_model *pins;
    pl_loads loads;
    pl_keyframe *keyframes; /* of every motion of pins and obstacles */
    pl_motion
        *own_motions; /* [pin_count + obstacle_count], as the scene has them, with their drives */
    pl_drive *drives; /* the same length: replacements by controls */
};

/* True if the model has what solves with A. */
static inline bool pl_model_solves(const pl_model *model)
{
    return model->factor[0] || model->multigrid[0];
}

/* True if a pin holds coordinate c of a vertex. */
static inline bool pl_model_holds(const pl_model *model, int64_t vertex, int c)
{
    return model->held[vertex] >> c & 1;
}

/* Writes held coordinates at `time` into x [vertices][3]. */
void pl_model_place_pins(const pl_model *model, double time, double *x);

/* Writes the velocities of held coordinates at `time` into v [vertices][3], by a parabola through their positions
 * then, half of `span` earlier and `span` earlier. */
void pl_model_pin_velocities(const pl_model *model, double time, double span, double *v);

/* A_ii of a free row, N/m; available even if A is not computed. */
static inline double pl_model_diagonal(const pl_model *m, int64_t row)
{
    return m->diagonal[row];
}

/* The body of a model vertex or tetrahedron. */
int32_t pl_model_body_of(const pl_model *model, const int64_t *first, int64_t id);

#endif
