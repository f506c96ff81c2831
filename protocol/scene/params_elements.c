/* params_elements.c - the parameter tables of what a material is as cloth, rope or fibres, and of
 * attachments. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

#define STIFFNESS_MAX 1e15

static const char *const bending_models[] = {"quadratic", "hinge", NULL};

static const pl_param bending_rows[] = {
    {.key = "model",
     .kind = PL_PARAM_CHOICE,
     AT(pl_bending, model),
     .choices = bending_models,
     .doc = "quadratic: stiffness / (2 (A0 + A1)) |K^T x|^2 over an interior edge, of the "
            "cotangents K and areas A of its triangles (a bent rest keeps |K^T x|). hinge: "
            "stiffness |e|^2 / (2 (A0 + A1)) (theta - theta0)^2 of the dihedral angle theta. "
            "They agree for small angles. Edges have quadratic bending."},
    {.key = "stiffness",
     .kind = PL_PARAM_NUMBER,
     AT(pl_bending, stiffness),
     .unit = "N m; of edges N m^2",
     FROM(0, STIFFNESS_MAX),
     .flagged = true,
     .flag_offset = offsetof(pl_bending, has_stiffness),
     .standard_text = "of the solid: young thickness^3 / (12 (1 - poisson^2)); of edges young "
                      "area^2 / (4 pi), a round section",
     .doc = "Flexural rigidity."},
};
const pl_param_table pl_bending_table = {.name = "material.bending",
                                         .doc = "Resistance of cloth and rods to bending.",
                                         ROWS(bending_rows)};

static const char *const limits[] = {"columns", "singular_values", NULL};

static const pl_param strain_limit_rows[] = {
    {.key = "by",
     .kind = PL_PARAM_CHOICE,
     AT(pl_strain_limit, by),
     .choices = limits,
     .doc = "What lies in [low, high]: the lengths of the columns of F, that is the stretch along "
            "the threads, or the singular values, in every direction."},
    {.key = "low",
     .kind = PL_PARAM_NUMBER,
     AT(pl_strain_limit, low),
     .unit = "1",
     FROM(0, 1),
     .standard = {0.95},
     .doc = "Least stretch; 0 leaves compression free."},
    {.key = "high",
     .kind = PL_PARAM_NUMBER,
     AT(pl_strain_limit, high),
     .unit = "1",
     FROM(1, 1000),
     .standard = {1.05},
     .doc = "Largest stretch."},
    {.key = "direction",
     .kind = PL_PARAM_VECTOR,
     AT(pl_strain_limit, direction),
     .direction = true,
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .standard = {1, 0, 0},
     .doc = "Of the first thread of triangles at rest, laid into their plane; the second is at "
            "right angles. Tetrahedra take the axes."},
};
const pl_param_table pl_strain_limit_table = {
    .name = "material.strain_limit",
    .doc = "Stretches that are never left: hard constraints on triangles and tetrahedra.",
    ROWS(strain_limit_rows)};

static const pl_param fibers_rows[] = {
    {.key = "stiffness",
     .kind = PL_PARAM_NUMBER,
     AT(pl_fibers, stiffness),
     .unit = "Pa",
     ABOVE(0, STIFFNESS_MAX),
     .standard = {1e5},
     .doc = "kappa of the added energy density kappa/2 (|F d| - 1)^2."},
    {.key = "direction",
     .kind = PL_PARAM_VECTOR,
     AT(pl_fibers, direction),
     .direction = true,
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .standard = {1, 0, 0},
     .doc = "d at rest; of triangles, laid into their plane."},
};
const pl_param_table pl_fibers_table = {
    .name = "material.fibers",
    .doc = "Directional reinforcement of tetrahedra and triangles, added to any model.",
    ROWS(fibers_rows)};

const char *const pl_inextensible_words[] = {"no", "rope", "rod", NULL};

static const pl_param attachment_rows[] = {
    {.key = "name",
     .kind = PL_PARAM_STRING,
     AT(pl_attachment, name),
     FROM(1, PL_SCENE_NAME_MAX),
     .standard_text = "attachment-K, K from 0",
     .doc = "Unique among attachments."},
    BODY_ROW(pl_attachment, "A body's name."),
    {.key = "select",
     .kind = PL_PARAM_OBJECT,
     AT(pl_attachment, select),
     .table = &pl_select_table,
     .choices = pl_select_words,
     .required = true,
     .doc = "The vertices that are attached."},
    {.key = "to",
     .kind = PL_PARAM_REFERENCE,
     AT(pl_attachment, to),
     .refers = "bodies",
     .flagged = true,
     .flag_offset = offsetof(pl_attachment, has_to),
     .standard_text = "none",
     .doc = "Another body: each vertex is drawn to that body's point nearest to it at rest."},
    {.key = "obstacle",
     .kind = PL_PARAM_REFERENCE,
     AT(pl_attachment, obstacle),
     .refers = "obstacles",
     .flagged = true,
     .flag_offset = offsetof(pl_attachment, has_obstacle),
     .standard_text = "none",
     .doc =
         "An obstacle: each vertex is drawn to the point of its surface nearest to it at rest, or "
         "to point, as the obstacle's motion carries that along."},
    {.key = "point",
     .kind = PL_PARAM_VECTOR,
     AT(pl_attachment, point),
     .unit = "m",
     FROM(-LENGTH_MAX, LENGTH_MAX),
     .flagged = true,
     .flag_offset = offsetof(pl_attachment, has_point),
     .standard_text = "none",
     .doc = "A place to which every vertex is drawn; with obstacle, where it is at time 0."},
    {.key = "stiffness",
     .kind = PL_PARAM_NUMBER,
     AT(pl_attachment, stiffness),
     .unit = "N/m",
     ABOVE(0, STIFFNESS_MAX),
     .standard = {1000},
     .doc = "k of k/2 |x - p|^2, of each vertex."},
};
const pl_param_table pl_attachment_table = {
    .name = "attachment",
    .doc = "Springs of no length between vertices and another body, an obstacle or a place.",
    ROWS(attachment_rows)};
