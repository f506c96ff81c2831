#include "protocol/scene/expect_decode.h"

#include "engine/scene/scene.h"
#include "protocol/scene/expect.h"
#include "protocol/scene/params_rows.h"

#include <stdio.h>
#include <string.h>

void pl_decode_at(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_expectation *e = out;
    if (json_is_number(value)) {
        pl_param number = *p;
        number.kind = PL_PARAM_NUMBER;
        if (pl_decode_number(d, value, &number, &e->at))
            e->when = PL_WHEN_TIME;
    } else if (json_is_string(value)) {
        int word = pl_decode_word(d, value, pl_when_words, NULL);
        if (word >= 0)
            e->when = (pl_when)word;
    } else {
        pl_decode_refuse(d, value, "wrong_type", p->type, "");
    }
}

/* A key that is undefined together with the others. */
static void refuse_key(pl_decoder *d, bool given, const char *key, const char *beside,
                       const char *expected)
{
    if (given)
        pl_decode_conflict(d, key, beside, expected);
}

static void check_bounds(pl_decoder *d, const pl_expectation *e)
{
    char got[96];
    if (!e->has_min && !e->has_max && !e->has_equals)
        pl_decode_fault(d, "missing_key", "no bound", "min, max or both; or equals",
                        "an expectation needs a bound");
    if (e->has_equals) {
        refuse_key(d, e->has_min, "min", "equals", "min and max, or equals and tolerance");
        refuse_key(d, e->has_max, "max", "equals", "min and max, or equals and tolerance");
    } else if (e->has_tolerance) {
        pl_decode_missing(d, "equals", "equals, to which tolerance applies", "");
    }
    if (e->has_min && e->has_max && e->min > e->max) {
        snprintf(got, sizeof got, "min %.15g, max %.15g", e->min, e->max);
        pl_decode_fault(d, "out_of_range", got, "min <= max", "");
    }
}

static void check_times(pl_decoder *d, const pl_expectation *e)
{
    char got[96];
    bool many = e->when == PL_WHEN_EVERY || e->when == PL_WHEN_SOME || e->when == PL_WHEN_MEAN;
    const pl_time *time = &((const pl_scene *)d->root)->time;
    /* Steps are counted after the whole scene is decoded if it omits "time". */
    double end = time->steps > 0 ? (double)time->steps * time->step : time->duration;
    refuse_key(d, e->has_from && !many, "from", "at of one frame", "at every, some or mean");
    refuse_key(d, e->has_to && !many, "to", "at of one frame", "at every, some or mean");
    if (many && e->has_from && e->has_to && e->from > e->to) {
        snprintf(got, sizeof got, "from %.15g, to %.15g", e->from, e->to);
        pl_decode_fault(d, "out_of_range", got, "from <= to", "");
    }
    const struct {
        bool given;
        const char *key;
        double time;
    } times[] = {{e->when == PL_WHEN_TIME, "at", e->at}, {e->has_from, "from", e->from}};
    for (int i = 0; i < 2; i++) {
        if (!times[i].given || times[i].time <= end * (1 + 1e-9))
            continue;
        size_t mark = pl_decode_enter(d, times[i].key);
        snprintf(got, sizeof got, "%.15g s, of a run of %.15g s", times[i].time, end);
        pl_decode_fault(d, "out_of_range", got, "a time of the run", "");
        pl_decode_leave(d, mark);
    }
}

static void check_vertices(pl_decoder *d, const pl_expectation *e, const char *name)
{
    const pl_scene *scene = d->root;
    static const char *const expected = "a quantity of vertices: position, displacement, velocity";
    if (!pl_quantity_of_vertices(e->quantity)) {
        refuse_key(d, e->has_body, "body", name, expected);
        refuse_key(d, e->has_select, "select", name, expected);
        refuse_key(d, e->has_statistic, "statistic", name, expected);
        return;
    }
    if (e->has_select && !e->has_body && scene->body_count > 1)
        pl_decode_missing(d, "body", "the body of select", "there are several bodies");
    if (e->quantity == PL_QUANTITY_POSITION && !e->has_component)
        pl_decode_missing(d, "component", "one of: x, y, z", "");
    if (e->quantity == PL_QUANTITY_POSITION && e->has_component &&
        e->component == PL_COMPONENT_NORM)
        refuse_key(d, true, "component", "position", "one of: x, y, z");
}

/* The lists of references may be empty: the walker does not check that. */
static void check_reaction(pl_decoder *d, const pl_expectation *e, const char *name)
{
    const pl_scene *scene = d->root;
    bool reaction = e->quantity == PL_QUANTITY_REACTION;
    bool penetration = e->quantity == PL_QUANTITY_PENETRATION;
    if (!reaction)
        refuse_key(d, e->has_pin, "pin", name, "a reaction");
    if (!reaction && !penetration)
        refuse_key(d, e->has_obstacle, "obstacle", name, "a reaction or a penetration");
    if (!reaction && !penetration)
        return;
    if (reaction && e->has_pin == e->has_obstacle)
        pl_decode_fault(d, e->has_pin ? "conflict" : "missing_key",
                        e->has_pin ? "pin and obstacle" : "none of them",
                        "exactly one of: pin, obstacle", "");
    if (reaction && e->has_pin && scene->pin_count == 0)
        refuse_key(d, true, "pin", "a scene without pins", "the name of a pin");
    if (e->has_obstacle && scene->obstacle_count == 0)
        refuse_key(d, true, "obstacle", "a scene without obstacles", "the name of an obstacle");
    if (penetration && !e->has_obstacle && scene->obstacle_count == 0)
        refuse_key(d, true, "quantity", "a scene without obstacles",
                   "an obstacle that can be penetrated");
}

static void check_between(pl_decoder *d, const pl_expectation *e, const char *name)
{
    bool force = e->quantity == PL_QUANTITY_CONTACT_FORCE;
    refuse_key(d, !force && e->has_between, "between", name, "a contact_force");
    if (force && !e->has_between)
        pl_decode_missing(d, "between", "two bodies",
                          "the force is exerted by the first on the second");
    refuse_key(d, force && e->has_between && e->between[0] == e->between[1], "between",
               "the same body twice", "two different bodies: a body exerts no force on itself");
}

/* Rules over the target of an expectation or a probe. */
static void check_looked_at(pl_decoder *d, const pl_expectation *e)
{
    const char *name = pl_table_param(&pl_expectation_table, "quantity")->choices[e->quantity];
    check_vertices(d, e, name);
    check_reaction(d, e, name);
    check_between(d, e, name);
    if (!pl_quantity_is_vector(e->quantity))
        refuse_key(d, e->has_component, "component", name, "a vector");
}

void pl_check_probe(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_expectation *e = out;
    if (!clean)
        return;
    check_looked_at(d, e);
    if (e->quantity == PL_QUANTITY_ENERGY_DRIFT)
        refuse_key(d, true, "quantity", "a probe", "a quantity of one frame: energy");
}

void pl_check_expectation(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_expectation *e = out;
    if (!clean)
        return;
    check_bounds(d, e);
    check_times(d, e);
    check_looked_at(d, e);
}
