/* metrics.h - a frame's measured quantities, and the failure of a run. A leaf of plain structs: the engine fills
 * them, protocol/ writes them as JSON. A quantity that was not computed is NaN here (or -1 for a count) and null
 * there, never 0.
 */
#ifndef PLIANT_ENGINE_SCENE_METRICS_H
#define PLIANT_ENGINE_SCENE_METRICS_H

#include "engine/scene/material_damping.h"

#include <stdbool.h>
#include <stdint.h>

/* One iteration of the solver. Row 0 is the initial guess, before the first iteration. */
typedef struct pl_iteration {
    double objective;       /* J; NaN if it is infinite or was not computed */
    double primal_residual; /* |W (D x - z)|          (Narain 2016, eq. 22) */
    double dual_residual;   /* |D^T W^T W (z' - z)|   (Narain 2016, eq. 23) */
    double gradient_norm;   /* N, over the free vertices */
    double decrement;       /* Newton decrement in the norm of the constant matrix, J^(1/2) */
    double ms;              /* since the step's start */
} pl_iteration;

typedef struct pl_force {
    double newton[3];
} pl_force;

/* The force that one body exerts on another. */
typedef struct pl_body_force {
    int32_t body[2];  /* the lower first; the same twice: a body on itself, with force 0 */
    double newton[3]; /* of the first on the second */
} pl_body_force;

/* A pair of features that push each other, of two bodies or of one body and itself. */
typedef struct pl_contact_point {
    int32_t body[2];  /* the lower first */
    double place[3];  /* m, half-way between the two features */
    double newton[3]; /* N, of the first on the second, with friction */
    double gap;       /* m, between the features along the push; below 0 if they crossed */
} pl_contact_point;

/* Contact between bodies, and of bodies with themselves. */
typedef struct pl_contact_metrics {
    bool on;             /* false: the scene has none, and the rest is undefined */
    int64_t pairs;       /* pairs of features that carry force */
    double gap;          /* m, the least distance of two features; NaN: none are near each other */
    int32_t force_count; /* pairs of bodies that touch */
    const pl_body_force *forces; /* ordered by bodies; the engine's memory */
    double friction_work;        /* J, dissipated by friction since the start */
    int64_t rounds;              /* of continuous collision detection, in the frame's steps */
} pl_contact_metrics;

typedef struct pl_metrics {
    int64_t frame;
    double time;               /* s, simulated */
    int64_t steps;             /* number of steps in this frame */
    int64_t iterations;        /* of all its steps; the fields below are of the last step */
    int64_t newton_iterations; /* of those, with method auto; -1: another method */
    int64_t unconverged;       /* steps that stopped at the iteration limit; -1 with tolerance 0 */
    int64_t halved;            /* number of steps that failed and were done as two half steps */
    int64_t by_euler; /* number of steps redone by backward Euler; -1: the scene itself uses it */
    double objective;
    double primal_residual, dual_residual, gradient_norm, decrement;
    double
        imbalance; /* imbalance of the worst body, relative to its bound; NaN: the decrement did not pass, or was 0 */
    double kinetic, elastic, gravity; /* J; gravity is -sum m g.x */
    double dissipated; /* J, since the start, by damping and friction; NaN: nothing dissipates */
    double dissipation[PL_DISSIPATION_COUNT]; /* the same by function; NaN: not in the model */
    double linear[3], angular[3];             /* momenta, kg m/s and kg m^2/s about the origin */
    int64_t inverted;                         /* tetrahedra with det F <= 0 */
    int64_t contacts;                         /* number of vertex-obstacle pairs that carry force */
    double max_stretch;                       /* largest singular value of any F */
    double ms_local, ms_global, ms_collision, ms_output, ms_step;
    const pl_force *pins;      /* force that each pin exerts, [pin_count], engine's memory */
    const pl_force *obstacles; /* force that each obstacle exerts, [obstacle_count] */
    const int64_t
        *obstacle_contacts;    /* vertices that each pushes, [obstacle_count]; -1: not known */
    const double *penetration; /* m, depth of the deepest vertex in each, [obstacle_count] */
    const pl_force *forces;    /* sum of each of the scene's forces, [force_count] */
    pl_contact_metrics contact;
    const pl_iteration *detail; /* of the last step, or NULL; engine's memory */
    int64_t detail_count;
    /* Set by the worker, not the engine. */
    int64_t control; /* number of the last control in effect; 0: none */
    int32_t probe_count;
    const char *const *probe_names; /* [probe_count] */
    const double *probes;           /* [probe_count]; NaN: not computed */
    bool paced;                     /* by the wall clock; else the next two are undefined */
    double realtime;                /* simulated seconds per second, recently; NaN: not known yet */
    double ms_behind;               /* delay of the frame's start */
} pl_metrics;

typedef enum pl_failure_code {
    PL_FAILURE_NONE,
    PL_FAILURE_NOT_FINITE,
    PL_FAILURE_INVERTED,
    PL_FAILURE_LINE_SEARCH,
    PL_FAILURE_NOT_CONVERGED,
    PL_FAILURE_OUT_OF_MEMORY,
    PL_FAILURE_WORKER_CRASHED,
    PL_FAILURE_TIMEOUT,
    PL_FAILURE_DISK,
    PL_FAILURE_NOT_REPRODUCIBLE, /* recomputed, a frame differed from the stored one */
    PL_FAILURE_INTERNAL,
    PL_FAILURE_NO_GPU,       /* the scene requests a device that is not available */
    PL_FAILURE_INTERSECTION, /* a step would pass through a surface */
    PL_FAILURE_COUNT
} pl_failure_code;

/* A numerical failure is a result, not an error path: code, where, and what to do. */
typedef struct pl_failure {
    pl_failure_code code;
    int64_t step;  /* 1-based step that failed, -1 unknown */
    int64_t frame; /* last good frame, -1 if none */
    /* Ids in the body's mesh order; elements count tetrahedra first, then triangles; -1 if not applicable. */
    int64_t body, element, vertex;
    char message[256];
    char advice[256];
} pl_failure;

/* "not_finite", "inverted", ... as documented. */
const char *pl_failure_name(pl_failure_code code);

#endif
