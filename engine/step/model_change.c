/* Controls: changes of a model between two steps, and their saved form (pliant.h). Layout of saved controls,
 * little-endian, every field of 8 bytes:
 *
 *     magic, format, size of the whole, counts of motions, forces and materials
 *     gravity[3]
 *     each motion: whether it was taken over, and if so the drive with its keyframes
 *     each force: wind's velocity[3], density, drag, force[3], pressure
 *     each material: young, poisson, lame[2], constants[4]; of its damping viscosity, bulk_viscosity, beta,
 *         coefficient and mass; and air_damping. Format 1 has only the first eight
 */
#include "engine/scene/change.h"
#include "engine/model/hash.h"
#include "engine/model/model.h"
#include "engine/solvers/bytes.h"

#include <stdlib.h>
#include <string.h>

enum {
    FORMAT = 2,
    FORMAT_UNDAMPED = 1, /* for materials: no damping */
    KEYFRAME = 8,
    FORCE = 9,
    STIFFNESS = 8,
    DAMPING = 6,
    KEYFRAMES_MAX = 1 << 20
};

static const char MAGIC[8] = "plctrl\n";

_Static_assert(sizeof(pl_keyframe) == KEYFRAME * sizeof(double), "keyframes are saved as they lie");

/* ---- applying ---- */

/* The current values of the numbers that controls may change. */
static uint64_t hash_changed(const pl_model *m)
{
    uint64_t hash = pl_hash(m->built_hash, m->gravity, 3 * sizeof *m->gravity);
    for (int32_t i = 0; i < m->pin_count + m->obstacle_count; i++) {
        const pl_drive *d = &m->drives[i];
        if (!d->on)
            continue;
        hash = pl_hash(hash, &(int64_t){i}, sizeof(int64_t));
        hash = pl_hash(hash, &d->since, sizeof d->since);
        hash = pl_hash(hash, d->from.R, sizeof d->from.R);
        hash = pl_hash(hash, d->from.shift, sizeof d->from.shift);
        hash = pl_hash_motion(hash, &d->motion);
    }
    for (int32_t f = 0; f < m->loads.count; f++) {
        const pl_scene_force *l = &m->loads.list[f].load;
        const double numbers[] = {l->density, l->drag, l->pressure};
        hash = pl_hash(hash, numbers, sizeof numbers);
        hash = pl_hash(hash, l->velocity, sizeof l->velocity);
        hash = pl_hash(hash, l->force, sizeof l->force);
    }
    return hash;
}

static void change_force(pl_scene_force *load, const pl_change_force *c)
{
    if (c->has_velocity)
        memcpy(load->velocity, c->velocity, sizeof load->velocity);
    if (c->has_density)
        load->density = c->density;
    if (c->has_drag)
        load->drag = c->drag;
    if (c->has_force)
        memcpy(load->force, c->force, sizeof load->force);
    if (c->has_pressure)
        load->pressure = c->pressure;
}

/* The drives of a list of motions, prepared separately: `first` is the list's first in the model's. */
static pl_status make_drives(const pl_model *m, const pl_change_motion *list, int32_t count,
                             int32_t first, double time, pl_drive *made)
{
    for (int32_t i = 0; i < count; i++)
        if (pl_motion_take_over(&m->own_motions[first + list[i].index], &list[i].motion, time,
                                &made[i]) != PL_OK)
            return PL_NO_MEMORY;
    return PL_OK;
}

static void put_drives(pl_model *m, const pl_change_motion *list, int32_t count, int32_t first,
                       const pl_drive *made)
{
    for (int32_t i = 0; i < count; i++) {
        pl_drive *drive = &m->drives[first + list[i].index];
        pl_drive_clear(drive);
        *drive = made[i];
    }
}

pl_status pl_model_change(pl_model *m, const pl_change *c, double time)
{
    int32_t motions = c->pin_count + c->obstacle_count;
    pl_drive *made = calloc((size_t)motions + 1, sizeof *made);
    pl_status status = made ? PL_OK : PL_NO_MEMORY;
    if (status == PL_OK)
        status = make_drives(m, c->pins, c->pin_count, 0, time, made);
    if (status == PL_OK)
        status = make_drives(m, c->obstacles, c->obstacle_count, m->pin_count, time,
                             made + c->pin_count);
    if (status != PL_OK) {
        for (int32_t i = 0; made && i < motions; i++)
            pl_drive_clear(&made[i]);
        free(made);
        return status;
    }
    put_drives(m, c->pins, c->pin_count, 0, made);
    put_drives(m, c->obstacles, c->obstacle_count, m->pin_count, made + c->pin_count);
    free(made);
    if (c->has_gravity)
        memcpy(m->gravity, c->gravity, sizeof c->gravity);
    for (int32_t i = 0; i < c->force_count; i++)
        change_force(&m->loads.list[c->forces[i].index].load, &c->forces[i]);
    m->hash = hash_changed(m);
    return PL_OK;
}

/* ---- saving ---- */

static void put_drive(pl_bytes_out *out, const pl_drive *d)
{
    pl_bytes_put_i64(out, d->on);
    if (!d->on)
        return;
    const pl_motion *m = &d->motion;
    pl_bytes_put_f64(out, d->since);
    pl_bytes_put(out, d->from.R, sizeof d->from.R);
    pl_bytes_put(out, d->from.shift, sizeof d->from.shift);
    pl_bytes_put_i64(out, m->interpolation);
    pl_bytes_put(out, m->velocity, sizeof m->velocity);
    pl_bytes_put(out, m->axis, sizeof m->axis);
    pl_bytes_put_f64(out, m->degrees_per_second);
    pl_bytes_put_i64(out, m->keyframe_count);
    pl_bytes_put(out, m->keyframes, (size_t)m->keyframe_count * sizeof *m->keyframes);
}

static void put_force(pl_bytes_out *out, const pl_scene_force *l)
{
    pl_bytes_put(out, l->velocity, sizeof l->velocity);
    pl_bytes_put_f64(out, l->density);
    pl_bytes_put_f64(out, l->drag);
    pl_bytes_put(out, l->force, sizeof l->force);
    pl_bytes_put_f64(out, l->pressure);
}

pl_status pl_changes_save(const pl_model *m, const pl_scene *scene, void **bytes, size_t *size)
{
    pl_bytes_out out = {0};
    int32_t motions = m->pin_count + m->obstacle_count;
    pl_bytes_put(&out, MAGIC, sizeof MAGIC);
    pl_bytes_put_i64(&out, FORMAT);
    pl_bytes_put_i64(&out, 0);
    const int64_t counts[3] = {motions, m->loads.count, scene->material_count};
    pl_bytes_put(&out, counts, sizeof counts);
    pl_bytes_put(&out, m->gravity, 3 * sizeof *m->gravity);
    for (int32_t i = 0; i < motions; i++)
        put_drive(&out, &m->drives[i]);
    for (int32_t f = 0; f < m->loads.count; f++)
        put_force(&out, &m->loads.list[f].load);
    for (int32_t i = 0; i < scene->material_count; i++) {
        const pl_material *p = &scene->materials[i];
        const double numbers[STIFFNESS] = {p->young,        p->poisson,      p->lame.mu,
                                           p->lame.lambda,  p->constants.s0, p->constants.s1,
                                           p->constants.s2, p->constants.s3};
        const double damping[DAMPING] = {p->damping.viscosity, p->damping.bulk_viscosity,
                                         p->damping.beta,      p->damping.coefficient,
                                         p->damping.mass,      p->air_damping};
        pl_bytes_put(&out, numbers, sizeof numbers);
        pl_bytes_put(&out, damping, sizeof damping);
    }
    if (out.failed) {
        free(out.data);
        return PL_NO_MEMORY;
    }
    int64_t whole = (int64_t)out.size;
    memcpy((char *)out.data + 2 * sizeof whole, &whole, sizeof whole);
    *bytes = out.data;
    *size = out.size;
    return PL_OK;
}

/* ---- restoring ---- */

/* Checks the header, and leaves `in` at gravity. *material: count of numbers for each. */
static bool header_good(pl_bytes_in *in, const void *bytes, size_t size, int64_t counts[3],
                        size_t *material)
{
    *in = (pl_bytes_in){bytes, size, false};
    const void *magic = pl_bytes_take(in, sizeof MAGIC);
    int64_t format = pl_bytes_get_i64(in), whole = pl_bytes_get_i64(in);
    for (int i = 0; i < 3; i++)
        counts[i] = pl_bytes_get_i64(in);
    *material = format == FORMAT ? STIFFNESS + DAMPING : STIFFNESS;
    return !in->failed && memcmp(magic, MAGIC, sizeof MAGIC) == 0 &&
           (format == FORMAT || format == FORMAT_UNDAMPED) && whole == (int64_t)size;
}

static void get_doubles(pl_bytes_in *in, double *out, size_t count)
{
    pl_bytes_get(in, out, count * sizeof *out);
}

pl_status pl_changes_restore_scene(pl_scene *scene, const void *bytes, size_t size)
{
    pl_bytes_in in;
    int64_t counts[3];
    size_t numbers;
    if (!header_good(&in, bytes, size, counts, &numbers) || counts[2] != scene->material_count)
        return PL_INVALID;
    size_t part = (size_t)scene->material_count * numbers * sizeof(double);
    if (in.left < part)
        return PL_INVALID;
    pl_bytes_take(&in, in.left - part);
    for (int32_t i = 0; i < scene->material_count; i++) {
        pl_material *p = &scene->materials[i];
        double n[STIFFNESS], d[DAMPING];
        get_doubles(&in, n, STIFFNESS);
        p->young = n[0];
        p->poisson = n[1];
        p->lame = (pl_lame_constants){n[2], n[3]};
        p->constants = (pl_rubber_constants){n[4], n[5], n[6], n[7]};
        if (numbers == STIFFNESS)
            continue;
        get_doubles(&in, d, DAMPING);
        p->damping.viscosity = d[0];
        p->damping.bulk_viscosity = d[1];
        p->damping.beta = d[2];
        p->damping.coefficient = d[3];
        p->damping.mass = d[4];
        p->air_damping = d[5];
    }
    return PL_OK;
}

/* Reads one drive; PL_INVALID if the bytes cannot be one. The drive owns the allocated memory. */
static pl_status get_drive(pl_bytes_in *in, pl_drive *d)
{
    pl_motion *m = &d->motion;
    d->on = pl_bytes_get_i64(in);
    if (!d->on)
        return in->failed ? PL_INVALID : PL_OK;
    d->since = pl_bytes_get_f64(in);
    get_doubles(in, d->from.R, 9);
    get_doubles(in, d->from.shift, 3);
    int64_t interpolation = pl_bytes_get_i64(in);
    get_doubles(in, m->velocity, 3);
    get_doubles(in, m->axis, 3);
    m->degrees_per_second = pl_bytes_get_f64(in);
    int64_t keys = pl_bytes_get_i64(in);
    if (in->failed || interpolation < 0 || interpolation > PL_INTERPOLATION_SMOOTH || keys < 0 ||
        keys > KEYFRAMES_MAX || (size_t)keys * sizeof(pl_keyframe) > in->left)
        return PL_INVALID;
    m->present = true;
    m->interpolation = (pl_interpolation)interpolation;
    if (keys == 0)
        return PL_OK;
    m->keyframes = calloc((size_t)keys, sizeof *m->keyframes);
    if (!m->keyframes)
        return PL_NO_MEMORY;
    m->keyframe_count = (int32_t)keys;
    memcpy(m->keyframes, pl_bytes_take(in, (size_t)keys * sizeof *m->keyframes),
           (size_t)keys * sizeof *m->keyframes);
    return PL_OK;
}

static void get_force(pl_bytes_in *in, pl_scene_force *l)
{
    get_doubles(in, l->velocity, 3);
    l->density = pl_bytes_get_f64(in);
    l->drag = pl_bytes_get_f64(in);
    get_doubles(in, l->force, 3);
    l->pressure = pl_bytes_get_f64(in);
}

pl_status pl_changes_restore(pl_model *m, const void *bytes, size_t size)
{
    pl_bytes_in in;
    int64_t counts[3];
    int32_t motions = m->pin_count + m->obstacle_count;
    size_t numbers;
    if (!header_good(&in, bytes, size, counts, &numbers) || counts[0] != motions ||
        counts[1] != m->loads.count)
        return PL_INVALID;
    double gravity[3] = {0};
    get_doubles(&in, gravity, 3);
    pl_drive *drives = calloc((size_t)motions + 1, sizeof *drives);
    pl_status status = drives ? PL_OK : PL_NO_MEMORY;
    for (int32_t i = 0; status == PL_OK && i < motions; i++)
        status = get_drive(&in, &drives[i]);
    if (status == PL_OK && (size_t)m->loads.count * FORCE * sizeof(double) > in.left)
        status = PL_INVALID;
    if (status == PL_OK) {
        pl_drive *old = m->drives;
        for (int32_t i = 0; i < motions; i++) {
            pl_drive_clear(&old[i]);
            old[i] = drives[i]; /* the cells stay: motions point to them */
        }
        memcpy(m->gravity, gravity, sizeof gravity);
        for (int32_t f = 0; f < m->loads.count; f++)
            get_force(&in, &m->loads.list[f].load);
        m->hash = hash_changed(m);
    } else {
        for (int32_t i = 0; drives && i < motions; i++)
            pl_drive_clear(&drives[i]);
    }
    free(drives);
    return status;
}

/* ---- carrying over ---- */

static bool same_motion(const pl_motion *a, const pl_motion *b)
{
    return pl_hash_motion(PL_HASH_START, a) == pl_hash_motion(PL_HASH_START, b);
}

/* A drive is carried over if the motion under it is the same. */
static pl_status carry_drive(pl_model *to, int32_t i, const pl_model *from, int32_t j)
{
    const pl_drive *drive = &from->drives[j];
    if (!drive->on || !same_motion(&to->own_motions[i], &from->own_motions[j]))
        return PL_OK;
    pl_drive copy = *drive;
    size_t bytes = (size_t)copy.motion.keyframe_count * sizeof *copy.motion.keyframes;
    copy.motion.keyframes = bytes ? malloc(bytes) : NULL;
    if (bytes && !copy.motion.keyframes)
        return PL_NO_MEMORY;
    if (bytes)
        memcpy(copy.motion.keyframes, drive->motion.keyframes, bytes);
    pl_drive_clear(&to->drives[i]);
    to->drives[i] = copy;
    return PL_OK;
}

static bool same_load(const pl_scene_force *a, const pl_scene_force *b)
{
    return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->density == b->density &&
           a->drag == b->drag && a->pressure == b->pressure &&
           memcmp(a->velocity, b->velocity, sizeof a->velocity) == 0 &&
           memcmp(a->force, b->force, sizeof a->force) == 0;
}

static void carry_load(pl_scene_force *to, const pl_scene_force *from)
{
    memcpy(to->velocity, from->velocity, sizeof to->velocity);
    memcpy(to->force, from->force, sizeof to->force);
    to->density = from->density;
    to->drag = from->drag;
    to->pressure = from->pressure;
}

pl_status pl_changes_carry(pl_model *to, const pl_scene *scene, const pl_model *from,
                           const pl_scene *from_scene)
{
    pl_status status = PL_OK;
    for (int32_t i = 0; i < to->pin_count; i++)
        for (int32_t j = 0; j < from->pin_count && status == PL_OK; j++)
            if (strcmp(scene->pins[i].name, from_scene->pins[j].name) == 0)
                status = carry_drive(to, i, from, j);
    for (int32_t i = 0; i < to->obstacle_count; i++)
        for (int32_t j = 0; j < from->obstacle_count && status == PL_OK; j++)
            if (strcmp(scene->obstacles[i].name, from_scene->obstacles[j].name) == 0)
                status = carry_drive(to, to->pin_count + i, from, from->pin_count + j);
    for (int32_t i = 0; i < to->loads.count; i++)
        for (int32_t j = 0; j < from->loads.count; j++)
            if (same_load(&scene->forces[i], &from_scene->forces[j]))
                carry_load(&to->loads.list[i].load, &from->loads.list[j].load);
    if (memcmp(scene->gravity, from_scene->gravity, sizeof scene->gravity) == 0)
        memcpy(to->gravity, from->gravity, sizeof scene->gravity);
    to->hash = hash_changed(to);
    return status;
}

static bool same_stiffness(const pl_material *a, const pl_material *b)
{
    return a->young == b->young && a->poisson == b->poisson && a->lame.mu == b->lame.mu &&
           a->lame.lambda == b->lame.lambda &&
           memcmp(&a->constants, &b->constants, sizeof a->constants) == 0;
}

static bool carry_stiffness(pl_material *to, const pl_material *before, const pl_material *now)
{
    if (!same_stiffness(to, before) || same_stiffness(before, now))
        return false;
    to->young = now->young;
    to->poisson = now->poisson;
    to->lame = now->lame;
    to->constants = now->constants;
    return true;
}

static bool same_damping(const pl_material *a, const pl_material *b)
{
    const pl_material_damping *p = &a->damping, *q = &b->damping;
    return p->present == q->present && p->model == q->model && p->viscosity == q->viscosity &&
           p->bulk_viscosity == q->bulk_viscosity && p->beta == q->beta &&
           p->coefficient == q->coefficient && p->mass == q->mass &&
           a->air_damping == b->air_damping;
}

static bool carry_damping(pl_material *to, const pl_material *before, const pl_material *now)
{
    if (!same_damping(to, before) || same_damping(before, now))
        return false;
    to->damping.viscosity = now->damping.viscosity;
    to->damping.bulk_viscosity = now->damping.bulk_viscosity;
    to->damping.beta = now->damping.beta;
    to->damping.coefficient = now->damping.coefficient;
    to->damping.mass = now->damping.mass;
    to->air_damping = now->air_damping;
    return true;
}

bool pl_scene_carry(pl_scene *to, const pl_material *before, const pl_material *now, int32_t count)
{
    bool changed = false;
    for (int32_t i = 0; i < to->material_count; i++)
        for (int32_t j = 0; j < count; j++) {
            pl_material *m = &to->materials[i];
            if (strcmp(m->name, before[j].name) != 0)
                continue;
            const bool stiffness = carry_stiffness(m, &before[j], &now[j]);
            const bool damping = carry_damping(m, &before[j], &now[j]);
            changed = changed || stiffness || damping;
            break;
        }
    return changed;
}
