#include "protocol/scene/expect.h"

#include "protocol/text/json.h"
#include "protocol/scene/params_rows.h"
#include "protocol/scene/scene_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The vertices of one expectation: a list, or first .. first + count. */
typedef struct chosen {
    int32_t *list; /* malloc'ed, or NULL */
    int64_t first, count;
} chosen;

struct pl_expect {
    pl_scene scene;
    int64_t frames;  /* number of stored frames */
    double **values; /* [expectation_count][frames]; NaN: none */
    chosen *chosen;  /* [expectation_count] */
    double energy_scale;
    int64_t vertices;
    double *first, *before; /* positions of frame 0 and of the previous frame; [vertices][3] */
    int64_t before_frame;   /* -1: none */
};

/* ---- quantities ---- */

/* Path of a quantity in a metrics record; NULL: a quantity of vertices, or computed below. */
static const char *const metric_paths[PL_QUANTITY_COUNT] = {
    [PL_QUANTITY_LINEAR_MOMENTUM] = "momentum/linear",
    [PL_QUANTITY_ANGULAR_MOMENTUM] = "momentum/angular",
    [PL_QUANTITY_KINETIC] = "energy/kinetic",
    [PL_QUANTITY_ELASTIC] = "energy/elastic",
    [PL_QUANTITY_INVERTED] = "inverted",
    [PL_QUANTITY_CONTACTS] = "contacts",
    [PL_QUANTITY_MAX_STRETCH] = "max_stretch",
    [PL_QUANTITY_ITERATIONS] = "iterations",
    [PL_QUANTITY_HALVED] = "halved",
    [PL_QUANTITY_OBJECTIVE] = "objective",
    [PL_QUANTITY_GRADIENT_NORM] = "gradient_norm",
    [PL_QUANTITY_CONTACT_PAIRS] = "contact/pairs",
    [PL_QUANTITY_FRICTION_WORK] = "contact/friction_work",
};

bool pl_quantity_of_vertices(pl_quantity quantity)
{
    return quantity <= PL_QUANTITY_VELOCITY;
}

bool pl_quantity_is_vector(pl_quantity quantity)
{
    return quantity <= PL_QUANTITY_ANGULAR_MOMENTUM || quantity == PL_QUANTITY_CONTACT_FORCE;
}

/* True for quantities of the step that led to a frame: frame 0 has none. */
static bool is_of_step(pl_quantity quantity)
{
    switch (quantity) {
    case PL_QUANTITY_REACTION:
    case PL_QUANTITY_CONTACTS:
    case PL_QUANTITY_CONVERGED:
    case PL_QUANTITY_ITERATIONS:
    case PL_QUANTITY_HALVED:
    case PL_QUANTITY_OBJECTIVE:
    case PL_QUANTITY_GRADIENT_NORM:
    case PL_QUANTITY_CONTACT_PAIRS:
    case PL_QUANTITY_CONTACT_GAP:
    case PL_QUANTITY_CONTACT_FORCE:
    case PL_QUANTITY_FRICTION_WORK:
        return true;
    default:
        return false;
    }
}

double pl_quantity_component(const pl_expectation *e, const double v[3])
{
    return !e->has_component || e->component == PL_COMPONENT_NORM
               ? sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
               : v[e->component];
}

pl_sample pl_sample_begin(void)
{
    return (pl_sample){.least = INFINITY, .most = -INFINITY};
}

void pl_sample_add(pl_sample *s, double value)
{
    s->sum += value;
    s->least = fmin(s->least, value);
    s->most = fmax(s->most, value);
    s->count++;
}

double pl_sample_statistic(const pl_sample *s, const pl_expectation *e)
{
    switch (e->has_statistic ? e->statistic : PL_STATISTIC_MEAN) {
    case PL_STATISTIC_MIN:
        return s->least;
    case PL_STATISTIC_MAX:
        return s->most;
    case PL_STATISTIC_RANGE:
        return s->most - s->least;
    default:
        return s->sum / (double)s->count;
    }
}

/* ---- opening ---- */

static pl_status no_topology(pl_faults *faults)
{
    pl_faults_add(faults, "", "damaged", "a topology that does not match the scene",
                  "topology.json as preflight writes it", "");
    return PL_INVALID;
}

/* The vertices that preflight found for the k-th expectation, in the frame's order. */
static pl_status read_list(const pl_json *list, int64_t vertices, chosen *out, pl_faults *faults)
{
    size_t count = pl_json_count(list);
    out->list = calloc(count + 1, sizeof *out->list);
    if (!out->list)
        return PL_NO_MEMORY;
    out->count = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        int64_t v = pl_json_integer(pl_json_item(list, i), "", -1);
        if (v < 0 || v >= vertices)
            return no_topology(faults);
        out->list[i] = (int32_t)v;
    }
    return count ? PL_OK : no_topology(faults);
}

static pl_status choose(pl_expect *e, const pl_json *topology, int32_t k, pl_faults *faults)
{
    const pl_expectation *x = &e->scene.expectations[k];
    chosen *out = &e->chosen[k];
    if (!pl_quantity_of_vertices(x->quantity))
        return PL_OK;
    if (x->has_select && x->select.kind != PL_SELECT_ALL)
        return read_list(pl_json_item(pl_json_at(topology, "expect"), (size_t)k), e->vertices, out,
                         faults);
    out->count = e->vertices;
    if (x->has_body) {
        const pl_json *body = pl_json_item(pl_json_at(topology, "bodies"), (size_t)x->body);
        out->first = pl_json_integer(body, "first_vertex", -1);
        out->count = pl_json_integer(body, "vertices", 0);
    }
    bool good = out->first >= 0 && out->count > 0 && out->count <= e->vertices &&
                out->first <= e->vertices - out->count;
    return good ? PL_OK : no_topology(faults);
}

static pl_status make_series(pl_expect *e)
{
    size_t count = (size_t)e->scene.expectation_count;
    e->values = calloc(count + 1, sizeof *e->values);
    e->chosen = calloc(count + 1, sizeof *e->chosen);
    if (!e->values || !e->chosen)
        return PL_NO_MEMORY;
    for (size_t k = 0; k < count; k++) {
        e->values[k] = malloc((size_t)(e->frames + 1) * sizeof **e->values);
        if (!e->values[k])
            return PL_NO_MEMORY;
        for (int64_t f = 0; f < e->frames; f++)
            e->values[k][f] = NAN;
    }
    return PL_OK;
}

pl_status pl_expect_open(const char *scene, size_t scene_length, const char *topology,
                         size_t topology_length, int64_t frames, pl_expect **out, pl_faults *faults)
{
    enum { VERTICES_MAX = 1 << 29 };
    *out = NULL;
    pl_expect *e = calloc(1, sizeof *e);
    if (!e)
        return PL_NO_MEMORY;
    pl_json *shape = NULL;
    pl_decode_outcome decoded = pl_scene_decode(scene, scene_length, &e->scene, faults);
    pl_status status = decoded == PL_DECODE_OK          ? PL_OK
                       : decoded == PL_DECODE_NO_MEMORY ? PL_NO_MEMORY
                                                        : PL_INVALID;
    e->frames = frames;
    e->before_frame = -1;
    if (status == PL_OK)
        status = make_series(e);
    if (status == PL_OK) {
        shape = pl_json_parse(topology, topology_length, NULL);
        bool starved = !shape && errno == ENOMEM;
        e->vertices = pl_json_integer(shape, "vertices", 0);
        if (e->vertices < 1 || e->vertices > VERTICES_MAX)
            status = starved ? PL_NO_MEMORY : no_topology(faults);
    }
    for (int32_t k = 0; status == PL_OK && k < e->scene.expectation_count; k++)
        status = choose(e, shape, k, faults);
    if (status == PL_OK && pl_expect_wants_frames(e)) {
        e->first = calloc((size_t)(3 * e->vertices), sizeof *e->first);
        e->before = calloc((size_t)(3 * e->vertices), sizeof *e->before);
        status = e->first && e->before ? PL_OK : PL_NO_MEMORY;
    }
    pl_json_free(shape);
    if (status == PL_OK)
        *out = e;
    else
        pl_expect_close(e);
    return status;
}

void pl_expect_close(pl_expect *e)
{
    if (!e)
        return;
    for (int32_t k = 0; k < e->scene.expectation_count; k++) {
        if (e->values)
            free(e->values[k]);
        if (e->chosen)
            free(e->chosen[k].list);
    }
    free(e->values);
    free(e->chosen);
    free(e->first);
    free(e->before);
    pl_scene_clear(&e->scene);
    free(e);
}

int32_t pl_expect_count(const pl_expect *e)
{
    return e->scene.expectation_count;
}

bool pl_expect_wants_frames(const pl_expect *e)
{
    for (int32_t k = 0; k < e->scene.expectation_count; k++)
        if (pl_quantity_of_vertices(e->scene.expectations[k].quantity))
            return true;
    return false;
}

/* ---- reading numbers ---- */

static double vector_in(const pl_expectation *x, const pl_json *list)
{
    double v[3];
    for (size_t c = 0; c < 3; c++)
        v[c] = pl_json_number(pl_json_item(list, c), "", NAN);
    return pl_quantity_component(x, v);
}

/* Names may contain '/', so members are searched for directly. */
static const pl_json *member(const pl_json *object, const char *name)
{
    const pl_json *value;
    for (size_t i = 0; i < pl_json_count(object); i++)
        if (strcmp(pl_json_member(object, i, &value), name) == 0)
            return value;
    return NULL;
}

static double reaction_in(const pl_expect *e, const pl_expectation *x, const pl_json *metrics)
{
    const pl_json *list = pl_json_at(metrics,
                                     x->has_pin ? "reactions/pins" : "reactions/obstacles");
    return vector_in(x, member(list, x->has_pin ? e->scene.pins[x->pin].name
                                                : e->scene.obstacles[x->obstacle].name));
}

/* Depth in the obstacle, or the greatest in any. */
static double penetration_in(const pl_expect *e, const pl_expectation *x, const pl_json *metrics)
{
    const pl_json *list = pl_json_at(metrics, "penetration");
    double deepest = NAN;
    for (int32_t o = 0; o < e->scene.obstacle_count; o++) {
        if (x->has_obstacle && x->obstacle != o)
            continue;
        double depth = pl_json_number(member(list, e->scene.obstacles[o].name), "", NAN);
        if (isnan(depth))
            return NAN;
        deepest = fmax(deepest, depth);
    }
    return deepest;
}

/* Infinite while nothing is near anything, which satisfies every distance. */
static double gap_in(const pl_json *metrics)
{
    const pl_json *gap = pl_json_at(metrics, "contact/gap");
    return gap && pl_json_is_null(gap) ? INFINITY : pl_json_number(gap, "", NAN);
}

/* Force of the first body on the second; 0 if the two do not touch. */
static double contact_force_in(const pl_expect *e, const pl_expectation *x, const pl_json *metrics)
{
    const pl_json *forces = pl_json_at(metrics, "contact/forces");
    const char *first = e->scene.bodies[x->between[0]].name,
               *second = e->scene.bodies[x->between[1]].name;
    double v[3] = {0};
    if (!forces)
        return NAN;
    for (size_t i = 0; i < pl_json_count(forces); i++) {
        const pl_json *force = pl_json_item(forces, i);
        const char *a = pl_json_string(force, "between/0", ""),
                   *b = pl_json_string(force, "between/1", "");
        bool along = strcmp(a, first) == 0 && strcmp(b, second) == 0;
        bool back = strcmp(a, second) == 0 && strcmp(b, first) == 0;
        for (size_t c = 0; (along || back) && c < 3; c++)
            v[c] = (along ? 1 : -1) *
                   pl_json_number(pl_json_item(pl_json_at(force, "force"), c), "", NAN);
    }
    return pl_quantity_component(x, v);
}

static double metric_in(const pl_expect *e, const pl_expectation *x, const pl_json *m)
{
    double steps = pl_json_number(m, "steps", NAN);
    switch (x->quantity) {
    case PL_QUANTITY_REACTION:
        return reaction_in(e, x, m);
    case PL_QUANTITY_PENETRATION:
        return penetration_in(e, x, m);
    case PL_QUANTITY_CONTACT_GAP:
        return gap_in(m);
    case PL_QUANTITY_CONTACT_FORCE:
        return contact_force_in(e, x, m);
    case PL_QUANTITY_ENERGY:
    case PL_QUANTITY_ENERGY_DRIFT:
        return pl_json_number(m, "energy/kinetic", NAN) + pl_json_number(m, "energy/elastic", NAN) +
               pl_json_number(m, "energy/gravity", NAN);
    case PL_QUANTITY_CONVERGED:
        return 1 - pl_json_number(m, "unconverged", NAN) / steps;
    default:
        return pl_quantity_is_vector(x->quantity)
                   ? vector_in(x, pl_json_at(m, metric_paths[x->quantity]))
                   : pl_json_number(m, metric_paths[x->quantity], NAN);
    }
}

void pl_expect_metrics(pl_expect *e, const char *text, size_t length)
{
    pl_json *m = pl_json_parse(text, length, NULL);
    int64_t frame = pl_json_integer(m, "frame", -1);
    if (frame >= 0 && frame < e->frames) {
        e->energy_scale = fmax(e->energy_scale, fabs(pl_json_number(m, "energy/kinetic", 0)) +
                                                    fabs(pl_json_number(m, "energy/elastic", 0)));
        for (int32_t k = 0; k < e->scene.expectation_count; k++) {
            const pl_expectation *x = &e->scene.expectations[k];
            if (!pl_quantity_of_vertices(x->quantity))
                e->values[k][frame] = metric_in(e, x, m);
        }
    }
    pl_json_free(m);
}

static double time_of(const pl_expect *e, int64_t frame)
{
    const pl_time *time = &e->scene.time;
    int64_t steps = frame * e->scene.output.every;
    return (double)(steps < time->steps ? steps : time->steps) * time->step;
}

/* The quantity of one vertex. */
static double at_vertex(const pl_expect *e, const pl_expectation *x, int64_t frame, int64_t vertex,
                        const double *now)
{
    double v[3], time = time_of(e, frame) - time_of(e, e->before_frame < 0 ? 0 : e->before_frame);
    for (int64_t c = 0; c < 3; c++) {
        int64_t i = 3 * vertex + c;
        v[c] = x->quantity == PL_QUANTITY_POSITION       ? now[i]
               : x->quantity == PL_QUANTITY_DISPLACEMENT ? now[i] - e->first[i]
               : frame == 0                              ? 0
                                                         : (now[i] - e->before[i]) / time;
    }
    return pl_quantity_component(x, v);
}

static double over_vertices(const pl_expect *e, int32_t k, int64_t frame, const double *now)
{
    const pl_expectation *x = &e->scene.expectations[k];
    const chosen *which = &e->chosen[k];
    pl_sample sample = pl_sample_begin();
    for (int64_t i = 0; i < which->count; i++)
        pl_sample_add(&sample,
                      at_vertex(e, x, frame, which->list ? which->list[i] : which->first + i, now));
    return pl_sample_statistic(&sample, x);
}

void pl_expect_frame(pl_expect *e, int64_t frame, int64_t vertices, const double *x)
{
    if (!e->first || vertices != e->vertices || frame < 0 || frame >= e->frames)
        return;
    size_t bytes = (size_t)(3 * vertices) * sizeof *x;
    if (frame == 0)
        memcpy(e->first, x, bytes);
    bool follows = frame == 0 || e->before_frame == frame - 1;
    for (int32_t k = 0; k < e->scene.expectation_count; k++) {
        pl_quantity quantity = e->scene.expectations[k].quantity;
        if (pl_quantity_of_vertices(quantity) && (follows || quantity != PL_QUANTITY_VELOCITY))
            e->values[k][frame] = over_vertices(e, k, frame, x);
    }
    memcpy(e->before, x, bytes);
    e->before_frame = frame;
}

/* ---- evaluation ---- */

static double value_at(const pl_expect *e, int32_t k, int64_t frame)
{
    if (frame >= e->frames)
        return NAN;
    double value = e->values[k][frame];
    if (e->scene.expectations[k].quantity != PL_QUANTITY_ENERGY_DRIFT)
        return value;
    double change = value - e->values[k][0];
    return change == 0 ? 0 : change / e->energy_scale;
}

/* Amount by which a bound is violated: at most 0 if none is; infinite for a missing number. */
static double excess(const pl_expectation *x, double value)
{
    double by = -INFINITY;
    if (isnan(value))
        return INFINITY;
    if (x->has_min)
        by = fmax(by, x->min - value);
    if (x->has_max)
        by = fmax(by, value - x->max);
    if (x->has_equals)
        by = fmax(by, fabs(value - x->equals) - (x->has_tolerance ? x->tolerance : 0));
    return by;
}

/* The range of frames to test: first .. last. */
static void frames_of(const pl_expect *e, const pl_expectation *x, int64_t *first, int64_t *last)
{
    int64_t end = pl_scene_frames(&e->scene);
    bool of_step = is_of_step(x->quantity);
    switch (x->when) {
    case PL_WHEN_END:
        *first = *last = end;
        return;
    case PL_WHEN_START:
        *first = *last = 0;
        return;
    case PL_WHEN_TIME:
        *first = llround(x->at / (e->scene.time.step * (double)e->scene.output.every));
        *first = *last = *first < end ? *first : end;
        return;
    default:
        break;
    }
    /* A time within rounding of a frame's time means that frame. */
    double slack = 1e-6 * e->scene.time.step;
    *first = of_step ? 1 : 0;
    *last = end;
    while (x->has_from && *first < end && time_of(e, *first) < x->from - slack)
        ++*first;
    while (x->has_to && *last > *first && time_of(e, *last) > x->to + slack)
        --*last;
}

static double mean_over(const pl_expect *e, int32_t k, int64_t first, int64_t last)
{
    double sum = 0;
    for (int64_t f = first; f <= last; f++)
        sum += value_at(e, k, f);
    return sum / (double)(last - first + 1);
}

/* The decisive frame: for "some" the best, otherwise the worst. */
static int64_t deciding_frame(const pl_expect *e, int32_t k, int64_t first, int64_t last)
{
    const pl_expectation *x = &e->scene.expectations[k];
    bool some = x->when == PL_WHEN_SOME;
    int64_t frame = first;
    double found = excess(x, value_at(e, k, first));
    for (int64_t f = first + 1; f <= last; f++) {
        double by = excess(x, value_at(e, k, f));
        if (some ? by < found : by > found) {
            found = by;
            frame = f;
        }
    }
    return frame;
}

static void report_what(const pl_expect *e, const pl_expectation *x, char *out, size_t size)
{
    static const char *const key[] = {"quantity", "component", "statistic"};
    const char *words[3];
    const int index[] = {(int)x->quantity, x->has_component ? (int)x->component : 3,
                         x->has_statistic ? (int)x->statistic : 0};
    char of[160] = "", at[48];
    for (int i = 0; i < 3; i++)
        words[i] = pl_table_param(&pl_expectation_table, key[i])->choices[index[i]];
    if (pl_quantity_of_vertices(x->quantity))
        snprintf(of, sizeof of, ", %s%s", words[2],
                 x->has_select && x->select.kind != PL_SELECT_ALL ? " of a selection" : "");
    if (x->has_body)
        snprintf(of + strlen(of), sizeof of - strlen(of), " of %.100s",
                 e->scene.bodies[x->body].name);
    if (x->has_between)
        snprintf(of, sizeof of, " of %.70s on %.70s", e->scene.bodies[x->between[0]].name,
                 e->scene.bodies[x->between[1]].name);
    if (x->has_pin || x->has_obstacle)
        snprintf(of, sizeof of, " of %.100s",
                 x->has_pin ? e->scene.pins[x->pin].name : e->scene.obstacles[x->obstacle].name);
    if (x->when == PL_WHEN_TIME)
        snprintf(at, sizeof at, "at %.6g s", x->at);
    else
        snprintf(at, sizeof at, "%s", pl_when_words[x->when]);
    snprintf(out, size, "%s%s%s%s, %s", words[0], pl_quantity_is_vector(x->quantity) ? " " : "",
             pl_quantity_is_vector(x->quantity) ? words[1] : "", of, at);
}

static void report_expected(const pl_expectation *x, char *out, size_t size)
{
    if (x->has_equals)
        snprintf(out, size, "%.9g within %.3g", x->equals, x->has_tolerance ? x->tolerance : 0.0);
    else if (x->has_min && x->has_max)
        snprintf(out, size, "%.9g to %.9g", x->min, x->max);
    else
        snprintf(out, size, "%s %.9g", x->has_min ? "at least" : "at most",
                 x->has_min ? x->min : x->max);
}

void pl_expect_evaluate(const pl_expect *e, int32_t k, pl_expect_outcome *out)
{
    const pl_expectation *x = &e->scene.expectations[k];
    int64_t first, last;
    *out = (pl_expect_outcome){.name = x->name, .frame = -1, .time = NAN};
    frames_of(e, x, &first, &last);
    report_what(e, x, out->what, sizeof out->what);
    report_expected(x, out->expected, sizeof out->expected);
    if (x->when == PL_WHEN_MEAN) {
        out->got = mean_over(e, k, first, last);
    } else {
        out->frame = deciding_frame(e, k, first, last);
        out->time = time_of(e, out->frame);
        out->got = value_at(e, k, out->frame);
    }
    out->passed = excess(x, out->got) <= 0;
    if (!isnan(out->got))
        return;
    if (e->frames <= last)
        snprintf(out->missing, sizeof out->missing, "the run has %lld of %lld frames",
                 (long long)e->frames, (long long)pl_scene_frames(&e->scene) + 1);
    else
        snprintf(out->missing, sizeof out->missing, "the frame does not have this quantity");
}
