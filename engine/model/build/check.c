/* Preflight's checks before a model is built: faults, sizes, and the cost of the run. */
#include "engine/contact/points.h"
#include "engine/scene/carries.h"
#include "engine/model/build/layout.h"
#include "engine/model/factors.h"
#include "engine/obstacles/solid.h"
#include "engine/step/pliant.h"

#include <math.h>
#include <stdlib.h>

/* The memory estimate can reject scenes, so all such estimates err on the large side. */

/* Numbers of a factor that would take as much memory and time as a multigrid. Per vertex it takes 260 (boxes) to 340
 * bytes (meshes) for its matrices and 300 for the vectors of a solve, which takes 0.3 us. */
static double multigrid_nonzeros(double n)
{
    return 100 * n;
}

/* Cost of a method beside the factor. */
typedef struct method_cost {
    double tet_seconds, vertex_seconds; /* per iteration, beside the solve */
    double tet_bytes, vertex_bytes;
} method_cost;

static method_cost cost_of(const pl_solver_settings *solver)
{
    double pairs = solver->window + 1;
    const method_cost without = {110e-9, 300e-9, 520, 420}; /* and no history */
    switch (solver->method) {
    case PL_METHOD_ADMM: /* a prox and a sum; z and u, twice with momentum; residuals, differences */
        if (solver->acceleration == PL_ACCELERATION_ANDERSON)
            return (method_cost){210e-9, 250e-9, 1150, 400};
        break;
    case PL_METHOD_PROJECTIVE_DYNAMICS: /* the same without momentum */
        return (method_cost){170e-9, 250e-9, 750, 400};
    case PL_METHOD_AUTO: /* as for quasi_newton and newton, mostly the first */
        return (method_cost){150e-9, 250e-9 + 5e-9 * pairs, 1500, 1500 + 48 * pairs};
    case PL_METHOD_QUASI_NEWTON: /* energy with gradient and a gather; two vectors per pair */
    case PL_METHOD_LBFGS:
        return (method_cost){100e-9, 250e-9 + 5e-9 * pairs, 520, 520 + 48 * pairs};
    case PL_METHOD_NEWTON: /* Hessians, made semidefinite, and their sums */
        return (method_cost){10e-6, 1e-6, 1500, 1500};
    case PL_METHOD_VERTEX_BLOCK_DESCENT: /* each term four times, with its copies */
        return (method_cost){400e-9, 600e-9, 1200, 700};
    case PL_METHOD_NONLINEAR_CG: /* one or two trials per iteration */
        return (method_cost){200e-9, 400e-9, 520, 520};
    case PL_METHOD_GRADIENT_DESCENT:
    case PL_METHOD_BARZILAI_BORWEIN:
    case PL_METHOD_CHEBYSHEV_SEMI_ITERATIVE:
    case PL_METHOD_CHEBYSHEV_DESCENT:
        return without;
    }
    return (method_cost){170e-9, 250e-9, 820, 400};
}

/* Newton's own factor, made in each iteration: 16.5 numbers for each of the constant matrix's, and a time that
 * grows with the square of the number of vertices, as expected in three dimensions. Or conjugate gradients, each a
 * product with H and a solve with the constant matrix. nnz: of that factor; own: of one of H's size. */
enum { GRADIENTS = 40 };
static void add_newton_solves(const pl_solver_settings *solver, double n, double nnz, double own,
                              pl_estimate *out, double iterations)
{
    if (solver->method != PL_METHOD_NEWTON && solver->method != PL_METHOD_AUTO)
        return;
    const pl_linear_kind linear = pl_newton_linear(solver, (int64_t)n);
    const bool direct = linear == PL_LINEAR_DIRECT;
    out->memory_bytes += direct || linear == PL_LINEAR_AUTO ? 16.5 * 8 * own : 0;
    if (solver->method == PL_METHOD_AUTO) /* which makes few of them */
        return;
    if (direct) {
        out->seconds_per_frame += iterations * 2.5e-8 * n * n;
    } else {
        out->seconds_per_frame += iterations * GRADIENTS * (4e-7 * n + 2 * 8 * nnz / 5e9);
    }
}

/* Estimated iterations of auto per step: it needs few of its maximum. If bodies touch, it needs more, some of them
 * Newton's. */
static const double USUAL = 60, USUAL_TOUCHING = 90;

/* All terms, as the number of tetrahedra that would take as much memory: contributions, z and u twice, constants.
 * Triangles 0.7, links of two corners 0.4, of four 0.6 (1.5 interior edges per triangle), limits by values as their
 * element, by columns a link each; a vertex that may touch an obstacle 0.3, as if all were on the surface. */
static double equivalent_tets(const pl_scene *scene, const pl_layout *layout)
{
    static const double SIZE[PL_ELEMENT_KINDS] = {1, 0.7, 0.4};
    double sum = 0;
    for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++) {
        const pl_elements *e = &layout->elements[kind];
        bool edges = kind == PL_ELEMENT_EDGE;
        for (int64_t t = 0; t < e->count; t++) {
            const pl_material *m = &scene->materials[e->material[t]];
            sum += SIZE[kind];
            if (kind != PL_ELEMENT_TET && m->bending.present)
                sum += edges ? 0.6 : 0.9;
            if (!edges && m->strain_limit.present)
                sum += m->strain_limit.by == PL_LIMIT_COLUMNS ? 0.6 * (e->corners - 1) : SIZE[kind];
            if (!edges && m->fibers.present)
                sum += 0.6;
            if (m->damping.present)
                sum += 1.2 * SIZE[kind];
            if (m->damping.present && kind != PL_ELEMENT_TET && m->bending.present)
                sum += edges ? 0.9 : 1.4;
            if (m->damping.present && !edges && m->fibers.present)
                sum += 0.9;
        }
    }
    for (int32_t i = 0; i < layout->attachment_count; i++)
        sum += (double)layout->attached[i].count;
    return sum + 0.3 * (double)scene->obstacle_count * (double)layout->vertices;
}

/* The trees of solid obstacles, and their input: bytes per triangle (closed_mesh.c). */
static double obstacle_bytes(const pl_scene *scene)
{
    double triangles = 0;
    for (int32_t o = 0; o < scene->obstacle_count; o++)
        triangles += (double)pl_obstacle_triangles(&scene->obstacles[o]);
    return 400 * triangles;
}

/* Coordinates in which other vertices are held have their own factors (model.h). */
static double factor_count(const pl_layout *layout)
{
    bool differ[3] = {false};
    for (int64_t i = 0; i < layout->vertices; i++) {
        unsigned char held = layout->held[i];
        for (int c = 0; c < 3; c++)
            differ[c] |= (held >> c & 1) != (held >> (c + 1) % 3 & 1);
    }
    int differing = differ[0] + differ[1] + differ[2]; /* of three pairs: none, two, or all */
    return differing == 0 ? 1 : differing;
}

/* Additional time of ADMM's prox for models that have only the general one, per iteration: 350 ns per tetrahedron
 * near rest (tests/bench/measurements.md). */
static double general_prox_seconds(const pl_scene *scene, const pl_layout *layout)
{
    const pl_elements *e = &layout->elements[PL_ELEMENT_TET];
    int64_t count = 0;
    for (int64_t t = 0; t < e->count; t++) {
        const pl_material *m = &scene->materials[e->material[t]];
        count += m->invertible ||
                 (m->model > PL_MATERIAL_ARAP && m->model != PL_MATERIAL_POLYNOMIAL);
    }
    return scene->solver.method == PL_METHOD_ADMM ? 350e-9 * (double)count : 0;
}

/* ADMM's second matrix and factor, once elements are strongly compressed (solvers/weights.h). Couplings that cancel
 * if weights are alike do not cancel there, which fills the factor of a generated box up to twice. */
static double reweighed_bytes(const pl_scene *scene, const pl_layout *layout, double nnz)
{
    const pl_elements *e = &layout->elements[PL_ELEMENT_TET];
    bool any = false;
    for (int64_t t = 0; t < e->count && !any; t++)
        any = scene->materials[e->material[t]].model != PL_MATERIAL_ARAP;
    if (scene->solver.method != PL_METHOD_ADMM || !any)
        return 0;
    return 1.6 * 8 * nnz + 600.0 * (double)e->count; /* the list of entries during assembly */
}

/* Memory of methods with the matrix. Per vertex: its row, 16 wide, and five vectors. Per tetrahedron: nine numbers
 * in each of the arrays of values, sums, the dual's contributions, and Anderson's residuals, and differences in
 * single precision. */
static double splitting_bytes(const pl_scene *scene, double terms, double vertices, double number)
{
    pl_method_kind method = scene->solver.method;
    if (!pl_method_uses_matrix(method))
        return 0;
    const bool admm = method == PL_METHOD_ADMM;
    double term = 24;
    if (method == PL_METHOD_PROJECTIVE_DYNAMICS)
        term += 27 * number;
    if (admm)
        term += 34 * number;
    if (admm && scene->solver.acceleration == PL_ACCELERATION_NESTEROV)
        term += 18 * number;
    if (admm && scene->solver.acceleration == PL_ACCELERATION_ANDERSON)
        term += 9 * number + 7 * 9 * number + 6 * 36 + 72;
    return terms * term + vertices * (16 * (4 + number) + 20 * number + 12);
}

/* Memory that backends/device allocates. Per tetrahedron: shape, volume, constants, weight, energy and measures,
 * and a contribution of four numbers per corner, with their places and the corners' numbers. Per vertex: positions,
 * rows and the history in its precision, sums in double, and a frame's numbers. */
static double device_bytes(const pl_scene *scene, double terms, double vertices)
{
    if (scene->solver.device == PL_DEVICE_CPU)
        return 0;
    double number = pl_solver_is_single(&scene->solver) ? 4 : 8;
    bool newtons = scene->solver.method == PL_METHOD_LBFGS ||
                   scene->solver.method == PL_METHOD_AUTO ||
                   scene->solver.method == PL_METHOD_QUASI_NEWTON;
    double pairs = newtons ? 2.0 * (scene->solver.window + 1) : 0;
    double frame = 3 * (scene->output.precision ? 8 : 4) *
                   (scene->output.fields & PL_OUTPUT_VELOCITY ? 2 : 1);
    return 1e6 + terms * (48 + 42 * number) + vertices * (90 + frame + 3 * number * (16 + pairs)) +
           splitting_bytes(scene, terms, vertices, number) + obstacle_bytes(scene);
}

/* ---- contact between bodies ---- */

/* Number of features that may touch: triangles of surfaces; a rope's segment counts as one. */
typedef struct touching {
    double solids, sheets; /* triangles */
    bool likely;           /* more than one body, or one that folds */
} touching;

static pl_status count_touching(const pl_scene *scene, const pl_mesh *meshes, touching *out)
{
    *out = (touching){.likely = scene->body_count > 1};
    if (!scene->contact.enabled)
        out->likely = false;
    for (int32_t i = 0; scene->contact.enabled && i < scene->body_count; i++) {
        int32_t *triangles = NULL;
        int64_t count = 0;
        pl_status status = pl_mesh_surface(&meshes[i], &triangles, &count);
        free(triangles);
        if (status != PL_OK)
            return status;
        const bool solid = meshes[i].tet_count > 0;
        *(solid ? &out->solids : &out->sheets) += (double)count + (double)meshes[i].edge_count;
        out->likely = out->likely || !solid;
    }
    return PL_OK;
}

/* Trees and tables take 200 bytes per triangle, and a surface vertex in two pairs 1000; any vertex 100 for saved
 * positions. The worst of six scenes with up to 6,400 triangles measured a tenth less. */
static double touching_bytes(const touching *t, double vertices)
{
    const double triangles = t->solids + t->sheets;
    return triangles > 0 ? 700 * triangles + 100 * vertices : 0;
}

/* Per step: some searches and sweeps, 1.2e-6 s per triangle each. */
static double touching_seconds(const touching *t)
{
    return 6e-6 * (t->solids + t->sheets);
}

/* Newton's factor grows by the pairs of vertices that touch: as if there were a third more of the surface vertices. */
static double touching_nonzeros(const touching *t, double n)
{
    return pl_factor_expected(n + (t->likely ? (t->solids + t->sheets) / 6 : 0));
}

/* Contact points in a frame: for a folded sheet one per two triangles, for solids one per fifty. */
static double points_of(const touching *t)
{
    return fmin(0.02 * t->solids + 0.5 * t->sheets, PL_CONTACT_POINTS);
}

/* ---- the whole ---- */

static double frame_bytes(const pl_scene *scene, const touching *t, double values)
{
    const double width = scene->output.precision == PL_OUTPUT_DOUBLE ? 8 : 4;
    const bool lists = scene->output.fields & PL_OUTPUT_CONTACTS;
    return values * width + (lists ? points_of(t) * (8 + 7 * width) : 0) + 1200;
}

/* Numbers in a frame. */
static double values_of(const pl_scene *scene, const pl_layout *layout)
{
    int32_t fields = scene->output.fields;
    double elements = (double)layout->tets + (double)layout->elements[PL_ELEMENT_TRIANGLE].count;
    return 3 * ((double)layout->vertices *
                    __builtin_popcount((unsigned)fields & (PL_OUTPUT_POSITION | PL_OUTPUT_VELOCITY |
                                                           PL_OUTPUT_STRESS)) +
                (fields & PL_OUTPUT_ELEMENT_STRESS ? elements : 0));
}

/* For 9,072 tetrahedra, a second core makes a frame 1.3 (quasi_newton) to 1.9 times (admm) as fast (README.md,
 * Numbers); for half as many it hardly helps. More than eight cores were not measured. */
static int32_t cores_that_pay(const pl_scene *scene, double tets)
{
    const double tets_a_core = 4000, most = 8;
    if (scene->solver.device != PL_DEVICE_CPU)
        return 1;
    return (int32_t)fmax(1, fmin(tets / tets_a_core, most));
}

pl_status pl_scene_check(const pl_scene *scene, const pl_mesh *meshes, pl_estimate *out,
                         int64_t *pin_counts, pl_faults *faults)
{
    pl_layout layout;
    pl_status status = pl_layout_check(scene, meshes, &layout, faults);
    if (status != PL_OK)
        return status;
    touching touch;
    status = count_touching(scene, meshes, &touch);
    if (status != PL_OK) {
        pl_layout_destroy(&layout);
        return status;
    }
    double n = (double)layout.free_vertices, m = equivalent_tets(scene, &layout);
    bool factored = pl_method_uses_matrix(scene->solver.method) &&
                    scene->solver.device == PL_DEVICE_CPU;
    bool multigrid = scene->solver.matrix == PL_MATRIX_MULTIGRID;
    double nnz = !factored ? 0 : multigrid ? multigrid_nonzeros(n) : pl_factor_expected(n);
    double factors = factor_count(&layout);
    double steps = (double)scene->output.every, iterations = scene->solver.iterations;
    if (scene->solver.automatic)
        iterations = fmin(iterations, touch.likely ? USUAL_TOUCHING : USUAL);
    method_cost cost = cost_of(&scene->solver);
    /* A solve streams the factor twice. */
    double iteration = cost.tet_seconds * m + cost.vertex_seconds * n +
                       2 * 8 * nnz * factors / 5e9 + general_prox_seconds(scene, &layout);
    *out = (pl_estimate){
        .vertices = layout.vertices,
        .tets = layout.tets,
        .free_vertices = layout.free_vertices,
        .memory_bytes = 32e6 + cost.tet_bytes * m + cost.vertex_bytes * (double)layout.vertices +
                        1.15 * 8 * nnz * factors +
                        (scene->force_count ? 250 : 24) * (double)layout.vertices +
                        obstacle_bytes(scene) + reweighed_bytes(scene, &layout, nnz * factors) +
                        touching_bytes(&touch, (double)layout.vertices),
        .device_bytes = device_bytes(scene, m, (double)layout.vertices),
        .seconds_per_frame = steps * (iterations * iteration + touching_seconds(&touch)),
        .setup_seconds = 0.005 + 3e-6 * m + 4e-8 * nnz * factors,
        .frame_bytes = frame_bytes(scene, &touch, values_of(scene, &layout)),
        .cores = cores_that_pay(scene, m),
    };
    add_newton_solves(&scene->solver, n, nnz, touching_nonzeros(&touch, n), out,
                      steps * iterations);
    for (int32_t p = 0; pin_counts && p < scene->pin_count; p++)
        pin_counts[p] = layout.pins[p].count;
    pl_layout_destroy(&layout);
    return PL_OK;
}
