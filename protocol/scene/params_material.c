/* The tables of materials. */
#include "engine/scene/scene.h"
#include "protocol/scene/params_rows.h"

#define NAME(kind, name) #name,
static const char *const models[] = {PL_STRETCH_EACH_KIND(NAME) NULL};
static const pl_absent models_absent[] = {{"ogden", "a spline material takes any stress curve"},
                                          {"arruda_boyce", "a spline material takes any curve"},
                                          {0}};

static const pl_param lame_rows[] = {
    {.key = "mu",
     .kind = PL_PARAM_NUMBER,
     AT(pl_lame_constants, mu),
     .unit = "Pa",
     ABOVE(0, 1e15),
     .required = true,
     .doc = "The shear modulus."},
    {.key = "lambda",
     .kind = PL_PARAM_NUMBER,
     AT(pl_lame_constants, lambda),
     .unit = "Pa",
     FROM(0, 1e18),
     .doc = "Lame's first constant."},
};
const pl_param_table pl_lame_table = {.name = "lame", .doc = "Lame's constants.", ROWS(lame_rows)};

static const pl_param rubber_rows[] = {
    {.key = "s0",
     .kind = PL_PARAM_NUMBER,
     AT(pl_rubber_constants, s0),
     .unit = "Pa",
     ABOVE(0, 1e15),
     .required = true,
     .doc = "Of A - 3: half a shear modulus."},
    {.key = "s1",
     .kind = PL_PARAM_NUMBER,
     AT(pl_rubber_constants, s1),
     .unit = "Pa",
     ABOVE(0, 1e18),
     .required = true,
     .doc = "Of (J - 1)^2: half the bulk modulus."},
    {.key = "s2",
     .kind = PL_PARAM_NUMBER,
     AT(pl_rubber_constants, s2),
     .unit = "Pa",
     ABOVE(0, 1e15),
     .doc = "mooney_rivlin: of B - 3, half a shear modulus more. fung: of the exponential."},
    {.key = "s3",
     .kind = PL_PARAM_NUMBER,
     AT(pl_rubber_constants, s3),
     .unit = "1",
     ABOVE(0, 100),
     .doc = "fung: how fast it grows; s2 s3 is half a shear modulus more."},
};
const pl_param_table pl_rubber_table = {
    .name = "constants", .doc = "Wang 2016, eq. 13-15.", ROWS(rubber_rows)};

static const pl_param rows[] = {
    {.key = "model",
     .kind = PL_PARAM_CHOICE,
     AT(pl_material, model),
     .choices = models,
     .absent = models_absent,
     .doc =
         "The energy density of F, with principal (signed) stretches s_i, R the nearest rotation, "
         "J = det F, I = sum s_i^2, A = J^(-2/3) I, B = J^(-4/3) sum s_i^2 s_j^2; mu and lambda "
         "are Lame's constants. neo_hookean: mu/2 (I - 3) - mu log J + lambda/2 (log J)^2. "
         "corotated: mu |F - R|^2 + lambda/2 (sum s_i - 3)^2. arap (as rigid as possible): mu |F - "
         "R|^2, which at small strain has Poisson's ratio 0. stvk: mu sum e_i^2 + lambda/2 (sum "
         "e_i)^2, e_i = (s_i^2 - 1)/2. stable_neo_hookean (Smith 2018): m/2 (I - 3 - log((I + "
         "1)/4)) - 3/4 m (J - 1) + l/2 (J - 1)^2, m = 4/3 mu, l = lambda + 5/6 mu. "
         "neo_hookean_wang: s0 (A - 3) + s1 (J - 1)^2; mooney_rivlin adds s2 (B - 3), fung s2 "
         "(exp(s3 (A - 3)) - 1) (Wang 2016). polynomial: mu sum (s_i - 1)^4, without stiffness at "
         "rest. spline: sum a(s_i) + sum b(s_i s_j) + c(J) (Liu 2017). "
         "hencky: mu sum (log s_i)^2 + lambda/2 (log J)^2, softer the further it is pulled. stvk, "
         "neo_hookean_wang, "
         "mooney_rivlin and fung let an element collapse at finite energy: see invertible."},
    {.key = "young",
     .kind = PL_PARAM_NUMBER,
     AT(pl_material, young),
     .unit = "Pa",
     ABOVE(0, 1e15),
     .standard = {1e5},
     .doc = "Young's modulus at small strain."},
    {.key = "poisson",
     .kind = PL_PARAM_NUMBER,
     AT(pl_material, poisson),
     .unit = "1",
     FROM(0, 0.4999),
     .standard = {0.45},
     .doc = "Poisson's ratio at small strain; the energies need a first Lame parameter that is not "
            "negative. Linear tetrahedra lock from about 0.49. For arap and polynomial it only "
            "enters mu = young / (2 (1 + poisson))."},
    {.key = "lame",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_lame_table,
     .offset = offsetof(pl_material, lame),
     .flagged = true,
     .flag_offset = offsetof(pl_material, has_lame),
     .doc = "In place of young and poisson."},
    {.key = "constants",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_rubber_table,
     .offset = offsetof(pl_material, constants),
     .flagged = true,
     .flag_offset = offsetof(pl_material, has_constants),
     .doc = "Of neo_hookean_wang, mooney_rivlin and fung, in place of young and poisson. From "
            "these, s1 is half the bulk modulus; s0 has the whole of the shear modulus, or half of "
            "it where there is a third term, and s3 is 1."},
    {.key = "splines",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_SPLINES,
     .type = "\"A\", \"B\", or object of a, b, c: arrays of [argument, value]",
     .standard_text = "A",
     .doc =
         "Of model spline. A and B are neo-Hookean solids of young and poisson that are stiffer "
         "in compression, in tension. Or natural cubic splines through 2 to 16 points each, in "
         "Pa, ends continued straight; the slope that keeps rest free of stress is taken off a."},
    {.key = "curve",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_CURVE,
     .type = "array of [stretch, stress]",
     .doc = "Of model spline: 2 to 64 points of a measured stress per rest area, Pa, of a bar "
            "pulled to a stretch; a is the spline whose slope fits it best, b = c = 0."},
    {.key = "invertible",
     .kind = PL_PARAM_BOOLEAN,
     AT(pl_material, invertible),
     .doc =
         "Tetrahedra whose least stretch at the beginning of a step is below 0.15 go over into "
         "a convex solid, mu sum (s_i - 1)^2, altogether below 0.05, and so come back from being "
         "inverted or collapsed (Wang 2016, eq. 16-19)."},
    {.key = "density",
     .kind = PL_PARAM_NUMBER,
     AT(pl_material, density),
     .unit = "kg/m^3",
     ABOVE(0, 1e9),
     .standard = {1000},
     .doc = "Mass per rest volume."},
    {.key = "thickness",
     .kind = PL_PARAM_NUMBER,
     AT(pl_material, thickness),
     .unit = "m",
     ABOVE(0, LENGTH_MAX),
     .standard = {1e-3},
     .doc = "Of triangles: times their area it is a volume."},
    {.key = "area",
     .kind = PL_PARAM_NUMBER,
     AT(pl_material, area),
     .unit = "m^2",
     ABOVE(0, LENGTH_MAX),
     .standard = {1e-4},
     .doc = "Cross-section of edges: times their length it is a volume, and times young over "
            "length their stiffness."},
    {.key = "bending",
     .kind = PL_PARAM_OBJECT,
     AT(pl_material, bending),
     .table = &pl_bending_table,
     .flagged = true,
     .flag_offset = offsetof(pl_material, bending.present),
     .standard_text = "none: no resistance to bending",
     .doc = "Of triangles and edges."},
    {.key = "strain_limit",
     .kind = PL_PARAM_OBJECT,
     AT(pl_material, strain_limit),
     .table = &pl_strain_limit_table,
     .flagged = true,
     .flag_offset = offsetof(pl_material, strain_limit.present),
     .standard_text = "none",
     .doc = "Of triangles and tetrahedra."},
    {.key = "fibers",
     .kind = PL_PARAM_OBJECT,
     AT(pl_material, fibers),
     .table = &pl_fibers_table,
     .flagged = true,
     .flag_offset = offsetof(pl_material, fibers.present),
     .standard_text = "none",
     .doc = "Of tetrahedra and triangles."},
    {.key = "inextensible",
     .kind = PL_PARAM_CHOICE,
     AT(pl_material, inextensible),
     .choices = pl_inextensible_words,
     .doc = "Of edges: no makes them springs of stiffness young area / length; a rope never "
            "exceeds its length, a rod keeps it, both as hard constraints."},
    {.key = "damping",
     .kind = PL_PARAM_OBJECT,
     AT(pl_material, damping),
     .table = &pl_damping_table,
     .flagged = true,
     .flag_offset = offsetof(pl_material, damping.present),
     .standard_text = "none",
     .doc = "Of tetrahedra, triangles and edges, by model."},
    {.key = "air_damping",
     .kind = PL_PARAM_NUMBER,
     AT(pl_material, air_damping),
     .unit = "N s/m^3",
     FROM(0, 1e12),
     .doc = "Times its share of the surface and its velocity, the force that slows a vertex down "
            "(Wang "
            "2016, section 6): of solids the boundary, of cloth both sides, of edges a round "
            "thread's."},
};
const pl_param_table pl_material_table = {
    .name = "material", .doc = "The default is a soft rubber.", ROWS(rows)};
