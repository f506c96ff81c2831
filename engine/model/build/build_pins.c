#include "engine/model/build/build.h"
#include "engine/scene/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies a motion's keyframes to `to`, and makes the motion point there; returns the end of the copy. */
static pl_keyframe *move_keyframes(pl_motion *motion, pl_keyframe *to)
{
    for (int32_t k = 0; k < motion->keyframe_count; k++)
        to[k] = motion->keyframes[k];
    motion->keyframes = to;
    return to + motion->keyframe_count;
}

pl_status pl_build_own_motions(pl_build *b)
{
    const pl_scene *scene = b->scene;
    size_t pins = (size_t)scene->pin_count, obstacles = (size_t)scene->obstacle_count, total = 0;
    for (size_t p = 0; p < pins; p++)
        total += (size_t)scene->pins[p].motion.keyframe_count;
    for (size_t o = 0; o < obstacles; o++)
        total += (size_t)scene->obstacles[o].motion.keyframe_count;
    b->own = *scene;
    b->own.pins = malloc((pins + 1) * sizeof *b->own.pins);
    b->own.obstacles = malloc((obstacles + 1) * sizeof *b->own.obstacles);
    pl_model *m = b->model;
    m->keyframes = malloc((total + 1) * sizeof *m->keyframes);
    m->own_motions = calloc(pins + obstacles + 1, sizeof *m->own_motions);
    m->drives = calloc(pins + obstacles + 1, sizeof *m->drives);
    if (!b->own.pins || !b->own.obstacles || !m->keyframes || !m->own_motions || !m->drives)
        return PL_NO_MEMORY;
    pl_keyframe *to = m->keyframes;
    for (size_t p = 0; p < pins; p++) {
        b->own.pins[p] = scene->pins[p];
        to = move_keyframes(&b->own.pins[p].motion, to);
        b->own.pins[p].motion.drive = &m->drives[p];
        m->own_motions[p] = b->own.pins[p].motion;
    }
    for (size_t o = 0; o < obstacles; o++) {
        b->own.obstacles[o] = scene->obstacles[o];
        to = move_keyframes(&b->own.obstacles[o].motion, to);
        b->own.obstacles[o].motion.drive = &m->drives[pins + o];
        m->own_motions[pins + o] = b->own.obstacles[o].motion;
    }
    b->scene = &b->own;
    return PL_OK;
}

/* The centre of the bounding box of a pin's vertices. */
static void find_center(const double *x, const pl_pin_model *pin, double center[3])
{
    for (int c = 0; c < 3; c++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int64_t k = 0; k < pin->count; k++) {
            lo = fmin(lo, x[3 * (int64_t)pin->vertex[k] + c]);
            hi = fmax(hi, x[3 * (int64_t)pin->vertex[k] + c]);
        }
        center[c] = (lo + hi) / 2;
    }
}

/* Pins hold vertices relative to their start positions; without an origin they rotate about the centre of the
 * vertices' bounding box. Held vertices start with the pin's velocity, which its motion implies. */
pl_status pl_build_pins(pl_build *b)
{
    pl_model *m = b->model;
    m->pins = calloc((size_t)m->pin_count + 1, sizeof *m->pins);
    if (!m->pins)
        return PL_NO_MEMORY;
    for (int32_t p = 0; p < m->pin_count; p++) {
        pl_pin_model *pin = &m->pins[p];
        pin->motion = b->scene->pins[p].motion;
        pin->axes = b->scene->pins[p].axes;
        pin->vertex = b->layout.pins[p].vertex; /* moved out of the layout */
        pin->count = b->layout.pins[p].count;
        b->layout.pins[p].vertex = NULL;
        if (!pin->motion.has_origin)
            find_center(m->x0, pin, pin->motion.origin);
        for (int64_t k = 0; k < pin->count; k++) {
            int64_t i = pin->vertex[k];
            double v[3];
            pl_motion_velocity(&pin->motion, m->x0 + 3 * i, 0, v);
            for (int c = 0; c < 3; c++)
                if (pin->axes >> c & 1)
                    m->v0[3 * i + c] = v[c];
        }
    }
    return PL_OK;
}

/* Position of vertex `i` under a pin, from the pose of its motion. */
static void bring(const pl_model *m, const pl_pin_model *pin, const pl_pose *pose, int64_t i,
                  double at[3])
{
    memcpy(at, m->x0 + 3 * i, 3 * sizeof *at);
    if (pl_motion_moves(&pin->motion))
        pl_pose_apply(pose, m->x0 + 3 * i, at);
}

void pl_model_place_pins(const pl_model *m, double time, double *x)
{
    for (int32_t p = 0; p < m->pin_count; p++) {
        const pl_pin_model *pin = &m->pins[p];
        pl_pose pose = pl_motion_pose(&pin->motion, time);
        for (int64_t k = 0; k < pin->count; k++) {
            int64_t i = pin->vertex[k];
            double at[3];
            bring(m, pin, &pose, i, at);
            for (int c = 0; c < 3; c++)
                if (pin->axes >> c & 1)
                    x[3 * i + c] = at[c];
        }
    }
}

void pl_model_pin_velocities(const pl_model *m, double time, double span, double *v)
{
    for (int32_t p = 0; p < m->pin_count; p++) {
        const pl_pin_model *pin = &m->pins[p];
        pl_pose poses[3];
        for (int n = 0; n < 3; n++)
            poses[n] = pl_motion_pose(&pin->motion, time - 0.5 * n * span);
        for (int64_t k = 0; k < pin->count; k++) {
            int64_t i = pin->vertex[k];
            double at[3][3];
            for (int n = 0; n < 3; n++)
                bring(m, pin, &poses[n], i, at[n]);
            for (int c = 0; c < 3; c++)
                if (pin->axes >> c & 1)
                    v[3 * i + c] = (3 * at[0][c] - 4 * at[1][c] + at[2][c]) / span;
        }
    }
}
