/* The tables of what a scene states that its run must show. */
#include "protocol/scene/params.h"

#include "engine/scene/scene.h"
#include "protocol/scene/params_rows.h"

#define FLAG(field) .flagged = true, .flag_offset = offsetof(pl_expectation, field)

static const char *const quantities[PL_QUANTITY_COUNT + 1] = {
    "position",         "displacement", "velocity",      "reaction",    "linear_momentum",
    "angular_momentum", "kinetic",      "elastic",       "energy",      "energy_drift",
    "inverted",         "contacts",     "max_stretch",   "converged",   "iterations",
    "halved",           "objective",    "gradient_norm", "penetration", NULL};
static const char *const components[] = {"x", "y", "z", "norm", NULL};
static const char *const statistics[] = {"mean", "min", "max", "range", NULL};
const char *const pl_when_words[] = {"end", "start", "every", "some", "mean", NULL};

/* What is looked at: rows of expectations and of probes. */
#define LOOKED_AT_ROWS                                                                             \
    {.key = "quantity",                                                                            \
     .kind = PL_PARAM_CHOICE,                                                                      \
     AT(pl_expectation, quantity),                                                                 \
     .choices = quantities,                                                                        \
     .required = true,                                                                             \
     .doc =                                                                                        \
         "What is looked at. position (m), displacement (m, from frame 0) and velocity (m/s, "     \
         "from the frame before) are of vertices; the others are of a frame's metrics. energy "    \
         "is kinetic + elastic + gravity; energy_drift is its change since frame 0 over the "      \
         "run's largest kinetic + elastic energy; converged is a fraction of the frame's "         \
         "steps; penetration (m) is how deep the deepest vertex of a surface is below that of an " \
         "obstacle, 0 where none is."},                                                            \
        {.key = "body",                                                                            \
         .kind = PL_PARAM_REFERENCE,                                                               \
         AT(pl_expectation, body),                                                                 \
         .refers = "bodies",                                                                       \
         FLAG(has_body),                                                                           \
         .standard_text = "every body",                                                            \
         .doc = "Whose vertices."},                                                                \
        {.key = "select",                                                                          \
         .kind = PL_PARAM_OBJECT,                                                                  \
         AT(pl_expectation, select),                                                               \
         .table = &pl_select_table,                                                                \
         .choices = pl_select_words,                                                               \
         FLAG(has_select),                                                                         \
         .standard_text = "all",                                                                   \
         .doc = "Which of the body's vertices, by their places at rest."},                         \
        {.key = "component",                                                                       \
         .kind = PL_PARAM_CHOICE,                                                                  \
         AT(pl_expectation, component),                                                            \
         .choices = components,                                                                    \
         FLAG(has_component),                                                                      \
         .standard_text = "norm; a position has none",                                             \
         .doc = "Of a vector: position, displacement, velocity, reaction, a momentum."},           \
        {.key = "statistic",                                                                       \
         .kind = PL_PARAM_CHOICE,                                                                  \
         AT(pl_expectation, statistic),                                                            \
         .choices = statistics,                                                                    \
         FLAG(has_statistic),                                                                      \
         .standard_text = "mean",                                                                  \
         .doc = "Over the vertices; range is the largest less the smallest."},                     \
        {.key = "pin",                                                                             \
         .kind = PL_PARAM_REFERENCE,                                                               \
         AT(pl_expectation, pin),                                                                  \
         .refers = "pins",                                                                         \
         FLAG(has_pin),                                                                            \
         .standard_text = "none",                                                                  \
         .doc = "Whose reaction: the force that it exerts, N."},                                   \
    {                                                                                              \
        .key = "obstacle", .kind = PL_PARAM_REFERENCE, AT(pl_expectation, obstacle),               \
        .refers = "obstacles", FLAG(has_obstacle), .standard_text = "none",                        \
        .doc =                                                                                     \
            "Whose reaction, N; or what is entered: of a penetration every obstacle, where it is " \
            "left out."                                                                            \
    }

static const pl_param expectation_rows[] = {
    {.key = "name",
     .kind = PL_PARAM_STRING,
     AT(pl_expectation, name),
     FROM(1, PL_SCENE_NAME_MAX),
     .standard_text = "expect-K, K from 0",
     .doc = "Unique among expectations."},
    LOOKED_AT_ROWS,
    {.key = "at",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_AT,
     .unit = "s",
     FROM(0, 1e12),
     .standard_text = "end",
     .type = "time, or one of: end, start, every, some, mean",
     .doc = "Which frames: the one nearest to a time, the last, the first; each, at least one, or "
            "the mean over them."},
    {.key = "from",
     .kind = PL_PARAM_NUMBER,
     AT(pl_expectation, from),
     .unit = "s",
     FROM(0, 1e12),
     FLAG(has_from),
     .standard_text = "the first frame",
     .doc = "With at every, some or mean: frames from this time on."},
    {.key = "to",
     .kind = PL_PARAM_NUMBER,
     AT(pl_expectation, to),
     .unit = "s",
     FROM(0, 1e12),
     FLAG(has_to),
     .standard_text = "the last frame",
     .doc = "With at every, some or mean: frames up to this time."},
    {.key = "min",
     .kind = PL_PARAM_NUMBER,
     AT(pl_expectation, min),
     .unit = "the quantity's",
     FROM(-1e30, 1e30),
     FLAG(has_min),
     .standard_text = "no bound",
     .doc = "It is at least this."},
    {.key = "max",
     .kind = PL_PARAM_NUMBER,
     AT(pl_expectation, max),
     .unit = "the quantity's",
     FROM(-1e30, 1e30),
     FLAG(has_max),
     .standard_text = "no bound",
     .doc = "It is at most this."},
    {.key = "equals",
     .kind = PL_PARAM_NUMBER,
     AT(pl_expectation, equals),
     .unit = "the quantity's",
     FROM(-1e30, 1e30),
     FLAG(has_equals),
     .standard_text = "nothing",
     .doc = "It differs from this by at most tolerance. Excludes min and max."},
    {.key = "tolerance",
     .kind = PL_PARAM_NUMBER,
     AT(pl_expectation, tolerance),
     .unit = "the quantity's",
     FROM(0, 1e30),
     FLAG(has_tolerance),
     .standard_text = "0",
     .doc = "Goes with equals."},
};
const pl_param_table pl_expectation_table = {
    .name = "expect", .doc = "What a run must show.", ROWS(expectation_rows)};

static const pl_param probe_rows[] = {
    {.key = "name",
     .kind = PL_PARAM_STRING,
     AT(pl_expectation, name),
     FROM(1, PL_SCENE_NAME_MAX),
     .standard_text = "probe-K, K from 0",
     .doc = "Unique among probes."},
    LOOKED_AT_ROWS,
};
const pl_param_table pl_probe_table = {
    .name = "probe", .doc = "A number of each frame.", ROWS(probe_rows)};
