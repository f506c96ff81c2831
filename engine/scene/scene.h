/* scene.h - a scene as plain structs: what a client posted, with every default filled in.
 *
 * This is the arrow between protocol/ (which makes it from JSON and writes it back) and engine/
 * (which makes a model of it). A leaf header but for the names of materials: plain structs in SI
 * units, no behaviour but the release of memory. Names follow the JSON keys. Angles are degrees
 * where the key says so.
 */
#ifndef PLIANT_ENGINE_SCENE_SCENE_H
#define PLIANT_ENGINE_SCENE_SCENE_H

#include "engine/scene/material_damping.h"
#include "engine/scene/material_kind.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_integrator_kind {
    PL_INTEGRATOR_BACKWARD_EULER,
    PL_INTEGRATOR_QUASI_STATIC, /* no inertia: a step is the equilibrium at its end */
    PL_INTEGRATOR_BDF2,
    PL_INTEGRATOR_TRAPEZOIDAL,
    PL_INTEGRATOR_IMPLICIT_MIDPOINT,
    PL_INTEGRATOR_TR_BDF2,
    PL_INTEGRATOR_SDIRK2,
} pl_integrator_kind;
typedef enum pl_method_kind {
    PL_METHOD_ADMM,
    PL_METHOD_QUASI_NEWTON,
    PL_METHOD_NEWTON,
    PL_METHOD_LBFGS,
    PL_METHOD_GRADIENT_DESCENT,
    PL_METHOD_NONLINEAR_CG,
    PL_METHOD_CHEBYSHEV_SEMI_ITERATIVE,
    PL_METHOD_CHEBYSHEV_DESCENT,
    PL_METHOD_PROJECTIVE_DYNAMICS,
    PL_METHOD_BARZILAI_BORWEIN
} pl_method_kind;
#define PL_METHOD_KINDS ((int)PL_METHOD_BARZILAI_BORWEIN + 1)
typedef enum pl_device_kind { PL_DEVICE_CPU, PL_DEVICE_GPU } pl_device_kind;
/* Of what is computed with. */
typedef enum pl_precision {
    PL_PRECISION_AUTO, /* double on the CPU, single on a GPU */
    PL_PRECISION_SINGLE,
    PL_PRECISION_DOUBLE
} pl_precision;
typedef enum pl_on_not_converged {
    PL_NOT_CONVERGED_CONTINUE,
    PL_NOT_CONVERGED_FAIL
} pl_on_not_converged;
typedef enum pl_acceleration {
    PL_ACCELERATION_NONE,
    PL_ACCELERATION_NESTEROV,
    PL_ACCELERATION_ANDERSON
} pl_acceleration;
/* k_i of the weights w_i^2 = k_i V_i, which make the constant matrix. */
typedef enum pl_stiffness_kind {
    PL_STIFFNESS_SHEAR, /* weight_scale * mu */
    PL_STIFFNESS_FIT, /* the slope of the stress over stretches of 0.5 to 1.5 (Liu 2017, eq. 11) */
} pl_stiffness_kind;
/* How Newton's steps are solved for. */
typedef enum pl_linear_kind {
    PL_LINEAR_DIRECT,     /* a Cholesky factor an iteration */
    PL_LINEAR_PCG,        /* conjugate gradients, preconditioned by the constant matrix */
    PL_LINEAR_PCG_JACOBI, /* ... by the 3 x 3 blocks on the diagonal */
} pl_linear_kind;
enum { PL_WINDOW_MAX = 64, PL_PHASES_MAX = 8 };
/* The diagonal matrix of descent methods without a constant matrix. */
typedef enum pl_preconditioner {
    PL_PRECONDITIONER_JACOBI,   /* the diagonal of the objective's Hessian */
    PL_PRECONDITIONER_NONE,     /* a multiple of the identity */
    PL_PRECONDITIONER_CONSTANT, /* the diagonal of the constant matrix */
} pl_preconditioner;
typedef enum pl_line_search { PL_LINE_SEARCH_BACKTRACKING, PL_LINE_SEARCH_WOLFE } pl_line_search;
/* Where a step's iterations begin (Wang 2016, section 4.4). */
typedef enum pl_initial_guess {
    PL_GUESS_BEST,         /* the lowest objective of x~, x(n) and others: guess.c */
    PL_GUESS_POSITION,     /* x(n) */
    PL_GUESS_VELOCITY,     /* x(n) + h v(n) */
    PL_GUESS_ACCELERATION, /* x(n) + h v(n) + 0.2 h (v(n) - v(n-1)) */
    PL_GUESS_STEP,         /* x(n) + d v(n), d by a parabola through the objective (eq. 10) */
} pl_initial_guess;
/* What keeps bodies out of obstacles. */
typedef enum pl_obstacle_way {
    PL_OBSTACLES_HARD,   /* constraints (Narain 2016, eq. 38-39) */
    PL_OBSTACLES_ENERGY, /* springs that the matrix knows nothing of (Liu 2017, section 4.3) */
} pl_obstacle_way;
typedef enum pl_metrics_detail { PL_METRICS_FRAME, PL_METRICS_ITERATION } pl_metrics_detail;
typedef enum pl_output_precision { PL_OUTPUT_SINGLE, PL_OUTPUT_DOUBLE } pl_output_precision;

/* Whether a run goes as fast as it can, or not ahead of the wall clock. Decides no bit of it. */
typedef enum pl_pace { PL_PACE_FREE, PL_PACE_REALTIME } pl_pace;

/* The steps of a run that goes on until somebody ends it. */
#define PL_STEPS_ENDLESS ((int64_t)1 << 53)

typedef struct pl_time {
    double step;     /* h, s */
    double duration; /* s; the posted one, or steps * step; 0 where there is no end */
    int64_t steps;   /* number of steps, >= 1, or PL_STEPS_ENDLESS */
    pl_integrator_kind integrator;
    pl_pace pace;
} pl_time;

typedef struct pl_solver_settings {
    pl_method_kind method;
    int32_t iterations; /* most iterations a step */
    double tolerance;   /* relative Newton decrement; 0: a fixed number of iterations */
    pl_stiffness_kind stiffness;
    double weight_scale;          /* with stiffness shear: w_i^2 = weight_scale * mu * V */
    double relaxation;            /* ADMM over-relaxation, 1 = none */
    pl_acceleration acceleration; /* ADMM */
    int32_t window;     /* quasi-Newton: pairs that L-BFGS remembers, 0 .. PL_WINDOW_MAX */
    bool has_obstacles; /* else pl_obstacles_are_hard() says by the method */
    pl_obstacle_way obstacles;
    double contact_stiffness; /* with obstacles energy: of a vertex, over its diagonal of A */
    pl_on_not_converged on_not_converged;
    pl_device_kind device;
    pl_precision precision; /* pl_solver_is_single() says which */
    bool has_linear;        /* else pl_newton_linear() says by the size */
    pl_linear_kind linear;  /* Newton */
    pl_preconditioner preconditioner;
    int32_t jacobi_refresh; /* iterations from one Jacobi preconditioner to the next */
    pl_line_search line_search;
    pl_initial_guess initial_guess;
    double rho;     /* Chebyshev: spectral radius; 0: estimated */
    int32_t phases; /* chebyshev_descent: of rho, 1 .. PL_PHASES_MAX */
    int32_t tune; /* chebyshev_descent: the solve before which phases are tuned, from 1; 0: none */
} pl_solver_settings;

/* ---- cloth, ropes and fibres: parts of a material ---- */

typedef enum pl_bending_model { PL_BENDING_QUADRATIC, PL_BENDING_HINGE } pl_bending_model;
/* Of triangles over their interior edges, of edges at vertices that have two. */
typedef struct pl_bending {
    bool present;
    pl_bending_model model;
    bool has_stiffness;
    double stiffness; /* N m; of edges N m^2 */
} pl_bending;

typedef enum pl_limit_kind { PL_LIMIT_COLUMNS, PL_LIMIT_SINGULAR_VALUES } pl_limit_kind;
/* Stretches stay in [low, high] (Narain 2016, section 5). */
typedef struct pl_strain_limit {
    bool present;
    pl_limit_kind by;
    double low, high;
    double direction[3]; /* unit: of the first column of triangles */
} pl_strain_limit;

/* kappa/2 (|F d| - 1)^2 added to the energy density (Liu 2017, section 4.4). */
typedef struct pl_fibers {
    bool present;
    double stiffness;    /* kappa, Pa */
    double direction[3]; /* d, unit */
} pl_fibers;

/* Whether edges are springs, do not exceed their length, or keep it. */
typedef enum pl_inextensible {
    PL_EXTENSIBLE,
    PL_INEXTENSIBLE_ROPE,
    PL_INEXTENSIBLE_ROD
} pl_inextensible;

enum { PL_SPLINE_POINTS_MAX = 16, PL_CURVE_POINTS_MAX = 64 };

/* Where the functions of a spline material come from. */
typedef enum pl_splines_kind {
    PL_SPLINES_NONE,
    PL_SPLINES_A,      /* Liu 2017, figure 6: neo-Hookean, stiffer in compression */
    PL_SPLINES_B,      /* neo-Hookean, stiffer in tension */
    PL_SPLINES_POINTS, /* through given points */
    PL_SPLINES_CURVE,  /* fitted to a measured curve */
} pl_splines_kind;

/* a, b, c of Psi = sum a(s_i) + sum b(s_i s_j) + c(J) (Liu 2017, eq. 9). */
typedef struct pl_splines {
    pl_splines_kind kind;
    int32_t count[3];                          /* points of a, b, c */
    double points[3][PL_SPLINE_POINTS_MAX][2]; /* argument, ascending; value, Pa */
    int32_t curve_count;
    double curve[PL_CURVE_POINTS_MAX][2]; /* stretch, ascending; stress per rest area, Pa */
} pl_splines;

typedef struct pl_lame_constants {
    double mu, lambda; /* Pa */
} pl_lame_constants;

/* Wang 2016, eq. 13-15; those that its model does not have are 0. */
typedef struct pl_rubber_constants {
    double s0, s1, s2; /* Pa */
    double s3;         /* 1 */
} pl_rubber_constants;

/* Points of a piecewise linear function, constant outside of them; count 0: none. */
typedef struct pl_damping_points {
    int32_t count;
    double points[PL_DAMPING_POINTS_MAX][2]; /* argument, ascending; multiplier */
} pl_damping_points;

/* Dissipation of a material's elements (engine/model/damping/damping.h). */
typedef struct pl_material_damping {
    bool present;
    pl_damping_model model;
    double viscosity, bulk_viscosity;     /* Pa s */
    double beta;                          /* s */
    double coefficient, power, smoothing; /* Pa s^p, 1, 1/s */
    double mass;                          /* 1/s */
    pl_damping_points strain_spline;      /* of any model: by principal stretch */
    pl_damping_points rate_spline;        /* by |dS/dt|, 1/s */
    pl_damping_momentum momentum;
    bool second_order;
    pl_damping_form form;
} pl_material_damping;

typedef struct pl_material {
    char *name;
    pl_material_kind model;
    double young;   /* Pa */
    double poisson; /* 1 */
    bool has_lame;  /* in place of young and poisson */
    pl_lame_constants lame;
    bool has_constants; /* in place of either */
    pl_rubber_constants constants;
    pl_splines splines;
    bool invertible;  /* energies give way to a convex one under strong compression */
    double density;   /* kg/m^3 */
    double thickness; /* of triangles, m */
    double area;      /* cross-section of edges, m^2 */
    pl_bending bending;
    pl_strain_limit strain_limit;
    pl_fibers fibers;
    pl_inextensible inextensible; /* edges */
    pl_material_damping damping;
    double air_damping; /* N s/m^3 */
} pl_material;

/* Where a motion is at one time: x = R(axis, degrees) (x(0) - origin) + origin + translate. */
typedef struct pl_keyframe {
    double time;         /* s */
    double translate[3]; /* m */
    double axis[3];      /* unit */
    double degrees;
} pl_keyframe;
typedef enum pl_interpolation {
    PL_INTERPOLATION_LINEAR, /* at a constant rate from one keyframe to the next */
    PL_INTERPOLATION_SMOOTH, /* at rest at every keyframe: 3 s^2 - 2 s^3 of the way */
} pl_interpolation;

struct pl_drive; /* engine/scene/motion.h */

/* A rigid motion over time: x(t) = R(axis, rate t) (x - origin) + origin + velocity t; or by
 * keyframes, which start from the identity at time 0 where they do not say otherwise, and end at the
 * last one's. */
typedef struct pl_motion {
    bool present;
    pl_interpolation interpolation;
    int32_t keyframe_count;    /* 0: by the rates below */
    pl_keyframe *keyframes;    /* by time; the scene's, or the model's */
    double velocity[3];        /* m/s */
    double axis[3];            /* unit */
    double degrees_per_second; /* 0: no rotation */
    bool has_origin;
    double origin[3]; /* m; without has_origin: the centre of the selection, or of the obstacle */
    const struct pl_drive
        *drive; /* the model's, of a motion that a control may take over; else NULL */
} pl_motion;

typedef enum pl_selection_kind {
    PL_SELECT_ALL,     /* every vertex */
    PL_SELECT_SIDE,    /* vertices on a face of the body's bounding box, within 1e-6 of its size */
    PL_SELECT_BOX,     /* lo <= x <= hi */
    PL_SELECT_SPHERE,  /* |x - center| <= radius */
    PL_SELECT_PLANE,   /* normal . x <= offset */
    PL_SELECT_INDICES, /* mesh order, 0-based */
    PL_SELECT_TAG,     /* vertices of the mesh file's group: its name, or its number in decimal */
} pl_selection_kind;

/* Which vertices of a body. Coordinates are of the body as placed by its transform, at rest; with
 * `relative` they run from 0 to 1 over its bounding box (a sphere's radius over the box's longest
 * edge, a plane's offset along its normal in those coordinates). */
typedef struct pl_selection {
    pl_selection_kind kind;
    bool relative;
    int32_t side_axis;   /* 0 x, 1 y, 2 z */
    int32_t side_sign;   /* -1 or +1 */
    double lo[3], hi[3]; /* box */
    double center[3];    /* sphere */
    double radius;       /* sphere, m */
    double normal[3];    /* plane */
    double offset;       /* plane, m */
    int64_t *indices;
    int64_t index_count;
    char *tag;
} pl_selection;

typedef enum pl_load_kind { PL_LOAD_WIND, PL_LOAD_POINT, PL_LOAD_PRESSURE } pl_load_kind;

/* What pushes bodies beside gravity, in steps that start from `from` on and before `until`. */
typedef struct pl_scene_force {
    char *name; /* given, or "force-K" */
    pl_load_kind kind;
    double from; /* s */
    bool has_until;
    double until;  /* s */
    bool has_body; /* wind: else on all bodies */
    int32_t body;
    double velocity[3]; /* wind: of the air, m/s */
    double density;     /* wind: of the air, kg/m^3 */
    double drag;        /* wind: coefficient, 1 */
    pl_selection select;
    double force[3]; /* point, N: of the selection, or of each of its vertices */
    bool each;
    double pressure; /* Pa, inside less outside */
} pl_scene_force;

enum { PL_AXES_ALL = 7 };

/* Vertices held at, or moved to, where the motion puts them; the coordinates that are not among the
 * axes stay free. */
typedef struct pl_pin {
    char *name; /* given, or "pin-K" */
    int32_t body;
    pl_selection select;
    int32_t axes; /* the coordinates that it holds: bit c is coordinate c */
    pl_motion motion;
} pl_pin;

/* k/2 |x - p|^2 of every selected vertex, p a point of another body, of an obstacle's surface, or a
 * place, which stays or is carried along by an obstacle. */
typedef struct pl_attachment {
    char *name; /* given, or "attachment-K" */
    int32_t body;
    pl_selection select;
    bool has_to;
    int32_t to; /* body, at its point nearest to the vertex at rest */
    bool has_obstacle;
    int32_t obstacle; /* at the point of its surface nearest to the vertex at rest, or at `point` */
    bool has_point;
    double point[3];  /* m, at time 0 */
    double stiffness; /* k, N/m */
} pl_attachment;

/* Applied as scale, then rotate about the origin, then translate. */
typedef struct pl_transform {
    double scale[3];
    double rotate_axis[3];
    double rotate_degrees;
    double translate[3]; /* m */
} pl_transform;

typedef enum pl_mesh_source_kind {
    PL_SOURCE_BOX,
    PL_SOURCE_SPHERE,
    PL_SOURCE_UPLOAD,
    PL_SOURCE_INLINE,
    PL_SOURCE_CLOTH,
    PL_SOURCE_ROPE,
    PL_SOURCE_CYLINDER,
    PL_SOURCE_TORUS,
    PL_SOURCE_HELIX,
} pl_mesh_source_kind;

/* How the cells of a generated cloth are cut in two; engine/mesh/mesh.h says which is which. */
typedef enum pl_diagonal_kind {
    PL_DIAGONAL_ALTERNATING,
    PL_DIAGONAL_UP,
    PL_DIAGONAL_DOWN
} pl_diagonal_kind;

typedef enum pl_upload_format {
    PL_UPLOAD_GMSH,
    PL_UPLOAD_TETGEN,
    PL_UPLOAD_MEDIT,
    PL_UPLOAD_OBJ,
    PL_UPLOAD_VTK,
    PL_UPLOAD_VTU,
    PL_UPLOAD_VEGA,
    PL_UPLOAD_ABAQUS,
    PL_UPLOAD_STL,
    PL_UPLOAD_PLY
} pl_upload_format;

typedef struct pl_cloth_source {
    double size[2]; /* m */
    int32_t cells[2];
    pl_diagonal_kind diagonal;
    bool springs; /* in place of triangles */
} pl_cloth_source;

typedef struct pl_rope_source {
    double length;       /* m */
    double direction[3]; /* unit */
    int32_t segments;
} pl_rope_source;

/* Cylinder, torus, helix. */
typedef struct pl_tube_source {
    double radius;       /* of a cylinder, or of the curve, m */
    double tube;         /* radius of what follows the curve, m */
    double length;       /* cylinder, m */
    double pitch, turns; /* helix: m a turn */
    int32_t strands;     /* helix */
    int32_t cells[2];    /* across, along */
} pl_tube_source;

typedef struct pl_mesh_source {
    pl_mesh_source_kind kind;
    double size[3];   /* box, m */
    int32_t cells[3]; /* box */
    double radius;    /* sphere, m */
    int32_t sphere_cells;
    pl_cloth_source cloth;
    pl_rope_source rope;
    pl_tube_source cylinder, torus, helix;
    pl_upload_format format;
    char *upload[2];      /* "sha256:<64 hex>": the file, or TetGen's node and ele */
    int32_t upload_count; /* 1 or 2 */
    bool refuse_negative; /* "orientation": "refuse" */
    int64_t vertex_count; /* inline; an obstacle's also of its file, once it is loaded */
    double *vertices;     /* [vertex_count][3] */
    int64_t tet_count, triangle_count, edge_count;
    int64_t *tets;      /* inline [tet_count][4] */
    int64_t *triangles; /* the same [triangle_count][3] */
    int64_t *edges;     /* inline [edge_count][2] */
} pl_mesh_source;

typedef enum pl_shape_kind {
    PL_SHAPE_REST,
    PL_SHAPE_COLLAPSED, /* every vertex at the centre of mass */
    PL_SHAPE_RANDOM,    /* uniform in the body's bounding box */
    PL_SHAPE_TWISTED,   /* turned about the axis through the body's centre by turns x position */
    PL_SHAPE_STRETCHED, /* scaled about the body's centre */
} pl_shape_kind;

typedef struct pl_initial {
    double velocity[3];         /* m/s */
    double angular_velocity[3]; /* rad/s, about the centre of mass */
    pl_shape_kind shape;
    int64_t seed;      /* random */
    double turns;      /* twisted */
    double axis[3];    /* twisted, unit */
    double stretch[3]; /* stretched */
} pl_initial;

/* Another material for the elements of a group of the mesh file: its name, or its number. */
typedef struct pl_tag_material {
    char *tag;
    int32_t material;
} pl_tag_material;

/* Names of the mesh file's fields, NULL where the body uses none. */
typedef struct pl_body_fields {
    char *stiffness; /* factor on the element's stiffness, 1 */
    char *fibers;    /* direction of its fibres in the mesh's coordinates */
} pl_body_fields;

typedef struct pl_body {
    char *name;
    pl_mesh_source mesh;
    int32_t material;           /* index into materials */
    int32_t tag_material_count; /* materials_by_tag, in its order: of several the last holds */
    pl_tag_material *tag_materials;
    pl_body_fields fields;
    pl_transform transform;
    pl_initial initial;
    double friction; /* factor on the coefficients of obstacles, >= 0 */
} pl_body;

/* What an expectation looks at. Of vertices, from the stored positions, up to PL_QUANTITY_SPEED;
 * the others from a frame's metrics. Vectors take a component. */
typedef enum pl_quantity {
    PL_QUANTITY_POSITION,     /* m */
    PL_QUANTITY_DISPLACEMENT, /* m, from frame 0 */
    PL_QUANTITY_VELOCITY,     /* m/s, over the time since the frame before; 0 in frame 0 */
    PL_QUANTITY_REACTION,     /* N, that a pin or an obstacle exerts */
    PL_QUANTITY_LINEAR_MOMENTUM,
    PL_QUANTITY_ANGULAR_MOMENTUM,
    PL_QUANTITY_KINETIC,       /* J */
    PL_QUANTITY_ELASTIC,       /* J */
    PL_QUANTITY_ENERGY,        /* J: kinetic + elastic + gravity */
    PL_QUANTITY_ENERGY_DRIFT,  /* (energy - that of frame 0) / most of |kinetic| + |elastic| */
    PL_QUANTITY_INVERTED,      /* tetrahedra */
    PL_QUANTITY_CONTACTS,      /* pairs that carry force */
    PL_QUANTITY_MAX_STRETCH,   /* 1 */
    PL_QUANTITY_CONVERGED,     /* fraction of the frame's steps */
    PL_QUANTITY_ITERATIONS,    /* of the frame's steps */
    PL_QUANTITY_HALVED,        /* steps taken as two halves */
    PL_QUANTITY_OBJECTIVE,     /* J */
    PL_QUANTITY_GRADIENT_NORM, /* N */
    PL_QUANTITY_PENETRATION,   /* m, of the deepest vertex into an obstacle */
    PL_QUANTITY_COUNT
} pl_quantity;

/* Over the selected vertices. */
typedef enum pl_statistic {
    PL_STATISTIC_MEAN,
    PL_STATISTIC_MIN,
    PL_STATISTIC_MAX,
    PL_STATISTIC_RANGE, /* max - min */
} pl_statistic;
typedef enum pl_component {
    PL_COMPONENT_X,
    PL_COMPONENT_Y,
    PL_COMPONENT_Z,
    PL_COMPONENT_NORM
} pl_component;
/* Which frames: one, or all of those in [from, to], some of those, or the mean over them. */
typedef enum pl_when {
    PL_WHEN_END,
    PL_WHEN_START,
    PL_WHEN_EVERY,
    PL_WHEN_SOME,
    PL_WHEN_MEAN,
    PL_WHEN_TIME
} pl_when;

/* What a run must show: min <= quantity <= max, or |quantity - equals| <= tolerance. Decides no bit
 * of the run. */
typedef struct pl_expectation {
    char *name;
    pl_quantity quantity;
    pl_component component; /* with has_component; else the norm */
    pl_statistic statistic; /* of vertices; with has_statistic, else the mean */
    int32_t body;           /* with has_body; else every body's vertices */
    pl_selection select;    /* with has_select; else all of the body's */
    int32_t pin, obstacle;  /* of a reaction or penetration, with has_pin or has_obstacle */
    pl_when when;
    double at;       /* s, with PL_WHEN_TIME: the frame nearest to it */
    double from, to; /* s */
    double min, max, equals, tolerance;
    bool has_component, has_statistic, has_body, has_select, has_pin, has_obstacle, has_from,
        has_to, has_min, has_max, has_equals, has_tolerance;
} pl_expectation;

typedef enum pl_obstacle_kind {
    PL_OBSTACLE_PLANE,
    PL_OBSTACLE_SPHERE,
    PL_OBSTACLE_BOX,
    PL_OBSTACLE_CYLINDER,
    PL_OBSTACLE_CAPSULE,
    PL_OBSTACLE_TORUS,
    PL_OBSTACLE_HEIGHTFIELD,
    PL_OBSTACLE_MESH,
} pl_obstacle_kind;

/* A closed surface; of the source its vertices and triangles, or the file that they are in. */
typedef struct pl_obstacle_mesh {
    pl_mesh_source source; /* first: its keys are this struct's */
    pl_transform transform;
    bool inside;
} pl_obstacle_mesh;

/* A solid that bodies stay out of, or, with `inside`, in. */
typedef struct pl_obstacle {
    char *name; /* given, or "obstacle-K" */
    pl_obstacle_kind kind;
    double normal[3];   /* plane: unit, points to the free side */
    double offset;      /* plane: normal . x = offset, m */
    double center[3];   /* all but the plane, m */
    double axis[3];     /* cylinder, capsule, torus: unit */
    double radius;      /* sphere, cylinder, capsule, and of the torus's circle, m */
    double tube;        /* torus: radius of the tube, m, < radius */
    bool has_height;    /* cylinder: without, it has no ends */
    double height;      /* cylinder: along the axis; capsule: between the centres of its ends, m */
    double size[3];     /* box, m */
    double rounding;    /* box, cylinder: radius of the edges, within the size, m */
    pl_transform place; /* box: rotation about its centre; nothing else of it is used */
    int32_t rows, columns; /* heightfield: samples along z and x, >= 2 */
    double *heights;       /* [rows][columns] m along y, over the centre */
    double spacing;        /* between samples, m */
    bool has_depth;        /* else the longer side */
    double depth;          /* of the flat bottom below the lowest sample, m */
    pl_obstacle_mesh mesh;
    bool inside;        /* of all but plane, heightfield and mesh, which has its own */
    double friction;    /* Coulomb coefficient, >= 0 */
    double restitution; /* 0 .. 1: what a vertex leaves with, of the normal velocity it came with */
    pl_motion motion;
} pl_obstacle;

/* What is kept of the frames of a run (protocol/log/log_prune.h); all where everything is 0. */
typedef struct pl_retention {
    int64_t every; /* of older frames, those with a number that this divides; 0: none */
    int64_t last;  /* frames that are all kept; 0: those of the open segment */
    double days;   /* after its end it all goes; 0: it does not */
} pl_retention;

/* Bits of what is stored of each vertex. */
enum {
    PL_OUTPUT_POSITION = 1,
    PL_OUTPUT_VELOCITY = 2,
    PL_OUTPUT_STRESS = 4,
    PL_OUTPUT_ELEMENT_STRESS = 8
};

typedef struct pl_output {
    int64_t every; /* steps a frame */
    pl_metrics_detail metrics;
    pl_output_precision precision;
    int32_t fields; /* PL_OUTPUT_*, the position always */
    pl_retention retention;
    int32_t probe_count;
    pl_expectation *probes; /* what is looked at, without times and bounds; "probe-K" */
} pl_output;

typedef struct pl_resources {
    int32_t cores;     /* threads of the worker */
    double memory;     /* bytes; 0: as estimated */
    double time_limit; /* s of running; 0: none */
} pl_resources;

typedef struct pl_scene {
    char *name;
    pl_time time;
    pl_solver_settings solver;
    double gravity[3]; /* m/s^2 */
    int32_t material_count, body_count, pin_count, obstacle_count, expectation_count;
    pl_material *materials;
    pl_body *bodies;
    pl_pin *pins;
    int32_t attachment_count;
    pl_attachment *attachments;
    pl_obstacle *obstacles;
    int32_t force_count;
    pl_scene_force *forces;
    pl_expectation *expectations;
    pl_output output;
    pl_resources resources;
} pl_scene;

/* Frames of a run after frame 0: steps / every, the last partial one included. */
static inline int64_t pl_scene_frames(const pl_scene *scene)
{
    return (scene->time.steps + scene->output.every - 1) / scene->output.every;
}

static inline bool pl_scene_endless(const pl_scene *scene)
{
    return scene->time.steps == PL_STEPS_ENDLESS;
}

/* Whether it is computed with floats: as the scene says, or else on a GPU. */
static inline bool pl_solver_is_single(const pl_solver_settings *solver)
{
    if (solver->precision != PL_PRECISION_AUTO)
        return solver->precision == PL_PRECISION_SINGLE;
    return solver->device == PL_DEVICE_GPU;
}

/* Release what the scene owns (strings, arrays) and zero it. Not the struct itself. */
void pl_scene_clear(pl_scene *scene);

#endif
