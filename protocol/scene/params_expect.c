/* The tables of what a scene states that its run must show. */
#include "protocol/scene/params.h"

#include "engine/scene/scene.h"
#include "protocol/scene/params_rows.h"

#define GIVEN(flag, words) OPTIONAL(pl_expectation, flag, words)

static const char *const quantities[PL_QUANTITY_COUNT + 1] = {
    "position",         "displacement", "velocity",      "reaction",    "linear_momentum",
    "angular_momentum", "kinetic",      "elastic",       "energy",      "energy_drift",
    "inverted",         "contacts",     "max_stretch",   "converged",   "iterations",
    "halved",           "objective",    "gradient_norm", "penetration", NULL};
static const char *const components[] = {"x", "y", "z", "norm", NULL};
static const char *const statistics[] = {"mean", "min", "max", "range", NULL};
const char *const pl_when_words[] = {"end", "start", "every", "some", "mean", NULL};

static const char looked_at[] =
    "What is looked at. position (m), displacement (m, from frame 0) and velocity (m/s, from the "
    "frame before) are of vertices; the others are of a frame's metrics. energy is kinetic + "
    "elastic + gravity; energy_drift is its change since frame 0 over the run's largest kinetic + "
    "elastic energy; converged is a fraction of the frame's steps; penetration (m) is how deep the "
    "deepest vertex of a surface is below that of an obstacle, 0 where none is.";

/* What is looked at: rows of expectations and of probes. */
#define LOOKED_AT_ROWS                                                                             \
    CHOICE("quantity", quantities, pl_expectation, quantity, looked_at, REQUIRED),                 \
        REFERENCE("body", "bodies", pl_expectation, body, "Whose vertices.",                       \
                  GIVEN(has_body, "every body")),                                                  \
        SELECT(pl_expectation, "Which of the body's vertices, by their places at rest.",           \
               GIVEN(has_select, "all")),                                                          \
        CHOICE("component", components, pl_expectation, component,                                 \
               "Of a vector: position, displacement, velocity, reaction, a momentum.",             \
               GIVEN(has_component, "norm; a position has none")),                                 \
        CHOICE("statistic", statistics, pl_expectation, statistic,                                 \
               "Over the vertices; range is the largest less the smallest.",                       \
               GIVEN(has_statistic, "mean")),                                                      \
        REFERENCE("pin", "pins", pl_expectation, pin,                                              \
                  "Whose reaction: the force that it exerts, N.", GIVEN(has_pin, "none")),         \
        REFERENCE("obstacle", "obstacles", pl_expectation, obstacle,                               \
                  "Whose reaction, N; or what is entered: of a penetration every obstacle, where " \
                  "it is left out.",                                                               \
                  GIVEN(has_obstacle, "none"))

static const pl_param expectation_rows[] = {
    NAME(pl_expectation, "expect", "expectations"),
    LOOKED_AT_ROWS,
    CUSTOM("at", AT, "time, or one of: end, start, every, some, mean",
           "Which frames: the one nearest to a time, the last, the first; each, at least one, or "
           "the mean over them.",
           UNIT("s"), FROM(0, 1e12), WORDED("end")),
    NUMBER("from", "s", FROM(0, 1e12), 0, pl_expectation, from,
           "With at every, some or mean: frames from this time on.",
           GIVEN(has_from, "the first frame")),
    NUMBER("to", "s", FROM(0, 1e12), 0, pl_expectation, to,
           "With at every, some or mean: frames up to this time.", GIVEN(has_to, "the last frame")),
    NUMBER("min", "the quantity's", FROM(-1e30, 1e30), 0, pl_expectation, min,
           "It is at least this.", GIVEN(has_min, "no bound")),
    NUMBER("max", "the quantity's", FROM(-1e30, 1e30), 0, pl_expectation, max,
           "It is at most this.", GIVEN(has_max, "no bound")),
    NUMBER("equals", "the quantity's", FROM(-1e30, 1e30), 0, pl_expectation, equals,
           "It differs from this by at most tolerance. Excludes min and max.",
           GIVEN(has_equals, "nothing")),
    NUMBER("tolerance", "the quantity's", FROM(0, 1e30), 0, pl_expectation, tolerance,
           "Goes with equals.", GIVEN(has_tolerance, "0")),
};
const pl_param_table pl_expectation_table = {
    .name = "expect", .doc = "What a run must show.", ROWS(expectation_rows)};

static const pl_param probe_rows[] = {
    NAME(pl_expectation, "probe", "probes"),
    LOOKED_AT_ROWS,
};
const pl_param_table pl_probe_table = {
    .name = "probe", .doc = "A number of each frame.", ROWS(probe_rows)};
