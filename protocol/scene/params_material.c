/* The tables of materials. */
#include "engine/scene/scene.h"
#include "protocol/scene/params_rows.h"

#define WORD(kind, name) #name,
static const char *const models[] = {PL_STRETCH_EACH_KIND(WORD) NULL};
static const pl_absent models_absent[] = {{"ogden", "a spline material takes any stress curve"},
                                          {"arruda_boyce", "a spline material takes any curve"},
                                          {0}};

static const pl_param lame_rows[] = {
    NUMBER("mu", "Pa", ABOVE(0, 1e15), 0, pl_lame_constants, mu, "The shear modulus.", REQUIRED),
    NUMBER("lambda", "Pa", FROM(0, 1e18), 0, pl_lame_constants, lambda, "Lame's first constant."),
};
const pl_param_table pl_lame_table = {.name = "lame", .doc = "Lame's constants.", ROWS(lame_rows)};

static const pl_param rubber_rows[] = {
    NUMBER("s0", "Pa", ABOVE(0, 1e15), 0, pl_rubber_constants, s0,
           "Of A - 3: half a shear modulus.", REQUIRED),
    NUMBER("s1", "Pa", ABOVE(0, 1e18), 0, pl_rubber_constants, s1,
           "Of (J - 1)^2: half the bulk modulus.", REQUIRED),
    NUMBER("s2", "Pa", ABOVE(0, 1e15), 0, pl_rubber_constants, s2,
           "mooney_rivlin: of B - 3, half a shear modulus more. fung: of the exponential."),
    NUMBER("s3", "1", ABOVE(0, 100), 0, pl_rubber_constants, s3,
           "fung: how fast it grows; s2 s3 is half a shear modulus more."),
};
const pl_param_table pl_rubber_table = {
    .name = "constants", .doc = "Wang 2016, eq. 13-15.", ROWS(rubber_rows)};

static const pl_param rows[] = {
    CHOICE("model", models, pl_material, model,
           "The energy density of F, with principal (signed) stretches s_i, R the nearest "
           "rotation, J = det F, I = sum s_i^2, A = J^(-2/3) I, B = J^(-4/3) sum s_i^2 s_j^2; mu "
           "and lambda are Lame's constants. neo_hookean: mu/2 (I - 3) - mu log J + lambda/2 (log "
           "J)^2. corotated: mu |F - R|^2 + lambda/2 (sum s_i - 3)^2. arap (as rigid as possible): "
           "mu |F - R|^2, which at small strain has Poisson's ratio 0. stvk: mu sum e_i^2 + "
           "lambda/2 (sum e_i)^2, e_i = (s_i^2 - 1)/2. stable_neo_hookean (Smith 2018): m/2 (I - 3 "
           "- log((I + 1)/4)) - 3/4 m (J - 1) + l/2 (J - 1)^2, m = 4/3 mu, l = lambda + 5/6 mu. "
           "neo_hookean_wang: s0 (A - 3) + s1 (J - 1)^2; mooney_rivlin adds s2 (B - 3), fung s2 "
           "(exp(s3 (A - 3)) - 1) (Wang 2016). polynomial: mu sum (s_i - 1)^4, without stiffness "
           "at rest. spline: sum a(s_i) + sum b(s_i s_j) + c(J) (Liu 2017). hencky: mu sum (log "
           "s_i)^2 + lambda/2 (log J)^2, softer the further it is pulled. stvk, neo_hookean_wang, "
           "mooney_rivlin and fung let an element collapse at finite energy: see invertible.",
           LACKING(models_absent)),
    NUMBER("young", "Pa", ABOVE(0, 1e15), 1e5, pl_material, young,
           "Young's modulus at small strain."),
    NUMBER("poisson", "1", FROM(0, 0.4999), 0.45, pl_material, poisson,
           "Poisson's ratio at small strain; the energies need a first Lame parameter that is not "
           "negative. Linear tetrahedra lock from about 0.49. For arap and polynomial it only "
           "enters mu = young / (2 (1 + poisson))."),
    OBJECT("lame", pl_lame_table, pl_material, lame, "Replaces young and poisson.",
           OPTIONAL(pl_material, has_lame, NULL)),
    OBJECT("constants", pl_rubber_table, pl_material, constants,
           "Of neo_hookean_wang, mooney_rivlin and fung, in place of young and poisson. From "
           "these, s1 is half the bulk modulus; s0 has the whole of the shear modulus, or half of "
           "it where there is a third term, and s3 is 1.",
           OPTIONAL(pl_material, has_constants, NULL)),
    CUSTOM("splines", SPLINES, "\"A\", \"B\", or object of a, b, c: arrays of [argument, value]",
           "Of model spline. A and B are neo-Hookean solids of young and poisson that are stiffer "
           "in compression, in tension; the page on materials has their knots. Or natural cubic "
           "splines through 2 to 16 points each, in "
           "Pa, ends continued straight; the slope that keeps rest free of stress is taken off a.",
           WORDED("A")),
    CUSTOM("curve", CURVE, "array of [stretch, stress]",
           "Of model spline: 2 to 64 points of a measured stress per rest area, Pa, of a bar "
           "pulled to a stretch; a is the spline whose slope fits it best, b = c = 0."),
    BOOLEAN(
        "invertible", pl_material, invertible,
        "Tetrahedra whose least stretch at the start of a step is below 0.15 change gradually into "
        "a convex solid, mu sum (s_i - 1)^2, completely below 0.05, and so recover from inversion "
        "or collapse (Wang 2016, eq. 16-19). Models defined only for J > 0 (except fung): elements "
        "that share a vertex with one below 0.05 change too, completely if it is below -0.05."),
    NUMBER("density", "kg/m^3", FROM(1e-6, 1e9), 1000, pl_material, density,
           "Mass per rest volume."),
    LENGTH("thickness", 1e-3, pl_material, thickness,
           "Thickness of triangles: times their area it is a volume."),
    NUMBER("area", "m^2", ABOVE(0, LENGTH_MAX), 1e-4, pl_material, area,
           "Cross-section of edges: times their length it is a volume, and times young over length "
           "their stiffness."),
    OBJECT("bending", pl_bending_table, pl_material, bending, "Bending of triangles and edges.",
           OPTIONAL(pl_material, bending.present, "none: no resistance to bending")),
    OBJECT("strain_limit", pl_strain_limit_table, pl_material, strain_limit,
           "Strain limits of triangles and tetrahedra.",
           OPTIONAL(pl_material, strain_limit.present, "none")),
    OBJECT("fibers", pl_fibers_table, pl_material, fibers, "Fibers of tetrahedra and triangles.",
           OPTIONAL(pl_material, fibers.present, "none")),
    CHOICE("inextensible", pl_inextensible_words, pl_material, inextensible,
           "Of edges: no makes them springs of stiffness young area / length; a rope never exceeds "
           "its length, a rod keeps it, both as hard constraints."),
    OBJECT("damping", pl_damping_table, pl_material, damping,
           "Damping of tetrahedra, triangles and edges, by model.",
           OPTIONAL(pl_material, damping.present, "none")),
    NUMBER("air_damping", "N s/m^3", FROM(0, 1e12), 0, pl_material, air_damping,
           "Drag force on a vertex per surface share and velocity (Wang 2016, section 6). The "
           "surface of solids is their boundary, of cloth both sides, of edges a round thread."),
    NUMBER("friction", "1", FROM(0, FRICTION_MAX), 0, pl_material, friction,
           "Coulomb's coefficient against other bodies; of two bodies the geometric mean applies.",
           OPTIONAL(pl_material, has_friction, "contact.friction")),
};
const pl_param_table pl_material_table = {
    .name = "material", .doc = "The default is a soft rubber.", ROWS(rows)};
