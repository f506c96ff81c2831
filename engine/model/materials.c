#include "engine/model/materials.h"

#include "engine/model/groups/isa.h"
#include "engine/model/splines.h"
#include "engine/step/pliant.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pl_lame(double young, double poisson, double *mu, double *lambda)
{
    *mu = young / (2 * (1 + poisson));
    *lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
}

static pl_lame_constants lame_of(const pl_material *m)
{
    pl_lame_constants lame = m->lame;
    if (!m->has_lame)
        pl_lame(m->young, m->poisson, &lame.mu, &lame.lambda);
    return lame;
}

/* s0 to s3, given or from Lame's constants: K = 2 s1. s0 carries the whole shear modulus or, in models with a
 * further term, half. Fung's exponent is then 1. */
static pl_rubber_constants rubber_of(const pl_material *m, pl_lame_constants lame)
{
    if (m->has_constants)
        return m->constants;
    double s1 = (lame.lambda + 2.0 / 3 * lame.mu) / 2, whole = lame.mu / 2;
    switch (m->model) {
    case PL_MATERIAL_MOONEY_RIVLIN:
        return (pl_rubber_constants){whole / 2, s1, whole / 2, 0};
    case PL_MATERIAL_FUNG:
        return (pl_rubber_constants){whole / 2, s1, whole / 2, 1};
    default:
        return (pl_rubber_constants){whole, s1, 0, 0};
    }
}

static pl_status set_constants(const pl_material *m, pl_material_numbers *out)
{
    const pl_lame_constants lame = lame_of(m);
    const pl_rubber_constants rubber = rubber_of(m, lame);
    out->shear = lame.mu;
    switch (m->model) {
    case PL_MATERIAL_NEO_HOOKEAN:
    case PL_MATERIAL_COROTATED:
    case PL_MATERIAL_ARAP:
    case PL_MATERIAL_STVK:
    case PL_MATERIAL_HENCKY:
        memcpy(out->constants, (double[]){lame.mu, lame.lambda}, 2 * sizeof(double));
        break;
    case PL_MATERIAL_STABLE_NEO_HOOKEAN:
        out->constants[0] = 4 * lame.mu / 3;
        out->constants[1] = lame.lambda + 5 * lame.mu / 6;
        break;
    case PL_MATERIAL_NEO_HOOKEAN_WANG:
    case PL_MATERIAL_MOONEY_RIVLIN:
    case PL_MATERIAL_FUNG:
        memcpy(out->constants, &rubber, sizeof rubber);
        out->shear =
            2 * (rubber.s0 + (m->model == PL_MATERIAL_FUNG ? rubber.s2 * rubber.s3 : rubber.s2));
        break;
    case PL_MATERIAL_POLYNOMIAL:
        out->constants[0] = lame.mu;
        out->shear = 0;
        break;
    case PL_MATERIAL_SPLINE:
        out->constants[0] = 1;
        out->shared_count = PL_SPLINE_SHARED;
        out->shared = malloc(PL_SPLINE_SHARED * sizeof *out->shared);
        if (!out->shared)
            return PL_NO_MEMORY;
        out->shear = pl_splines_make(&m->splines, lame, out->shared);
        break;
    }
    return PL_OK;
}

/* Nodes and weights of Gauss and Legendre for 16 points on [-1, 1], the positive half. */
static const double GAUSS[8][2] = {
    {0.0950125098376374402, 0.189450610455068496}, {0.281603550779258913, 0.182603415044923589},
    {0.458016777657227386, 0.169156519395002538},  {0.617876244402643748, 0.149595988816576732},
    {0.755404408355003034, 0.124628971255533872},  {0.865631202387831744, 0.0951585116824927848},
    {0.944575023073232576, 0.0622535239386478929}, {0.989400934991649933, 0.0271524594117540949},
};

static_assert(PL_LANES == 16, "a node of the quadrature a lane");

/* The slope k of the best fit k (x - 1) to the stress of one stretch x over 0.5 to 1.5, with the others at 1
 * (Liu 2017, eq. 11). `constants` [rows] and `shared` are of one element. k is the integral of (x - 1) f(x),
 * divided by that of (x - 1)^2, which is 1/12. One node per lane. */
static double fit_slope(const pl_stretch_ops *ops, const double *constants, const double *shared)
{
    _Alignas(64) double rows[PL_STRETCH_CONSTANTS_MAX * PL_LANES], node[PL_LANES];
    _Alignas(64) double weight[PL_LANES];
    for (int i = 0; i < PL_LANES; i++) {
        node[i] = i < 8 ? GAUSS[i][0] : -GAUSS[i - 8][0];
        weight[i] = GAUSS[i % 8][1];
        for (int r = 0; r < ops->constants; r++)
            rows[r * PL_LANES + i] = constants[r];
    }
    const pl_stretch m = {ops, rows, shared, NULL};
    const pl_real x = pl_one() + pl_set1(0.5) * pl_load(node);
    const pl_real s[3] = {x, pl_one(), pl_one()};
    pl_real f[3], psi;
    ops->energy_gradient(&m, s, &psi, f);
    return 12 * 0.5 * pl_sum(pl_load(weight) * (x - pl_one()) * f[0]); /* dx is half of dnode */
}

pl_status pl_material_make(const pl_material *m, pl_material_numbers *out)
{
    *out = (pl_material_numbers){0};
    pl_status status = set_constants(m, out);
    if (status != PL_OK)
        return status;
    out->fit = fit_slope(pl_stretch_ops_of(m->model), out->constants, out->shared);
    if (out->shear < 1e-3 * out->fit)
        out->shear = out->fit / 2;
    out->linear = pl_material_linear(m);
    out->linear.young = fmax(out->linear.young, 0); /* rounding of fitted curves */
    return PL_OK;
}

double pl_material_weight(const pl_material_numbers *numbers, const pl_solver_settings *settings)
{
    if (settings->method == PL_METHOD_PROJECTIVE_DYNAMICS)
        return 2 * numbers->shear; /* for ARAP, mu |F - R|^2 = k/2 |F - R|^2 */
    if (settings->stiffness == PL_STIFFNESS_SHEAR)
        return settings->weight_scale * numbers->shear;
    return fmax(numbers->fit, 0.01 * numbers->shear);
}

pl_linear_constants pl_material_linear(const pl_material *m)
{
    pl_lame_constants lame = lame_of(m);
    if (m->splines.kind == PL_SPLINES_POINTS || m->splines.kind == PL_SPLINES_CURVE) {
        double shared[PL_SPLINE_SHARED];
        return (pl_linear_constants){2 * pl_splines_make(&m->splines, lame, shared), 0};
    }
    if (!m->has_constants && !m->has_lame)
        return (pl_linear_constants){m->young, m->poisson};
    if (m->has_constants) {
        pl_material_numbers numbers = {0};
        (void)set_constants(m, &numbers); /* for rubbers: nothing is allocated */
        lame.mu = numbers.shear;
        lame.lambda = 2 * m->constants.s1 - 2.0 / 3 * numbers.shear;
    }
    const double sum = lame.lambda + lame.mu;
    return (pl_linear_constants){lame.mu * (3 * lame.lambda + 2 * lame.mu) / sum,
                                 lame.lambda / (2 * sum)};
}

double pl_material_poisson(const pl_material *m)
{
    if (m->model == PL_MATERIAL_ARAP || m->model == PL_MATERIAL_POLYNOMIAL)
        return 0;
    return pl_material_linear(m).poisson;
}

double pl_material_young(const pl_material *m)
{
    return pl_material_linear(m).young;
}

/* Adds a fault of a material's splines, at one of the three functions or at all. */
static void refuse(pl_faults *faults, const pl_material *m, const char *part, const char *code,
                   const char *got, const char *expected, const char *hint)
{
    char pointer[PL_POINTER_SIZE];
    pl_fault_at_material(m->name, m->splines.kind == PL_SPLINES_CURVE ? "curve" : part, pointer);
    pl_faults_add(faults, pointer, code, got, expected, hint);
}

static void refuse_unbounded(pl_faults *faults, const pl_material *m, int function)
{
    static const char *const functions[] = {"splines/a", "splines/b", "splines/c"};
    const bool curve = m->splines.kind == PL_SPLINES_CURVE;
    refuse(faults, m, functions[function], "unbounded",
           curve ? "a stress that falls with the stretch at an end of the curve"
                 : "a function that falls without end on one side",
           curve ? "stresses that rise with the stretch at both ends"
                 : "points that rise towards both ends, or are level there",
           "functions are extended beyond their last points, and an energy without a minimum has "
           "no rest shape");
}

/* Rejects splines that push a body out of its rest shape, or do not hold it there or around it. */
static bool softens(const pl_material *m, const pl_material_numbers *numbers, pl_faults *faults)
{
    const double young = pl_material_linear(m).young;
    if (numbers->shear > 0 && young >= -1e-3 * fabs(numbers->fit))
        return false;
    char got[128];
    snprintf(got, sizeof got, "a modulus of %.3g Pa at rest, and of %.3g Pa over 0.5 to 1.5", young,
             numbers->fit);
    refuse(
        faults, m, "splines", "softens_at_rest", got, "a stress that rises with the stretch at 1",
        "make the functions, or the curve, steeper at 1: the energy must have its minimum at rest");
    return true;
}

pl_status pl_materials_check(const pl_scene *scene, pl_faults *faults)
{
    pl_status status = PL_OK;
    for (int32_t i = 0; i < scene->material_count; i++) {
        const pl_material *m = &scene->materials[i];
        pl_material_numbers numbers;
        if (m->model != PL_MATERIAL_SPLINE)
            continue;
        if (pl_material_make(m, &numbers) != PL_OK)
            return PL_NO_MEMORY;
        bool bounded = true;
        for (int f = 0; f < 3; f++)
            if (!pl_spline_is_bounded(numbers.shared + f * PL_SPLINE_NUMBERS)) {
                refuse_unbounded(faults, m, f);
                bounded = false;
            }
        if (!bounded || softens(m, &numbers, faults))
            status = PL_INVALID;
        free(numbers.shared);
    }
    return status;
}
