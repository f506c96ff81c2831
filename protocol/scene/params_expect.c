/* The tables of a scene's expectations. */
#include "protocol/scene/params.h"

#include "engine/scene/scene.h"
#include "protocol/scene/params_rows.h"

#define GIVEN(flag, words) OPTIONAL(pl_expectation, flag, words)

static const char *const quantities[PL_QUANTITY_COUNT + 1] = {
    "position",         "displacement",  "velocity",      "reaction",    "linear_momentum",
    "angular_momentum", "kinetic",       "elastic",       "energy",      "energy_drift",
    "inverted",         "contacts",      "max_stretch",   "converged",   "iterations",
    "halved",           "objective",     "gradient_norm", "penetration", "contact_pairs",
    "contact_gap",      "contact_force", "friction_work", NULL};
static const char *const components[] = {"x", "y", "z", "norm", NULL};
static const char *const statistics[] = {"mean", "min", "max", "range", NULL};
const char *const pl_when_words[] = {"end", "start", "every", "some", "mean", NULL};

static const char looked_at[] =
    "Quantity to read. position (m), displacement (m, from frame 0) and velocity (m/s, from the "
    "previous frame) are read at vertices; the others come from a frame's metrics. energy is "
    "kinetic + elastic + gravity. energy_drift is its change since frame 0 over the run's largest "
    "kinetic + elastic energy. converged is a fraction of the frame's steps. penetration (m) is "
    "the largest depth of a surface vertex in an obstacle; 0 without contact. For contact between "
    "bodies: contact_pairs is the number of pairs that carry force, contact_gap (m) the least "
    "distance (infinite while no bodies are near), contact_force (N) the force of one body on "
    "another, and friction_work (J) the energy lost to friction since the start.";

/* Targets: rows shared by expectations and probes. */
#define LOOKED_AT_ROWS                                                                             \
    CHOICE("quantity", quantities, pl_expectation, quantity, looked_at, REQUIRED),                 \
        REFERENCE("body", "bodies", pl_expectation, body, "Body of the vertices.",                 \
                  GIVEN(has_body, "every body")),                                                  \
        SELECT(pl_expectation, "Vertices of the body, by their places at rest.",                   \
               GIVEN(has_select, "all")),                                                          \
        CHOICE(                                                                                    \
            "component", components, pl_expectation, component,                                    \
            "Component of a vector: position, displacement, velocity, reaction, contact_force, "   \
            "a momentum.",                                                                         \
            GIVEN(has_component, "norm; a position has no default")),                              \
        CHOICE("statistic", statistics, pl_expectation, statistic,                                 \
               "Statistic over the vertices; range is the largest minus the smallest.",            \
               GIVEN(has_statistic, "mean")),                                                      \
        REFERENCE("pin", "pins", pl_expectation, pin,                                              \
                  "Pin whose reaction is read: the force it exerts, N.", GIVEN(has_pin, "none")),  \
        REFERENCE(                                                                                 \
            "obstacle", "obstacles", pl_expectation, obstacle,                                     \
            "Obstacle whose reaction (N) or penetration is read; a penetration without it is "     \
            "that of any obstacle.",                                                               \
            GIVEN(has_obstacle, "none")),                                                          \
        BETWEEN(pl_expectation, between, "Bodies of a contact_force: of the first on the second.", \
                GIVEN(has_between, "none"))

static const pl_param expectation_rows[] = {
    NAME(pl_expectation, "expect", "expectations"),
    LOOKED_AT_ROWS,
    CUSTOM("at", AT, "time, or one of: end, start, every, some, mean",
           "Frames to read: the one nearest to a time, the last (end) or the first (start); every "
           "frame, some (at least one) frame, or the mean over them.",
           UNIT("s"), FROM(0, 1e12), WORDED("end")),
    NUMBER("from", "s", FROM(0, 1e12), 0, pl_expectation, from,
           "With at every, some or mean: frames from this time on.",
           GIVEN(has_from, "the first frame")),
    NUMBER("to", "s", FROM(0, 1e12), 0, pl_expectation, to,
           "With at every, some or mean: frames up to this time.", GIVEN(has_to, "the last frame")),
    NUMBER("min", "the quantity's", FROM(-1e30, 1e30), 0, pl_expectation, min, "Lower bound.",
           GIVEN(has_min, "no bound")),
    NUMBER("max", "the quantity's", FROM(-1e30, 1e30), 0, pl_expectation, max, "Upper bound.",
           GIVEN(has_max, "no bound")),
    NUMBER("equals", "the quantity's", FROM(-1e30, 1e30), 0, pl_expectation, equals,
           "Value to match within tolerance. Excludes min and max.", GIVEN(has_equals, "nothing")),
    NUMBER("tolerance", "the quantity's", FROM(0, 1e30), 0, pl_expectation, tolerance,
           "Largest difference from equals.", GIVEN(has_tolerance, "0")),
};
const pl_param_table pl_expectation_table = {
    .name = "expect", .doc = "A requirement on the results.", ROWS(expectation_rows)};

static const pl_param probe_rows[] = {
    NAME(pl_expectation, "probe", "probes"),
    LOOKED_AT_ROWS,
};
const pl_param_table pl_probe_table = {
    .name = "probe", .doc = "A number of each frame.", ROWS(probe_rows)};
