#include "engine/scene/carries.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct method {
    unsigned refuses;
    bool matrix;
} method;

/* Splitting needs only a prox of every term; projections can replace a prox only if the energy is a squared
 * distance; descent needs a finite energy with a gradient. */
static const method METHODS[PL_METHOD_KINDS] = {
    [PL_METHOD_ADMM] = {PL_TRAIT_NO_PROX, true},
    [PL_METHOD_QUASI_NEWTON] = {PL_TRAIT_HARD, true},
    [PL_METHOD_NEWTON] = {PL_TRAIT_HARD | PL_TRAIT_NO_HESSIAN, true},
    [PL_METHOD_LBFGS] = {PL_TRAIT_HARD | PL_TRAIT_HELD | PL_TRAIT_NO_HESSIAN, false},
    [PL_METHOD_GRADIENT_DESCENT] = {PL_TRAIT_HARD | PL_TRAIT_HELD | PL_TRAIT_NO_HESSIAN, false},
    [PL_METHOD_NONLINEAR_CG] = {PL_TRAIT_HARD | PL_TRAIT_HELD | PL_TRAIT_NO_HESSIAN, false},
    [PL_METHOD_CHEBYSHEV_SEMI_ITERATIVE] = {PL_TRAIT_HARD | PL_TRAIT_HELD, true},
    [PL_METHOD_CHEBYSHEV_DESCENT] = {PL_TRAIT_HARD | PL_TRAIT_HELD | PL_TRAIT_NO_HESSIAN, false},
    [PL_METHOD_PROJECTIVE_DYNAMICS] = {PL_TRAIT_HARD | PL_TRAIT_HELD | PL_TRAIT_NO_PROX |
                                           PL_TRAIT_NOT_DISTANCE,
                                       true},
    [PL_METHOD_BARZILAI_BORWEIN] = {PL_TRAIT_HARD | PL_TRAIT_HELD | PL_TRAIT_NO_HESSIAN, false},
    [PL_METHOD_VERTEX_BLOCK_DESCENT] = {PL_TRAIT_HARD | PL_TRAIT_HELD | PL_TRAIT_NO_HESSIAN, false},
    [PL_METHOD_AUTO] = {PL_TRAIT_HARD | PL_TRAIT_NO_HESSIAN, true},
};

static const char *const NAMES[] = {
#define NAME(kind, name) #name,
    PL_EACH_METHOD(NAME)
#undef NAME
};

typedef struct reason {
    pl_trait trait;
    const char *why;
} reason;

static const reason REASONS[] = {
    {PL_TRAIT_HARD, "they are hard constraints, for which it has no energy"},
    {PL_TRAIT_HELD, "they are hard constraints, whose multipliers it does not renew"},
    {PL_TRAIT_NO_PROX, "they have no proximal operator, which its local step needs"},
    {PL_TRAIT_NOT_DISTANCE, "their energy is not a squared distance from a set, so that a "
                            "projection does not minimise it"},
    {PL_TRAIT_NO_HESSIAN, "they have no second derivatives"},
};

/* Properties that terms of a material lack; only those of ARAP are squared distances. */
static const struct {
    const char *what;
    unsigned traits;
} MATERIALS[PL_MATERIAL_KINDS] = {
#define ROW(kind, name)                                                                            \
    [PL_MATERIAL_##kind] = {#name " material",                                                     \
                            PL_MATERIAL_##kind == PL_MATERIAL_ARAP ? 0 : PL_TRAIT_NOT_DISTANCE},
    PL_STRETCH_EACH_KIND(ROW)
#undef ROW
};

const char *pl_method_refuses(pl_method_kind kind, unsigned traits)
{
    unsigned refused = METHODS[kind].refuses & traits;
    for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++)
        if (refused & REASONS[i].trait)
            return REASONS[i].why;
    return NULL;
}

bool pl_method_takes(pl_method_kind kind, unsigned traits)
{
    return !pl_method_refuses(kind, traits) ||
           (kind == PL_METHOD_AUTO && !pl_method_refuses(PL_METHOD_ADMM, traits));
}

unsigned pl_material_traits(pl_material_kind model)
{
    return MATERIALS[model].traits;
}

bool pl_method_uses_matrix(pl_method_kind kind)
{
    return METHODS[kind].matrix;
}

const char *pl_method_name(pl_method_kind kind)
{
    return NAMES[kind];
}

const char *pl_methods_that_carry(unsigned traits, char *text, size_t size)
{
    int32_t left = 0;
    for (pl_method_kind k = 0; k < PL_METHOD_KINDS; k++)
        left += pl_method_takes(k, traits);
    size_t used = 0;
    text[0] = 0;
    for (pl_method_kind k = 0; k < PL_METHOD_KINDS; k++) {
        if (!pl_method_takes(k, traits))
            continue;
        const char *between = used == 0 ? "" : left == 1 ? " or " : ", ";
        int wrote = snprintf(text + used, size - used, "%s%s", between, NAMES[k]);
        left--;
        if (wrote < 0 || used + (size_t)wrote >= size)
            break;
        used += (size_t)wrote;
    }
    return text;
}

/* Parts of materials. Springs, quadratic bending, fibres and attachments lack nothing: they are squared distances. */
static int32_t add_parts(const pl_scene *scene, const pl_material_uses *uses, pl_carried *out)
{
    pl_carried limits = {"strain limit", 0, PL_TRAIT_HARD};
    pl_carried ropes = {"inextensible edge", 0, PL_TRAIT_HELD};
    pl_carried damped = {"damped material", 0, PL_TRAIT_NOT_DISTANCE};
    pl_carried hinges = {"hinge", 0, PL_TRAIT_NO_PROX | PL_TRAIT_NOT_DISTANCE};
    for (int32_t i = 0; i < scene->material_count; i++) {
        const pl_material *m = &scene->materials[i];
        bool hinge = m->bending.present && m->bending.model == PL_BENDING_HINGE;
        limits.count += m->strain_limit.present ? uses[i].model : 0;
        ropes.count += m->inextensible != PL_EXTENSIBLE ? uses[i].edges : 0;
        hinges.count += hinge ? uses[i].triangles : 0;
        if (scene->time.integrator != PL_INTEGRATOR_QUASI_STATIC &&
            (m->damping.present || m->air_damping > 0))
            damped.count += uses[i].model + uses[i].edges;
    }
    const pl_carried all[] = {limits, ropes, hinges, damped};
    int32_t count = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].count > 0)
            out[count++] = all[k];
    return count;
}

/* True if the energy of a material's tetrahedra itself is infinite where they are inverted. */
static bool has_barrier(const pl_material *m)
{
    switch (m->model) {
    case PL_MATERIAL_COROTATED:
    case PL_MATERIAL_ARAP:
    case PL_MATERIAL_POLYNOMIAL:
    case PL_MATERIAL_STVK:
    case PL_MATERIAL_STABLE_NEO_HOOKEAN:
    case PL_MATERIAL_SPLINE:
        return false;
    default:
        return true;
    }
}

/* True if a body's tetrahedra start stretched inside out or flat. */
static bool is_stretched_inverted(const pl_body *body)
{
    const double *by = body->initial.stretch;
    const pl_mesh_source_kind mesh = body->mesh.kind;
    const bool solid = mesh != PL_SOURCE_CLOTH && mesh != PL_SOURCE_ROPE;
    return body->initial.shape == PL_SHAPE_STRETCHED && solid && by[0] * by[1] * by[2] <= 0;
}

/* True if descent recovers mirrored tetrahedra of a material, whose energy is finite there; but Fung's is too steep
 * even so. */
static bool is_brought_back(const pl_material *m)
{
    return !has_barrier(m) || (m->invertible && m->model != PL_MATERIAL_FUNG);
}

/* Splitting also recovers elements whose energy is infinite, and from chaos it ends in another minimum less often
 * than descent. */
static bool wants_splitting(const pl_scene *scene, const pl_body *body)
{
    bool back = is_brought_back(&scene->materials[body->material]);
    for (int32_t i = 0; i < body->tag_material_count; i++)
        back = back && is_brought_back(&scene->materials[body->tag_materials[i].material]);
    return body->initial.shape == PL_SHAPE_COLLAPSED || body->initial.shape == PL_SHAPE_RANDOM ||
           (!back && is_stretched_inverted(body));
}

/* True if descent can hold inextensible edges: in statics a slack rope has no stiffness, and a GPU has no kernel
 * for them. */
static bool may_hold(const pl_scene *scene)
{
    return scene->time.integrator != PL_INTEGRATOR_QUASI_STATIC &&
           scene->solver.device == PL_DEVICE_CPU;
}

pl_method_kind pl_auto_method(const pl_scene *scene)
{
    const pl_solver_settings *solver = &scene->solver;
    bool hard = scene->obstacle_count > 0 &&
                (solver->has_obstacles ? solver->obstacles == PL_OBSTACLES_HARD
                                       : !pl_integrator_is_euler(scene->time.integrator));
    bool split = false, hinges = false;
    for (int32_t i = 0; i < scene->material_count; i++) {
        const pl_material *m = &scene->materials[i];
        hard = hard || m->strain_limit.present ||
               (m->inextensible != PL_EXTENSIBLE && !may_hold(scene));
        hinges = hinges || (m->bending.present && m->bending.model == PL_BENDING_HINGE);
    }
    for (int32_t i = 0; i < scene->body_count; i++)
        split = split || wants_splitting(scene, &scene->bodies[i]);
    return hard || (split && !hinges) ? PL_METHOD_ADMM : PL_METHOD_AUTO;
}

bool pl_obstacles_are_hard(const pl_solver_settings *solver)
{
    if (solver->has_obstacles)
        return solver->obstacles == PL_OBSTACLES_HARD;
    return pl_method_refuses(solver->method, PL_TRAIT_HARD) == NULL;
}

bool pl_integrator_is_euler(pl_integrator_kind kind)
{
    return kind == PL_INTEGRATOR_BACKWARD_EULER || kind == PL_INTEGRATOR_QUASI_STATIC;
}

bool pl_damping_is_merged(const pl_scene *scene, const pl_material *m)
{
    const pl_material_damping *d = &m->damping;
    if (!d->present || m->invertible || scene->time.integrator == PL_INTEGRATOR_QUASI_STATIC ||
        scene->solver.device != PL_DEVICE_CPU)
        return false;
    if (d->form != PL_DAMPING_AUTO)
        return d->form == PL_DAMPING_MERGED;
    /* Newton then assembles one Hessian, with less to project away; ADMM has one local step, which costs no more
     * than that of the energy if it has three unknowns rather than nine. Methods that use only gradients gain no
     * iteration, and lose the energies' own kernels. */
    if (scene->solver.method == PL_METHOD_NEWTON)
        return true;
    return scene->solver.method == PL_METHOD_ADMM &&
           (d->model == PL_DAMPING_PRINCIPAL_STRAIN ||
            (d->model == PL_DAMPING_VISCOUS && d->momentum == PL_MOMENTUM_NONE));
}

bool pl_damping_is_second_order(const pl_scene *scene, const pl_material *m)
{
    if (m->damping.second_order != PL_ORDER_AUTO)
        return m->damping.second_order == PL_ORDER_SECOND;
    return !pl_integrator_is_euler(scene->time.integrator);
}

pl_linear_kind pl_newton_linear(const pl_solver_settings *solver, int64_t free_vertices)
{
    if (solver->has_linear)
        return solver->linear;
    return free_vertices <= PL_DIRECT_MOST ? PL_LINEAR_AUTO : PL_LINEAR_PCG;
}

pl_status pl_matrix_carries(const pl_scene *scene, pl_faults *faults)
{
    const pl_solver_settings *solver = &scene->solver;
    if (solver->matrix == PL_MATRIX_AUTO)
        return PL_OK;
    if (solver->device != PL_DEVICE_CPU) {
        pl_faults_add(faults, "/solver/matrix", "unsupported", "a solver of the CPU, on a GPU",
                      "auto: a GPU solves with the constant matrix by Chebyshev's iteration",
                      "omit solver.matrix, or use \"device\": \"cpu\"");
        return PL_INVALID;
    }
    if (!pl_method_uses_matrix(solver->method)) {
        pl_faults_addf(faults, "/solver/matrix", "unsupported", "auto",
                       "omit solver.matrix, or use \"method\": \"quasi_newton\"",
                       "a method without a constant matrix, %s", NAMES[solver->method]);
        return PL_INVALID;
    }
    return PL_OK;
}

int32_t pl_scene_carried(const pl_scene *scene, const pl_material_uses *uses, pl_carried *out)
{
    int32_t count = 0, of_model[PL_MATERIAL_KINDS] = {0};
    for (int32_t i = 0; i < scene->material_count; i++)
        of_model[scene->materials[i].model] += uses[i].model;
    for (pl_material_kind k = 0; k < PL_MATERIAL_KINDS; k++)
        if (of_model[k] > 0)
            out[count++] = (pl_carried){MATERIALS[k].what, of_model[k], MATERIALS[k].traits};
    count += add_parts(scene, uses, out + count);
    bool hard = pl_obstacles_are_hard(&scene->solver), asked = scene->solver.has_obstacles;
    if (scene->obstacle_count > 0)
        out[count++] = (pl_carried){!hard   ? "soft obstacle"
                                    : asked ? "hard obstacle"
                                            : "obstacle",
                                    scene->obstacle_count, hard ? PL_TRAIT_HARD : PL_TRAIT_NO_PROX};
    return count;
}

/* ---- devices ---- */

static void refuse_on_device(const pl_material *m, const char *key, const char *got,
                             const char *expected, const char *hint, pl_faults *faults)
{
    char pointer[PL_POINTER_SIZE];
    pl_fault_at_material(m->name, key, pointer);
    pl_faults_add(faults, pointer, "unsupported", got, expected, hint);
}

/* Kernels exist for the dissipation of elements and vertices. */
static void check_damping_on_device(const pl_material *m, const pl_material_uses *uses,
                                    pl_faults *faults)
{
    const pl_material_damping *d = &m->damping;
    const bool stiffness = d->model == PL_DAMPING_RAYLEIGH ||
                           d->model == PL_DAMPING_RAYLEIGH_LAGGED;
    if (d->form == PL_DAMPING_MERGED && uses->model > 0)
        refuse_on_device(m, "damping/form", "merged damping on a GPU", "separate damping on a GPU",
                         "use \"form\": \"auto\", or \"device\": \"cpu\"", faults);
    if (m->bending.present && uses->triangles + uses->edges > 0)
        refuse_on_device(m, "damping", "damping of a material with bending on a GPU",
                         "no damping or no bending: a GPU has no kernel for damped bends",
                         "use \"device\": \"cpu\"", faults);
    if (m->fibers.present && stiffness && uses->model > 0)
        refuse_on_device(m, "damping/model", "rayleigh damping of fibers on a GPU",
                         "another model: a GPU has no kernel for damped fibers",
                         "use strain_rate, or \"device\": \"cpu\"", faults);
}

pl_status pl_device_carries(const pl_scene *scene, const pl_material_uses *uses, pl_faults *faults)
{
    size_t before = faults->total;
    if (scene->solver.device == PL_DEVICE_CPU)
        return PL_OK;
    if (scene->solver.method == PL_METHOD_NEWTON)
        pl_faults_add(faults, "/solver/method", "unsupported", "newton on a GPU",
                      "any other method: a GPU does not compute the Hessians of the energies",
                      "use \"method\": \"chebyshev_descent\"");
    if (scene->solver.method == PL_METHOD_VERTEX_BLOCK_DESCENT)
        pl_faults_add(faults, "/solver/method", "unsupported", "vertex_block_descent on a GPU",
                      "any other method: a GPU does not move one vertex after another",
                      "use \"method\": \"chebyshev_descent\", or \"device\": \"cpu\"");
    for (int32_t i = 0; i < scene->material_count && scene->solver.method != PL_METHOD_ADMM; i++)
        if (scene->materials[i].inextensible != PL_EXTENSIBLE && uses[i].edges > 0)
            refuse_on_device(&scene->materials[i], "inextensible", "inextensible edges on a GPU",
                             "method admm: a GPU supports them only with it",
                             "use \"method\": \"admm\", or \"device\": \"cpu\"", faults);
    for (int32_t i = 0; i < scene->material_count; i++)
        if (scene->materials[i].damping.present &&
            scene->time.integrator != PL_INTEGRATOR_QUASI_STATIC)
            check_damping_on_device(&scene->materials[i], &uses[i], faults);
    return faults->total > before ? PL_INVALID : PL_OK;
}
