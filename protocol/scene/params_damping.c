/* params_damping.c - the parameter table of what a material's deformation loses energy by. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

#define VISCOSITY_MAX 1e15

static const char *const models[] = {
    "strain_rate",      "viscous",   "rayleigh",    "rayleigh_lagged",
    "principal_strain", "power_law", "rate_spline", NULL};
static const pl_absent models_absent[] = {
    {"spline", "rate_spline is by rate; strain_spline scales any model by strain"}, {0}};
static const char *const forms[] = {"auto", "separate", "merged", NULL};
static const char *const orders[] = {"auto", NULL};
static const char *const momenta[] = {"none", "nonrigid", "velocity_gradient", NULL};

static const pl_param rows[] = {
    CHOICE("model", models, pl_material_damping, model,
           "The dissipation function R, W/m^3, of F and its rate (Brown 2018, section 5); the "
           "force is dR/dv. strain_rate: viscosity |dE/dt|^2 + bulk_viscosity/2 tr(dE/dt)^2 of "
           "Green's strain E. viscous: viscosity/2 |dF/dt|^2, which turning costs too. rayleigh: "
           "beta/2 dF/dt . K(F) dF/dt of the tangent stiffness K where the step ends; "
           "rayleigh_lagged: where it begins, made semidefinite. principal_strain: beta/2 ds/dt . "
           "K ds/dt of the principal stretches s of tetrahedra. power_law: coefficient "
           "|dS/dt|^(power + 1) of the stretch tensor S. rate_spline: a force 2 viscosity "
           "m(|dS/dt|) dS/dt. All but principal_strain are of triangles and edges as well, and of "
           "bending: by its stiffness, or by the rate of strain through the thickness of a sheet "
           "or a rod, to which a rate_spline is that of the surface. rayleigh and rayleigh_lagged "
           "are of fibers too; others have had them in their element.",
           LACKING(models_absent)),
    NUMBER("viscosity", "Pa s", FROM(0, VISCOSITY_MAX), 0, pl_material_damping, viscosity,
           "Of strain_rate (shear), viscous and rate_spline."),
    NUMBER("bulk_viscosity", "Pa s", FROM(0, VISCOSITY_MAX), 0, pl_material_damping, bulk_viscosity,
           "Of strain_rate."),
    NUMBER("beta", "s", FROM(0, 1e6), 0, pl_material_damping, beta,
           "Of rayleigh, rayleigh_lagged and principal_strain: a mode of w rad/s has the damping "
           "ratio beta w / 2."),
    NUMBER("coefficient", "Pa s^power", FROM(0, VISCOSITY_MAX), 0, pl_material_damping, coefficient,
           "Of power_law."),
    NUMBER("power", "1", FROM(0, 10), 1, pl_material_damping, power,
           "Of power_law: the force grows with this power of the rate. Below 1 motion ends in "
           "finite time, with 0 it is dry friction, above 1 it lives on."),
    NUMBER("smoothing", "1/s", ABOVE(0, 1e6), 1e-3, pl_material_damping, smoothing,
           "Of power_law with a power below 1: rates below it are damped linearly, as a force that "
           "jumps at rest has no derivative there."),
    CUSTOM("rate_spline", POINTS, "array of [rate, multiplier]",
           "Of rate_spline: 2 to 16 points of m, joined by lines and level beyond; m times the "
           "rate must not fall.",
           AT(pl_material_damping, rate_spline), UNIT("1/s")),
    CUSTOM("strain_spline", POINTS, "array of [stretch, multiplier]",
           "Of any model: R is multiplied by the largest of s(stretch) over an element's principal "
           "stretches where the step begins, of a bend those of its two faces; 2 to 16 points, "
           "joined by lines and level beyond.",
           AT(pl_material_damping, strain_spline), UNIT("1"), WORDED("none: 1")),
    NUMBER("mass", "1/s", FROM(0, 1e6), 0, pl_material_damping, mass,
           "Rayleigh's other half: a force -mass m v on each vertex, which a fall feels too."),
    CHOICE("momentum", momenta, pl_material_damping, momentum,
           "Of strain_rate, viscous, rayleigh and rayleigh_lagged: which part of a velocity R is "
           "of, so that turning costs nothing and angular momentum stays. nonrigid: by projection "
           "(Brown 2018, eq. 66); velocity_gradient: by the rate of deformation (eq. 67). "
           "Coefficients are then of where the step begins. The other models see no rotation as "
           "they are, nor do hinges; quadratic bending always does."),
    BOOLEAN("second_order", pl_material_damping, second_order,
            "Corrects R so that it keeps the second order of the integrator; "
            "without it damping is of first order, except viscous. auto: true under integrators of "
            "second order, false under backward_euler.",
            OR_WORD(orders)),
    CHOICE("form", forms, pl_material_damping, form,
           "Where R stands in the objective of a step, which has the same minimum either way. "
           "separate: terms of its own beside those of elasticity. merged: one term a tetrahedron "
           "with both (Brown 2018, eq. 38-40), of materials that are not invertible; triangles and "
           "edges have none. auto: the cheaper for the method and the model, by measurement."),
};
const pl_param_table pl_damping_table = {.name = "material.damping",
                                         .doc = "How deformation loses energy; it is reported in "
                                                "energy.dissipated. In statics it does nothing.",
                                         ROWS(rows)};
