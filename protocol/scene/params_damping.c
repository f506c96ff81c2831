/* params_damping.c - the parameter table of a material's damping. */
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
           "Dissipation function R, W/m^3, of F and its rate (Brown 2018, section 5); the "
           "force is dR/dv. strain_rate: viscosity |dE/dt|^2 + bulk_viscosity/2 "
           "tr(dE/dt)^2 of Green's strain E. viscous: viscosity/2 |dF/dt|^2, which also "
           "resists rotation. rayleigh: beta/2 dF/dt . K(F) dF/dt with the tangent "
           "stiffness K at the end of the step; rayleigh_lagged: with K at its start, made "
           "semidefinite. principal_strain: beta/2 ds/dt . K ds/dt of the principal "
           "stretches s, for tetrahedra only. power_law: coefficient |dS/dt|^(power + 1) "
           "of the stretch tensor S. rate_spline: a force 2 viscosity m(|dS/dt|) dS/dt. "
           "The others also damp triangles, edges and bending: bending by its stiffness, "
           "or by the strain rate through the thickness of a sheet or rod (rate_spline: at "
           "the surface). rayleigh and rayleigh_lagged also damp fibers; the others "
           "include fibers in their element.",
           LACKING(models_absent)),
    NUMBER("viscosity", "Pa s", FROM(0, VISCOSITY_MAX), 0, pl_material_damping, viscosity,
           "Shear viscosity of strain_rate; viscosity of viscous and rate_spline."),
    NUMBER("bulk_viscosity", "Pa s", FROM(0, VISCOSITY_MAX), 0, pl_material_damping, bulk_viscosity,
           "Bulk viscosity of strain_rate."),
    NUMBER("beta", "s", FROM(0, 1e6), 0, pl_material_damping, beta,
           "For rayleigh, rayleigh_lagged and principal_strain: a mode of w rad/s has the "
           "damping ratio beta w / 2."),
    NUMBER("coefficient", "Pa s^power", FROM(0, VISCOSITY_MAX), 0, pl_material_damping, coefficient,
           "Coefficient of power_law."),
    NUMBER("power", "1", FROM(0, 10), 1, pl_material_damping, power,
           "For power_law: exponent of the rate in the force. Below 1, motion ends in "
           "finite time; 0 is dry friction; above 1, motion never ends."),
    NUMBER("smoothing", "1/s", ABOVE(0, 1e6), 1e-3, pl_material_damping, smoothing,
           "For power_law with a power below 1: rates below this value are damped "
           "linearly, because a force that jumps at rest has no derivative."),
    CUSTOM("rate_spline", POINTS, "array of [rate, multiplier]",
           "For rate_spline: 2 to 16 points of m, joined by lines and constant outside; m "
           "times the rate must not decrease.",
           AT(pl_material_damping, rate_spline), UNIT("1/s")),
    CUSTOM("strain_spline", POINTS, "array of [stretch, multiplier]",
           "For any model: multiplies R by the largest s(stretch) over an element's "
           "principal stretches at the start of the step (for a bend, of its two faces); 2 "
           "to 16 points, joined by lines and constant outside.",
           AT(pl_material_damping, strain_spline), UNIT("1"), WORDED("none: 1")),
    NUMBER("mass", "1/s", FROM(0, 1e6), 0, pl_material_damping, mass,
           "Mass-proportional Rayleigh damping: a force -mass m v on each vertex. It also "
           "slows free fall."),
    CHOICE("momentum", momenta, pl_material_damping, momentum,
           "For strain_rate, viscous, rayleigh and rayleigh_lagged: which part of the "
           "velocity R sees, so that rotation is free and angular momentum is kept. "
           "nonrigid: by projection (Brown 2018, eq. 66); velocity_gradient: by the rate "
           "of deformation (eq. 67). Coefficients are then those at the start of the step. "
           "The other models and hinges ignore rotation anyway; quadratic bending never "
           "does."),
    BOOLEAN("second_order", pl_material_damping, second_order,
            "Corrects R so that damping keeps the second order of the integrator. Without "
            "it all models except viscous are of first order. auto: true under integrators "
            "of second order, false under backward_euler.",
            OR_WORD(orders)),
    CHOICE("form", forms, pl_material_damping, form,
           "Place of R in a step's objective; the minimum is the same. separate: terms of "
           "its own beside the elastic ones. merged: one term per tetrahedron for both "
           "(Brown 2018, eq. 38-40); not for invertible materials, triangles or edges. "
           "auto: whichever was measured to be faster for the method and model."),
};
const pl_param_table pl_damping_table = {
    .name = "material.damping",
    .doc = "Dissipation by deformation, reported in energy.dissipated. No effect in "
           "statics.",
    ROWS(rows)};
