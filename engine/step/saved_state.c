/* A state as bytes, little-endian, every field of 8 bytes:
 *
 *     magic, format, model hash, size of the whole, checksum of all else
 *     step, x[3n], v[3n], v one step before[3n] (only with initial_guess acceleration), the integrator's
 *         past (step_history.h; none for backward Euler), results of the last solve, forces of pins and
 *         obstacles, sums of the scene's forces, contacts
 *     contacts of each obstacle (missing in format 1)
 *     energy and power by each function (only for a model that dissipates), and their steps
 *     contacts between bodies, for a model that has any (touched.h; format 2 has no points of them)
 *     size of the solver's memory, and that memory (solver.h)
 *
 * Nothing is used before size, hash and checksum are verified. Anything that then does not fit the model is
 * rejected too, so no bytes can do harm. */
#include "engine/step/guess.h"
#include "engine/model/hash.h"
#include "engine/step/state.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "saved states are little-endian");

enum { FORMAT = 3, WITHOUT_POINTS = 2, WITHOUT_TOUCHING = 1 };

typedef struct header {
    char magic[8];
    int64_t format;
    uint64_t model, size;
    uint64_t checksum; /* of the header up to here and of everything after it */
} header;

static const char MAGIC[8] = "plstate\n";

static uint64_t checksum(const unsigned char *bytes, size_t size)
{
    uint64_t hash = pl_hash(PL_HASH_START, bytes, offsetof(header, checksum));
    return pl_hash(hash, bytes + sizeof(header), size - sizeof(header));
}

static void put_forces(pl_bytes_out *out, const pl_force *forces, int32_t count)
{
    pl_bytes_put(out, forces, (size_t)count * sizeof *forces);
}

static void put_solve(pl_bytes_out *out, const pl_solve_result *r)
{
    pl_bytes_put_i64(out, r->iterations);
    pl_bytes_put_i64(out, r->converged);
    const double found[] = {r->objective, r->primal_residual, r->dual_residual, r->gradient_norm,
                            r->decrement};
    pl_bytes_put(out, found, sizeof found);
}

static void get_solve(pl_bytes_in *in, pl_solve_result *r)
{
    *r = (pl_solve_result){0};
    r->iterations = pl_bytes_get_i64(in);
    r->converged = pl_bytes_get_i64(in);
    double *const found[] = {&r->objective, &r->primal_residual, &r->dual_residual,
                             &r->gradient_norm, &r->decrement};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        *found[i] = pl_bytes_get_f64(in);
}

/* Copies positions or velocities from the backend's memory. */
static void put_array(const pl_state *s, pl_bytes_out *out, const pl_array *array)
{
    int64_t count = 3 * s->model->vertices;
    double *to = pl_bytes_grow(out, (size_t)count * sizeof *to);
    if (to)
        s->whole.backend->ops->memory->download(s->whole.backend, to, array, count);
}

pl_status pl_state_save(const pl_state *s, void **bytes, size_t *size)
{
    const pl_model *m = s->model;
    pl_bytes_out out = {0};
    pl_bytes_grow(&out, sizeof(header));
    pl_bytes_put_i64(&out, s->step);
    put_array(s, &out, s->x);
    put_array(s, &out, s->v);
    if (pl_guess_looks_back(m))
        put_array(s, &out, s->v_old);
    pl_step_history_save(s->integrator, s->whole.backend, &s->history, &out);
    put_solve(&out, &s->solve);
    put_forces(&out, s->pins, m->pin_count);
    put_forces(&out, s->obstacles, m->obstacle_count);
    put_forces(&out, s->forces, m->loads.count);
    pl_bytes_put_i64(&out, s->contacts);
    pl_bytes_put(&out, s->touching, (size_t)m->obstacle_count * sizeof *s->touching);
    if (pl_dissipates(m))
        pl_bytes_put(&out, &s->dissipated, sizeof s->dissipated);
    if (m->touching)
        pl_touched_save(&s->touched, &out);
    pl_bytes_out memory = {0};
    pl_stepper_save(&s->whole, &memory);
    pl_bytes_put_i64(&out, (int64_t)memory.size);
    pl_bytes_put(&out, memory.data, memory.size);
    bool failed = out.failed || memory.failed;
    free(memory.data);
    if (failed) {
        free(out.data);
        return PL_NO_MEMORY;
    }
    header h = {.format = FORMAT, .model = m->hash, .size = out.size};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    memcpy(out.data, &h, sizeof h);
    h.checksum = checksum(out.data, out.size);
    memcpy(out.data, &h, sizeof h);
    *bytes = out.data;
    *size = out.size;
    return PL_OK;
}

/* True if its format is supported, and everything else is valid. */
static bool header_good(const pl_state *s, const unsigned char *bytes, size_t size, int64_t *format)
{
    header h;
    if (size < sizeof h)
        return false;
    memcpy(&h, bytes, sizeof h);
    *format = h.format;
    return memcmp(h.magic, MAGIC, sizeof h.magic) == 0 && h.format >= WITHOUT_TOUCHING &&
           h.format <= FORMAT && h.model == s->model->hash && h.size == size &&
           h.checksum == checksum(bytes, size);
}

/* From bytes, or unknown. */
static void put_touching(pl_state *s, const void *bytes)
{
    if (bytes)
        memcpy(s->touching, bytes, (size_t)s->model->obstacle_count * sizeof *s->touching);
    for (int32_t k = 0; !bytes && k < s->model->obstacle_count; k++)
        s->touching[k] = -1;
}

pl_status pl_state_follow(pl_state *s, const pl_state *from)
{
    const pl_model *m = s->model, *before = from->model;
    int64_t count = 3 * m->vertices;
    const pl_backend *b = from->whole.backend;
    double *x = malloc((size_t)(3 * count + 1) * sizeof *x);
    pl_bytes_out memory = {0};
    if (m->solver.method == before->solver.method)
        pl_stepper_save(&from->whole, &memory);
    if (!x || memory.failed) {
        free(x);
        free(memory.data);
        return PL_NO_MEMORY;
    }
    if (m->touching && before->touching &&
        !pl_touched_copy(&s->touched, &from->touched, m->lists_contacts)) {
        free(x);
        free(memory.data);
        return PL_NO_MEMORY;
    }
    b->ops->memory->download(from->whole.backend, x, from->x, count);
    b->ops->memory->download(from->whole.backend, x + count, from->v, count);
    b->ops->memory->download(from->whole.backend, x + 2 * count, from->v_old, count);
    /* If the groups differ from the saved ones, it is rejected: the solver then starts without memory. */
    pl_bytes_in in = {memory.data, memory.size, false};
    if (memory.size > 0)
        pl_stepper_restore(&s->whole, &in);
    s->step = from->step;
    s->dissipated = from->dissipated;
    pl_state_put(s, x, x + count, x + 2 * count);
    pl_state_settle(s);
    free(x);
    free(memory.data);
    return PL_OK;
}

/* The stepper's memory at the end of the bytes; all of it must be used. */
static pl_status restore_stepper(pl_state *s, pl_bytes_in *in)
{
    int64_t size = pl_bytes_get_i64(in);
    if (in->failed || size < 0 || (uint64_t)size != in->left)
        return PL_INVALID;
    return pl_stepper_restore(&s->whole, in);
}

pl_status pl_state_restore(pl_state *s, const void *bytes, size_t size)
{
    int64_t format;
    if (!header_good(s, bytes, size, &format))
        return PL_INVALID;
    const pl_model *m = s->model;
    size_t coordinates = 3 * (size_t)m->vertices * sizeof(double);
    pl_bytes_in in = {(const unsigned char *)bytes + sizeof(header), size - sizeof(header), false};
    int64_t step = pl_bytes_get_i64(&in);
    const void *x = pl_bytes_take(&in, coordinates), *v = pl_bytes_take(&in, coordinates);
    const void *v_old = v;
    if (pl_guess_looks_back(m))
        v_old = pl_bytes_take(&in, coordinates);
    pl_step_history_bytes history;
    bool has_history = pl_step_history_read(s->integrator, m->vertices, &in, &history);
    pl_solve_result solve;
    get_solve(&in, &solve);
    size_t pin_bytes = (size_t)m->pin_count * sizeof *s->pins;
    size_t obstacle_bytes = (size_t)m->obstacle_count * sizeof *s->obstacles;
    const void *pins = pl_bytes_take(&in, pin_bytes);
    const void *obstacles = pl_bytes_take(&in, obstacle_bytes);
    size_t force_bytes = (size_t)m->loads.count * sizeof *s->forces;
    const void *forces = pl_bytes_take(&in, force_bytes);
    int64_t contacts = pl_bytes_get_i64(&in);
    const void *touching = NULL;
    if (format != WITHOUT_TOUCHING)
        touching = pl_bytes_take(&in, (size_t)m->obstacle_count * sizeof *s->touching);
    const bool dissipates = pl_dissipates(m);
    const void *dissipated = dissipates ? pl_bytes_take(&in, sizeof s->dissipated) : NULL;
    pl_touched touched = {0};
    pl_status status = PL_OK;
    if (m->touching)
        status = pl_touched_read(&touched, m->body_count, format > WITHOUT_POINTS, &in);
    if (status == PL_OK && (in.failed || !has_history || step < 0 || step > m->steps))
        status = PL_INVALID;
    /* The stepper checks before it takes, and goes last: a rejection leaves the state unchanged. */
    if (status == PL_OK)
        status = restore_stepper(s, &in);
    if (status != PL_OK) {
        pl_touched_clear(&touched);
        return status;
    }
    pl_touched_clear(&s->touched);
    s->touched = touched;
    s->step = step;
    pl_state_put(s, x, v, v_old);
    pl_step_history_put(s->whole.backend, &history, &s->history);
    s->solve = solve;
    memcpy(s->pins, pins, pin_bytes);
    memcpy(s->obstacles, obstacles, obstacle_bytes);
    memcpy(s->forces, forces, force_bytes);
    s->contacts = contacts;
    put_touching(s, touching);
    if (dissipates)
        memcpy(&s->dissipated, dissipated, sizeof s->dissipated);
    pl_state_settle(s);
    return PL_OK;
}
