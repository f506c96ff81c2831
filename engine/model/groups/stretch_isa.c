/* The tables of every material in its principal stretches; compiled once per instruction set. */
#include "engine/kernels/stretch_basic.h"
#include "engine/kernels/stretch_models.h"
#include "engine/kernels/stretch_spline.h"
#include "engine/model/groups/isa.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TABLES      JOIN(pl_stretch_tables_, PL_ISA)

#define ROW(model, rows, on, its_prox)                                                             \
    {                                                                                              \
        .name = #model, .constants = (rows), .domain = (on),                                       \
        .energy_gradient = pl_stretch_##model##_energy_gradient,                                   \
        .curvature = pl_stretch_##model##_curvature, .prox = (its_prox)                            \
    }

const pl_stretch_ops TABLES[PL_MATERIAL_KINDS] = {
    [PL_MATERIAL_NEO_HOOKEAN] = ROW(neo_hookean, 2, PL_STRETCH_POSITIVE,
                                    pl_stretch_neo_hookean_prox),
    [PL_MATERIAL_COROTATED] = ROW(corotated, 2, PL_STRETCH_CREASED, pl_stretch_corotated_prox),
    [PL_MATERIAL_ARAP] = ROW(arap, 2, PL_STRETCH_CREASED, pl_stretch_arap_prox),
    [PL_MATERIAL_STVK] = ROW(stvk, 2, PL_STRETCH_SMOOTH, NULL),
    [PL_MATERIAL_STABLE_NEO_HOOKEAN] = ROW(stable_neo_hookean, 2, PL_STRETCH_SMOOTH, NULL),
    [PL_MATERIAL_NEO_HOOKEAN_WANG] = ROW(neo_hookean_wang, 2, PL_STRETCH_POSITIVE, NULL),
    [PL_MATERIAL_MOONEY_RIVLIN] = ROW(mooney_rivlin, 3, PL_STRETCH_POSITIVE, NULL),
    [PL_MATERIAL_FUNG] = ROW(fung, 4, PL_STRETCH_POSITIVE, NULL),
    [PL_MATERIAL_POLYNOMIAL] = ROW(polynomial, 1, PL_STRETCH_CREASED, pl_stretch_polynomial_prox),
    [PL_MATERIAL_SPLINE] = ROW(spline, 1, PL_STRETCH_CREASED, NULL),
    [PL_MATERIAL_HENCKY] = ROW(hencky, 2, PL_STRETCH_POSITIVE, NULL),
};
