#include "protocol/log/metrics_json.h"

#include "engine/scene/scene.h"
#include "protocol/text/json.h"
#include "protocol/scene/params_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_vector(pl_json_writer *w, const char *key, const double v[3])
{
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (int i = 0; i < 3; i++)
        pl_json_put_number(w, v[i], 17);
    pl_json_end_array(w);
}

/* The i-th name of a list of the scene, whose structs begin with it. */
static const char *name_in(const void *list, size_t size, int32_t i)
{
    return *(char *const *)(const void *)((const char *)list + (size_t)i * size);
}

static void set_forces(pl_json_writer *w, const char *key, const pl_force *forces, const void *list,
                       size_t size, int32_t count)
{
    pl_json_key(w, key);
    pl_json_begin_object(w);
    for (int32_t i = 0; forces && i < count; i++)
        set_vector(w, name_in(list, size, i), forces[i].newton);
    pl_json_end_object(w);
}

static void set_reactions(pl_json_writer *w, const pl_metrics *m, const pl_scene *s)
{
    pl_json_key(w, "reactions");
    pl_json_begin_object(w);
    set_forces(w, "pins", m->pins, s->pins, sizeof *s->pins, s->pin_count);
    set_forces(w, "obstacles", m->obstacles, s->obstacles, sizeof *s->obstacles, s->obstacle_count);
    set_forces(w, "forces", m->forces, s->forces, sizeof *s->forces, s->force_count);
    pl_json_end_object(w);
}

static void set_penetration(pl_json_writer *w, const pl_metrics *m, const pl_scene *scene)
{
    pl_json_key(w, "penetration");
    pl_json_begin_object(w);
    for (int32_t i = 0; m->penetration && i < scene->obstacle_count; i++)
        pl_json_set_number(w, scene->obstacles[i].name, m->penetration[i]);
    pl_json_end_object(w);
}

static void set_probes(pl_json_writer *w, const pl_metrics *m)
{
    pl_json_key(w, "probes");
    pl_json_begin_object(w);
    for (int32_t i = 0; m->probes && i < m->probe_count; i++)
        pl_json_set_number(w, m->probe_names[i], m->probes[i]);
    pl_json_end_object(w);
}

static void set_obstacle_contacts(pl_json_writer *w, const pl_metrics *m, const pl_scene *scene)
{
    pl_json_key(w, "obstacle_contacts");
    pl_json_begin_object(w);
    for (int32_t i = 0; m->obstacle_contacts && i < scene->obstacle_count; i++)
        pl_json_set_known(w, scene->obstacles[i].name, m->obstacle_contacts[i]);
    pl_json_end_object(w);
}

static void put_body_force(pl_json_writer *w, const pl_body_force *f, const pl_scene *scene)
{
    pl_json_begin_object(w);
    pl_json_key(w, "between");
    pl_json_begin_array(w);
    for (int k = 0; k < 2; k++)
        pl_json_put_string(w, scene->bodies[f->body[k]].name);
    pl_json_end_array(w);
    set_vector(w, "force", f->newton);
    pl_json_end_object(w);
}

/* Null if the scene has no contact between bodies. */
static void set_contact(pl_json_writer *w, const pl_contact_metrics *c, const pl_scene *scene)
{
    pl_json_key(w, "contact");
    if (!c->on) {
        pl_json_put_null(w);
        return;
    }
    pl_json_begin_object(w);
    pl_json_set_integer(w, "pairs", c->pairs);
    pl_json_set_number(w, "gap", c->gap);
    pl_json_key(w, "forces");
    pl_json_begin_array(w);
    for (int32_t i = 0; i < c->force_count; i++)
        put_body_force(w, &c->forces[i], scene);
    pl_json_end_array(w);
    pl_json_set_number(w, "friction_work", c->friction_work);
    pl_json_set_integer(w, "rounds", c->rounds);
    pl_json_end_object(w);
}

static void set_residuals(pl_json_writer *w, double objective, double primal, double dual,
                          double gradient, double decrement)
{
    pl_json_set_number(w, "objective", objective);
    pl_json_set_number(w, "primal_residual", primal);
    pl_json_set_number(w, "dual_residual", dual);
    pl_json_set_number(w, "gradient_norm", gradient);
    pl_json_set_number(w, "decrement", decrement);
}

static void set_state(pl_json_writer *w, const pl_metrics *m)
{
    pl_json_key(w, "energy");
    pl_json_begin_object(w);
    pl_json_set_number(w, "kinetic", m->kinetic);
    pl_json_set_number(w, "elastic", m->elastic);
    pl_json_set_number(w, "gravity", m->gravity);
    pl_json_set_number(w, "dissipated", m->dissipated);
    if (!isnan(m->dissipated)) {
        const char *const *models = pl_damping_table.params[0].choices;
        static const char *const others[] = {"mass", "air", "friction"};
        pl_json_key(w, "dissipation");
        pl_json_begin_object(w);
        for (int k = 0; k < PL_DISSIPATION_COUNT; k++)
            if (!isnan(m->dissipation[k]))
                pl_json_set_number(
                    w, k < PL_DAMPING_MODELS ? models[k] : others[k - PL_DAMPING_MODELS],
                    m->dissipation[k]);
        pl_json_end_object(w);
    }
    pl_json_end_object(w);
    pl_json_key(w, "momentum");
    pl_json_begin_object(w);
    set_vector(w, "linear", m->linear);
    set_vector(w, "angular", m->angular);
    pl_json_end_object(w);
}

/* Milliseconds are measured to a microsecond at best: seven digits suffice. */
static void set_ms(pl_json_writer *w, const char *key, double ms)
{
    pl_json_key(w, key);
    pl_json_put_number(w, ms, 7);
}

static void set_times(pl_json_writer *w, const pl_metrics *m)
{
    pl_json_key(w, "ms");
    pl_json_begin_object(w);
    set_ms(w, "local", m->ms_local);
    set_ms(w, "global", m->ms_global);
    set_ms(w, "collision", m->ms_collision);
    set_ms(w, "output", m->ms_output);
    set_ms(w, "step", m->ms_step);
    if (m->paced)
        set_ms(w, "behind", m->ms_behind);
    pl_json_end_object(w);
}

static void set_detail(pl_json_writer *w, const pl_metrics *m)
{
    pl_json_key(w, "iterations_detail");
    pl_json_begin_array(w);
    for (int64_t i = 0; i < m->detail_count; i++) {
        const pl_iteration *row = &m->detail[i];
        pl_json_begin_object(w);
        set_residuals(w, row->objective, row->primal_residual, row->dual_residual,
                      row->gradient_norm, row->decrement);
        set_ms(w, "ms", row->ms);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

char *pl_metrics_encode(const pl_metrics *m, const pl_scene *scene, size_t *length)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "seq", m->frame);
    pl_json_set_integer(&w, "frame", m->frame);
    pl_json_set_number(&w, "time", m->time);
    pl_json_set_known(&w, "steps", m->steps);
    pl_json_set_known(&w, "iterations", m->iterations);
    pl_json_set_known(&w, "newton_iterations", m->newton_iterations);
    pl_json_set_known(&w, "unconverged", m->unconverged);
    pl_json_set_known(&w, "halved", m->halved);
    pl_json_set_known(&w, "by_euler", m->by_euler);
    set_residuals(&w, m->objective, m->primal_residual, m->dual_residual, m->gradient_norm,
                  m->decrement);
    pl_json_set_number(&w, "imbalance", m->imbalance);
    set_state(&w, m);
    set_reactions(&w, m, scene);
    set_penetration(&w, m, scene);
    pl_json_set_known(&w, "inverted", m->inverted);
    pl_json_set_known(&w, "contacts", m->contacts);
    set_obstacle_contacts(&w, m, scene);
    set_contact(&w, &m->contact, scene);
    pl_json_set_number(&w, "max_stretch", m->max_stretch);
    if (m->control > 0)
        pl_json_set_integer(&w, "control", m->control);
    if (m->probe_count > 0)
        set_probes(&w, m);
    if (m->paced)
        pl_json_set_number(&w, "realtime", m->realtime);
    set_times(&w, m);
    if (m->detail)
        set_detail(&w, m);
    pl_json_end_object(&w);
    return pl_json_finish(&w, length);
}

/* The writer gives 17 digits, so that equal texts are equal bits; -0 differs from 0. */
static bool same_value(const pl_json *a, const pl_json *b)
{
    char *x = pl_json_dump(a, false), *y = pl_json_dump(b, false);
    bool same = x && y && strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

static bool same_members(const pl_json *a, const pl_json *b);

static bool same_rows(const pl_json *a, const pl_json *b)
{
    size_t count = pl_json_count(a);
    bool same = pl_json_count(b) == count;
    for (size_t i = 0; i < count && same; i++)
        same = same_members(pl_json_item(a, i), pl_json_item(b, i));
    return same;
}

/* True for the same members in the same order with the same values, except "ms". */
static bool same_members(const pl_json *a, const pl_json *b)
{
    size_t count = pl_json_count(a);
    bool same = pl_json_count(b) == count;
    for (size_t i = 0; i < count && same; i++) {
        const pl_json *x, *y;
        const char *key = pl_json_member(a, i, &x), *other = pl_json_member(b, i, &y);
        bool of_the_clock = key && (strcmp(key, "ms") == 0 || strcmp(key, "realtime") == 0);
        if (!key || !other || strcmp(key, other) != 0)
            same = false;
        else if (strcmp(key, "iterations_detail") == 0)
            same = same_rows(x, y);
        else if (!of_the_clock)
            same = same_value(x, y);
    }
    return same;
}

bool pl_metrics_same(const char *a, size_t a_length, const char *b, size_t b_length)
{
    errno = 0;
    pl_json *x = pl_json_parse(a, a_length, NULL);
    pl_json *y = x ? pl_json_parse(b, b_length, NULL) : NULL;
    const pl_json *value;
    bool same = x && y && pl_json_member(x, 0, &value) && same_members(x, y);
    pl_json_free(x);
    pl_json_free(y);
    return same;
}

int pl_metrics_digest_decode(const char *text, size_t length, pl_metrics_digest *out)
{
    pl_json *m = pl_json_parse(text, length, NULL);
    int64_t frame = pl_json_integer(m, "frame", -1);
    if (frame >= 0)
        *out = (pl_metrics_digest){
            .frame = frame,
            .iterations = pl_json_integer(m, "iterations", -1),
            .unconverged = pl_json_integer(m, "unconverged", -1),
            .halved = pl_json_integer(m, "halved", -1),
            .inverted = pl_json_integer(m, "inverted", -1),
            .contacts = pl_json_integer(m, "contacts", -1),
            .pairs = pl_json_integer(m, "contact/pairs", -1),
            .gap = pl_json_number(m, "contact/gap", NAN),
            .time = pl_json_number(m, "time", NAN),
            .objective = pl_json_number(m, "objective", NAN),
            .primal_residual = pl_json_number(m, "primal_residual", NAN),
            .dual_residual = pl_json_number(m, "dual_residual", NAN),
            .gradient_norm = pl_json_number(m, "gradient_norm", NAN),
            .kinetic = pl_json_number(m, "energy/kinetic", NAN),
            .elastic = pl_json_number(m, "energy/elastic", NAN),
            .ms_step = pl_json_number(m, "ms/step", NAN),
        };
    pl_json_free(m);
    return frame >= 0 ? 0 : -1;
}
