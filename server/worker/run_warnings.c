#include "server/worker/run_warnings.h"

#include "engine/scene/carries.h"
#include "server/worker/placed_body.h"
#include "server/worker/worker_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Warn of vertices deeper in an obstacle than this share of the smallest body's size. */
static const double DEEP = 0.01;
/* Warn of a gain above this share of the energy exchanged. */
static const double GAINED = 0.01;
/* Ignore gains below this share of the initial energy: rounding. */
static const double ROUNDING = 1e-9;
static const double KEEP_EVERY = 1; /* s, at least */

/* ---- the scene ---- */

/* True if only gravity does work: no forces, no attachments, no moving pins or obstacles. */
static bool is_closed(const pl_scene *scene)
{
    bool closed = scene->time.integrator != PL_INTEGRATOR_QUASI_STATIC && scene->force_count == 0 &&
                  scene->attachment_count == 0;
    for (int32_t k = 0; k < scene->pin_count; k++)
        closed = closed && !scene->pins[k].motion.present;
    for (int32_t k = 0; k < scene->obstacle_count; k++)
        closed = closed && !scene->obstacles[k].motion.present;
    return closed;
}

pl_status pl_run_warnings_init(pl_run_warnings *w, int directory, const pl_scene *scene,
                               const pl_mesh *meshes)
{
    *w = (pl_run_warnings){.directory = directory,
                           .scene = scene,
                           .size = INFINITY,
                           .closed = is_closed(scene),
                           .totals = {.frame = -1, .deepest_in = -1},
                           .begun = {.frame = -1}};
    pl_status status = PL_OK;
    for (int32_t b = 0; status == PL_OK && b < scene->body_count; b++) {
        pl_placed_body placed;
        status = pl_placed_body_init(&placed, &scene->bodies[b], &meshes[b]);
        w->size = fmin(w->size, placed.size);
        pl_placed_body_clear(&placed);
    }
    return status;
}

/* ---- counting ---- */

static void count_energy(pl_run_warnings *w, const pl_frame_signs *s)
{
    pl_run_totals *t = &w->totals;
    if (s->frame == 0) {
        t->has_energy = w->closed && isfinite(s->energy);
        t->first_energy = t->least_energy = s->energy;
    }
    /* A control may do work itself. */
    t->has_energy = t->has_energy && s->control <= 0 && isfinite(s->energy);
    if (!t->has_energy)
        return;
    t->least_energy = fmin(t->least_energy, s->energy);
    t->most_kinetic = fmax(t->most_kinetic, s->kinetic);
    double gain = s->energy - t->first_energy;
    double exchanged = fmax(t->first_energy - t->least_energy, t->most_kinetic);
    if (gain > GAINED * exchanged && gain > ROUNDING * fabs(t->first_energy)) {
        t->gaining++;
        t->most_gain = fmax(t->most_gain, gain);
        w->changed = true;
    }
}

static void count_frame(pl_run_warnings *w, const pl_frame_signs *s)
{
    pl_run_totals *t = &w->totals;
    t->frame = s->frame;
    count_energy(w, s);
    if (s->frame == 0)
        return;
    t->unconverged += s->unconverged > 0;
    t->inverted += s->inverted > 0;
    t->most_inverted = s->inverted > t->most_inverted ? s->inverted : t->most_inverted;
    bool deep = s->depth > DEEP * w->size;
    t->penetrating += deep;
    if (deep && s->depth > t->deepest) {
        t->deepest = s->depth;
        t->deepest_in = s->obstacle;
    }
    w->changed = w->changed || s->unconverged > 0 || s->inverted > 0 || deep;
}

void pl_run_warnings_begin(pl_run_warnings *w, const pl_metrics *m)
{
    w->begun = (pl_frame_signs){.frame = m->frame,
                                .unconverged = m->unconverged,
                                .inverted = m->inverted,
                                .control = m->control,
                                .energy = m->kinetic + m->elastic + m->gravity,
                                .kinetic = m->kinetic,
                                .obstacle = -1};
    for (int32_t k = 0; k < w->scene->obstacle_count; k++)
        if (m->penetration[k] > w->begun.depth) {
            w->begun.depth = m->penetration[k];
            w->begun.obstacle = k;
        }
}

void pl_run_warnings_commit(pl_run_warnings *w)
{
    if (w->begun.frame >= 0)
        count_frame(w, &w->begun);
    w->begun.frame = -1;
}

/* ---- as a list ---- */

static pl_status list(const pl_run_warnings *w, pl_warnings *out)
{
    const pl_run_totals *t = &w->totals;
    const pl_scene *scene = w->scene;
    char text[512];
    pl_status status = PL_OK;
    if (t->unconverged > 0) {
        bool is_auto = scene->solver.method == PL_METHOD_AUTO || scene->solver.automatic;
        snprintf(text, sizeof text,
                 "%lld of %lld frames did not reach solver.tolerance: use %sa smaller time.step or "
                 "more solver.iterations",
                 (long long)t->unconverged, (long long)t->frame,
                 is_auto ? "" : "\"method\": \"auto\", ");
        status = pl_warnings_add(out, PL_WARNING_UNCONVERGED, t->unconverged, t->frame, text);
    }
    if (status == PL_OK && t->inverted > 0) {
        snprintf(text, sizeof text,
                 "%lld of %lld frames have tetrahedra turned inside out, at most %lld at once: use "
                 "a smaller time.step, or a material that resists it (neo_hookean)",
                 (long long)t->inverted, (long long)t->frame, (long long)t->most_inverted);
        status = pl_warnings_add(out, PL_WARNING_INVERTED, t->inverted, t->frame, text);
    }
    if (status == PL_OK && t->gaining > 0) {
        bool plain = scene->time.integrator == PL_INTEGRATOR_BACKWARD_EULER;
        snprintf(text, sizeof text,
                 "%lld of %lld frames have more energy than the first, at most %.3g J, although "
                 "nothing does work on the bodies: use %s",
                 (long long)t->gaining, (long long)t->frame, t->most_gain,
                 plain ? "a smaller time.step"
                       : "\"integrator\": \"backward_euler\", or a smaller time.step");
        status = pl_warnings_add(out, PL_WARNING_ENERGY_GAINED, t->gaining, t->frame, text);
    }
    if (status == PL_OK && t->penetrating > 0) {
        const char *name = t->deepest_in >= 0 && t->deepest_in < scene->obstacle_count
                               ? scene->obstacles[t->deepest_in].name
                               : "";
        snprintf(text, sizeof text,
                 "%lld of %lld frames have vertices deep in an obstacle, at most %.3g m in "
                 "'%s', of bodies %.3g m across: use a smaller time.step%s",
                 (long long)t->penetrating, (long long)t->frame, t->deepest, name, w->size,
                 pl_obstacles_are_hard(&scene->solver)
                     ? ""
                     : ", a larger solver.contact_stiffness, or \"obstacles\": \"hard\"");
        status = pl_warnings_add(out, PL_WARNING_PENETRATION, t->penetrating, t->frame, text);
    }
    return status;
}

/* ---- warnings.json ---- */

bool pl_run_warnings_due(const pl_run_warnings *w)
{
    return w->changed && pl_worker_clock() - w->written > fmax(KEEP_EVERY, 100 * w->cost);
}

pl_status pl_run_warnings_keep(pl_run_warnings *w)
{
    pl_warnings warnings = {0};
    double begin = pl_worker_clock();
    pl_status status = list(w, &warnings);
    if (status == PL_OK)
        status = pl_run_warnings_write(w->directory, &w->totals, &warnings);
    pl_warnings_clear(&warnings);
    w->written = pl_worker_clock();
    w->cost = w->written - begin;
    if (status == PL_OK)
        w->changed = false;
    return status;
}

/* Reads what is counted of a stored frame. False if its metrics cannot be read. */
static bool stored_signs(const pl_run_warnings *w, pl_log_reader *log, int64_t frame,
                         pl_frame_signs *out)
{
    char *text;
    uint64_t length;
    if (pl_log_read(log, frame, PL_LOG_METRICS, &text, &length) != PL_LOG_OK)
        return false;
    pl_json *m = pl_json_parse(text, (size_t)length, NULL);
    free(text);
    if (!m)
        return false;
    double kinetic = pl_json_number(m, "energy/kinetic", NAN);
    *out = (pl_frame_signs){.frame = frame,
                            .unconverged = pl_json_integer(m, "unconverged", -1),
                            .inverted = pl_json_integer(m, "inverted", -1),
                            .control = pl_json_integer(m, "control", 0),
                            .energy = kinetic + pl_json_number(m, "energy/elastic", NAN) +
                                      pl_json_number(m, "energy/gravity", NAN),
                            .kinetic = kinetic,
                            .obstacle = -1};
    const pl_json *depths = pl_json_at(m, "penetration");
    for (size_t k = 0; k < pl_json_count(depths) && k < (size_t)w->scene->obstacle_count; k++) {
        const pl_json *depth;
        pl_json_member(depths, k, &depth);
        double d = pl_json_number(depth, "", 0);
        if (d > out->depth) {
            out->depth = d;
            out->obstacle = (int32_t)k;
        }
    }
    pl_json_free(m);
    return true;
}

pl_status pl_run_warnings_resume(pl_run_warnings *w, pl_log_reader *log, int64_t last)
{
    pl_warnings before = {0};
    pl_run_totals totals;
    pl_status status = pl_run_warnings_read(w->directory, &totals, &before);
    pl_warnings_clear(&before);
    if (status == PL_NO_MEMORY)
        return status;
    if (status == PL_OK && totals.frame <= last)
        w->totals = totals;
    for (int64_t frame = w->totals.frame + 1; frame <= last; frame++) {
        pl_frame_signs signs;
        if (stored_signs(w, log, frame, &signs))
            count_frame(w, &signs);
        w->totals.frame = frame;
    }
    return PL_OK;
}
