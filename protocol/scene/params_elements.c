/* params_elements.c - the parameter tables of a material's properties as cloth, rope or fibres, and of attachments. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

#define STIFFNESS_MAX 1e15

static const char *const bending_models[] = {"quadratic", "hinge", NULL};

static const pl_param bending_rows[] = {
    CHOICE("model", bending_models, pl_bending, model,
           "quadratic: stiffness / (2 (A0 + A1)) |K^T x|^2 over an interior edge, of the "
           "cotangents K and areas A of its triangles (a bent rest keeps |K^T x|). hinge: "
           "stiffness |e|^2 / (2 (A0 + A1)) (theta - theta0)^2 of the dihedral angle theta. They "
           "agree for small angles. Edges have quadratic bending."),
    NUMBER("stiffness", "N m; of edges N m^2", FROM(0, STIFFNESS_MAX), 0, pl_bending, stiffness,
           "Flexural rigidity.",
           OPTIONAL(pl_bending, has_stiffness,
                    "of the solid: young thickness^3 / (12 (1 - poisson^2)); of edges young area^2 "
                    "/ (4 pi), a round section")),
};
const pl_param_table pl_bending_table = {.name = "material.bending",
                                         .doc = "Resistance of cloth and rods to bending.",
                                         ROWS(bending_rows)};

static const char *const limits[] = {"columns", "singular_values", NULL};

static const pl_param strain_limit_rows[] = {
    CHOICE("by", limits, pl_strain_limit, by,
           "Quantity kept in [low, high]. columns: the lengths of the columns of F, the "
           "stretch along the threads. singular_values: the stretch in every direction."),
    NUMBER("low", "1", FROM(0, 1), 0.95, pl_strain_limit, low,
           "Least stretch; 0 leaves compression free."),
    NUMBER("high", "1", FROM(1, 1000), 1.05, pl_strain_limit, high, "Largest stretch."),
    DIRECTION("direction", EACH(1, 0, 0), pl_strain_limit, direction,
              "Direction of a triangle's first thread at rest, projected into its plane; the "
              "second thread is perpendicular. Tetrahedra use the coordinate axes."),
};
const pl_param_table pl_strain_limit_table = {
    .name = "material.strain_limit",
    .doc = "Bounds on the stretch of triangles and tetrahedra, as hard constraints.",
    ROWS(strain_limit_rows)};

static const pl_param fibers_rows[] = {
    NUMBER("stiffness", "Pa", ABOVE(0, STIFFNESS_MAX), 1e5, pl_fibers, stiffness,
           "kappa of the added energy density kappa/2 (|F d| - 1)^2."),
    DIRECTION("direction", EACH(1, 0, 0), pl_fibers, direction,
              "d at rest; for triangles, projected into their plane."),
};
const pl_param_table pl_fibers_table = {
    .name = "material.fibers",
    .doc = "Directional reinforcement of tetrahedra and triangles, added to any model.",
    ROWS(fibers_rows)};

const char *const pl_inextensible_words[] = {"no", "rope", "rod", NULL};

static const pl_param attachment_rows[] = {
    NAME(pl_attachment, "attachment", "attachments"),
    BODY(pl_attachment, "A body's name."),
    SELECT(pl_attachment, "Attached vertices.", REQUIRED),
    REFERENCE("to", "bodies", pl_attachment, to,
              "Another body: each vertex is pulled towards that body's point nearest to it at "
              "rest.",
              OPTIONAL(pl_attachment, has_to, "none")),
    REFERENCE("obstacle", "obstacles", pl_attachment, obstacle,
              "An obstacle: each vertex is pulled towards the nearest point of its surface at "
              "rest, or towards point. That place moves with the obstacle.",
              OPTIONAL(pl_attachment, has_obstacle, "none")),
    POINT("point", pl_attachment, point,
          "Place to which every vertex is pulled; with obstacle, its position at time 0.",
          OPTIONAL(pl_attachment, has_point, "none")),
    NUMBER("stiffness", "N/m", ABOVE(0, STIFFNESS_MAX), 1000, pl_attachment, stiffness,
           "k of k/2 |x - p|^2, of each vertex."),
};
const pl_param_table pl_attachment_table = {
    .name = "attachment",
    .doc = "Zero-length springs between vertices and another body, an obstacle or a place.",
    ROWS(attachment_rows)};
