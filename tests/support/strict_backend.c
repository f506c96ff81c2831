#include "tests/support/strict_backend.h"

#include "engine/backends/backend.h"
#include "engine/model/factors.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- memory ---- */
/* Two ranges of the same size: arrays are addresses in an inaccessible one, and their numbers are at the same offset in
 * the other. Nothing is reused, so a released array is recognised for ever. */
enum { ARRAYS_MAX = 1 << 16, GAP = 64 };
static const size_t SIZE = (size_t)1 << 34;

typedef struct array {
    size_t offset, count; /* bytes from the range's begin; numbers */
    bool released;
} array;

static char *handles, *numbers; /* the two ranges */
static size_t used;
static array *arrays; /* by offset */
static int64_t array_count, living;

_Noreturn static void misuse(const char *what)
{
    fprintf(stderr, "strict backend: %s\n", what);
    abort();
}

static void reserve(void)
{
    if (handles)
        return;
    handles = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    numbers = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    arrays = calloc(ARRAYS_MAX, sizeof *arrays);
    if (handles == MAP_FAILED || numbers == MAP_FAILED || !arrays)
        misuse("no address space");
}

static bool is_handle(const void *p)
{
    return handles && (const char *)p >= handles && (const char *)p < handles + SIZE;
}

/* The array that an address lies in. */
static array *find(const void *p)
{
    if (!is_handle(p))
        misuse("a phase was given the host's memory");
    size_t offset = (size_t)((const char *)p - handles);
    int64_t lo = 0, hi = array_count;
    while (hi - lo > 1) {
        int64_t middle = (lo + hi) / 2;
        *(arrays[middle].offset <= offset ? &lo : &hi) = middle;
    }
    if (array_count == 0 || offset >= arrays[lo].offset + arrays[lo].count * sizeof(double))
        misuse("an address is in no array");
    if (arrays[lo].released)
        misuse("an array is used after its release");
    return &arrays[lo];
}

/* The numbers of an address, `count` of them. NULL stays NULL. */
static pl_array *at(const pl_array *p, int64_t count)
{
    if (!p)
        return NULL;
    const array *a = find(p);
    size_t offset = (size_t)((const char *)p - handles);
    if (offset + (size_t)count * sizeof(double) > a->offset + a->count * sizeof(double))
        misuse("an array is too small for what it is given for");
    return (pl_array *)(void *)(numbers + offset);
}

static const double *host(const double *p)
{
    if (is_handle(p))
        misuse("the host's side of a copy is the device's memory");
    return p;
}

static pl_array *strict_alloc(pl_backend *b, int64_t count)
{
    reserve();
    size_t bytes = ((size_t)count * sizeof(double) + 63) / 64 * 64 + GAP;
    if (array_count == ARRAYS_MAX || used + bytes > SIZE)
        misuse("out of arrays");
    arrays[array_count++] = (array){.offset = used, .count = (size_t)count};
    pl_array *handle = (pl_array *)(void *)(handles + used);
    used += bytes;
    living++;
    return handle;
}

static void strict_release(pl_backend *b, pl_array *p)
{
    if (!p)
        return;
    array *a = find(p);
    memset(numbers + a->offset, 0xff, a->count * sizeof(double)); /* NaN */
    a->released = true;
    living--;
}

int64_t pl_strict_arrays(void)
{
    return living;
}

/* ---- phases: the CPU's, on the numbers ---- */

typedef struct strict {
    pl_backend base;
    pl_backend *cpu;
    const pl_array ***lists; /* host arrays of addresses, translated; [LISTS][room] */
    int64_t room;
} strict;

enum { LISTS = 8 };

static pl_backend *cpu_of(pl_backend *b)
{
    return ((strict *)b)->cpu;
}

#define CPU     (cpu_of(b)->ops)
#define POS(p)  at(p, 3 * b->model->vertices)
#define ROWS(p) at(p, 3 * b->model->free_vertices)

static void strict_destroy(pl_backend *b)
{
    strict *s = (strict *)b;
    if (s->cpu)
        s->cpu->ops->destroy(s->cpu);
    for (int k = 0; s->lists && k < LISTS; k++)
        free(s->lists[k]);
    free(s->lists);
    free(s);
}

extern const pl_backend_ops pl_backend_strict;

static const char *strict_refuses(const pl_model *model)
{
    return pl_backend_cpu.refuses(model);
}

static pl_status strict_create(const pl_model *model, int32_t threads, pl_backend *beside,
                               pl_backend **out)
{
    strict *s = calloc(1, sizeof *s);
    s->base = (pl_backend){&pl_backend_strict, model};
    s->room = model->group_count + 2 * PL_WINDOW_MAX + 2;
    s->lists = calloc(LISTS, sizeof *s->lists);
    for (int k = 0; k < LISTS; k++)
        s->lists[k] = calloc((size_t)s->room, sizeof **s->lists);
    /* The models of devices have no factor; the CPU's work, which does it all, needs one. */
    bool bare = model->A.n > 0 && !pl_model_solves(model);
    pl_status status = bare ? pl_factors_create((pl_model *)(uintptr_t)model, NULL) : PL_OK;
    if (status == PL_OK)
        status = pl_backend_cpu.create(model, threads, beside ? cpu_of(beside) : NULL, &s->cpu);
    if (status != PL_OK) {
        strict_destroy(&s->base);
        return status;
    }
    *out = &s->base;
    return PL_OK;
}

/* Values of each group, as list `k`; NULL stays NULL. Differences are half as long. */
static pl_array *const *values_of(pl_backend *b, int k, pl_array *const *list, bool half)
{
    strict *s = (strict *)b;
    for (int32_t g = 0; list && g < b->model->group_count; g++) {
        int64_t count = pl_group_values(&b->model->groups[g]);
        s->lists[k][g] = at(list[g], half ? count / 2 : count);
    }
    return list ? (pl_array *const *)s->lists[k] : NULL;
}

static pl_array *const *rows_of(pl_backend *b, int k, const pl_array *const *list, int32_t count)
{
    strict *s = (strict *)b;
    for (int32_t i = 0; i < count; i++)
        s->lists[k][i] = ROWS(list[i]);
    return (pl_array *const *)s->lists[k];
}

static pl_backend_stage stage_of(pl_backend *b, const pl_backend_stage *stage)
{
    pl_backend_stage translated = *stage;
    translated.x_start = POS(stage->x_start);
    translated.v_start = POS(stage->v_start);
    translated.xp = POS(stage->xp);
    translated.stationary = POS(stage->stationary);
    translated.x_pred = POS(stage->x_pred);
    translated.x_grip = POS(stage->x_grip);
    translated.load = POS(stage->load);
    translated.multipliers = at(stage->multipliers, b->model->multipliers);
    return translated;
}
#define STAGE (&(pl_backend_stage[1]){stage_of(b, stage)}[0])

static void strict_upload(pl_backend *b, pl_array *to, const double *from, int64_t count)
{
    CPU->memory->upload(cpu_of(b), at(to, count), host(from), count);
}
static void strict_download(pl_backend *b, double *to, const pl_array *from, int64_t count)
{
    host(to);
    CPU->memory->download(cpu_of(b), to, at(from, count), count);
}
static void strict_copy(pl_backend *b, pl_array *to, const pl_array *from, int64_t count)
{
    CPU->memory->copy(cpu_of(b), at(to, count), at(from, count), count);
}
static void strict_clear(pl_backend *b, pl_array *values, int64_t count)
{
    CPU->memory->clear(cpu_of(b), at(values, count), count);
}
static pl_status strict_fetch_create(pl_backend *b, const pl_fetch_form *form, pl_fetch **out)
{
    return CPU->fetch->create(cpu_of(b), form, out);
}
static void strict_fetch_destroy(pl_backend *b, pl_fetch *f)
{
    CPU->fetch->destroy(cpu_of(b), f);
}
static void strict_fetch_begin(pl_backend *b, pl_fetch *f, const pl_array *const *list)
{
    const pl_array *translated[PL_FETCH_ARRAYS] = {POS(list[0]), POS(list[1])};
    CPU->fetch->begin(cpu_of(b), f, translated);
}
static const void *strict_fetch_take(pl_backend *b, pl_fetch *f, bool wait)
{
    return CPU->fetch->take(cpu_of(b), f, wait);
}
static void strict_drift(pl_backend *b, double h, const double gravity[3], const pl_array *x,
                         const pl_array *v, pl_array *out)
{
    CPU->kinematics->drift(cpu_of(b), h, gravity, POS(x), POS(v), POS(out));
}
static void strict_blend(pl_backend *b, const pl_array *base, double d, const pl_array *v, double e,
                         const pl_array *v_old, pl_array *out)
{
    CPU->kinematics->blend(cpu_of(b), POS(base), d, POS(v), e, POS(v_old), POS(out));
}
static void strict_velocity(pl_backend *b, double h, const pl_array *x, const pl_array *x_new,
                            pl_array *out)
{
    CPU->kinematics->velocity(cpu_of(b), h, POS(x), POS(x_new), POS(out));
}
static void strict_place_pins(pl_backend *b, double time, pl_array *x)
{
    CPU->kinematics->place_pins(cpu_of(b), time, POS(x));
}
static void strict_pin_force(pl_backend *b, int32_t pin, const pl_array *gradient, double force[3])
{
    CPU->kinematics->pin_force(cpu_of(b), pin, POS(gradient), force);
}
static void strict_evaluate_loads(pl_backend *b, double time, const pl_array *x, const pl_array *v,
                                  pl_array *load, pl_force *total)
{
    CPU->kinematics->evaluate_loads(cpu_of(b), time, POS(x), POS(v), POS(load), total);
}
static double strict_farthest(pl_backend *b, const pl_array *a, const pl_array *c, int64_t *vertex)
{
    return CPU->kinematics->farthest(cpu_of(b), POS(a), POS(c), vertex);
}
static void strict_freeze(pl_backend *b, const pl_backend_stage *stage)
{
    CPU->objective->freeze(cpu_of(b), STAGE);
}
static void strict_reduce(pl_backend *b, const pl_array *x, pl_array *const *z)
{
    CPU->splitting->reduce(cpu_of(b), POS(x), values_of(b, 0, z, false));
}
/* Lists of arrays in single precision: host arrays of host arrays of addresses. Freed by the caller. */
static pl_array ***halves_of(pl_backend *b, pl_array *const *const *list, int32_t count)
{
    pl_array ***out = calloc((size_t)count + 1, sizeof *out);
    for (int32_t i = 0; i < count; i++) {
        out[i] = calloc((size_t)b->model->group_count, sizeof **out);
        for (int32_t g = 0; g < b->model->group_count; g++)
            out[i][g] = at(list[i][g], pl_group_values(&b->model->groups[g]) / 2);
    }
    return out;
}
static void free_halves(pl_array ***list)
{
    for (int32_t i = 0; list[i]; i++)
        free(list[i]);
    free(list);
}
static pl_local_sums strict_local_step(pl_backend *b, const pl_backend_stage *stage,
                                       const pl_local_step *step)
{
    pl_local_step t = *step;
    t.x = POS(step->x);
    t.u = values_of(b, 0, step->u, false);
    t.z = values_of(b, 1, step->z, false);
    t.u_old = values_of(b, 2, step->u_old, false);
    t.z_old = values_of(b, 3, step->z_old, false);
    if (!step->mixing)
        return CPU->splitting->local_step(cpu_of(b), STAGE, &t);
    pl_mixing mixing = *step->mixing;
    pl_array ***dg = halves_of(b, mixing.dg, mixing.count);
    mixing.dg = (pl_array *const *const *)dg;
    mixing.taken = values_of(b, 4, mixing.taken, true);
    t.mixing = &mixing;
    pl_local_sums sums = CPU->splitting->local_step(cpu_of(b), STAGE, &t);
    free_halves(dg);
    return sums;
}
static void strict_stage_rows(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                              pl_array *rows)
{
    CPU->splitting->stage_rows(cpu_of(b), STAGE, POS(x), ROWS(rows));
}
static void strict_contribute(pl_backend *b, pl_array *const *u, pl_array *const *z)
{
    CPU->splitting->contribute(cpu_of(b), values_of(b, 0, u, false), values_of(b, 1, z, false));
}
static pl_status strict_use_model(pl_backend *b, const pl_model *model)
{
    pl_status status = CPU->matrix->use_model(cpu_of(b), model);
    b->model = status == PL_OK ? model : b->model;
    return status;
}
static void strict_concavity(pl_backend *b, int32_t group, const pl_array *z, double *out)
{
    int64_t count = pl_group_values(&b->model->groups[group]);
    host(out);
    CPU->splitting->concavity(cpu_of(b), group, at(z, count), out);
}
static void strict_scale_terms(pl_backend *b, int32_t group, const double *factor, pl_array *values)
{
    int64_t count = pl_group_values(&b->model->groups[group]);
    CPU->splitting->scale_terms(cpu_of(b), group, host(factor), at(values, count));
}
static void strict_gather_global(pl_backend *b, const pl_array *base, pl_array *rows)
{
    CPU->splitting->gather_global(cpu_of(b), ROWS(base), ROWS(rows));
}
static double strict_dual_norm(pl_backend *b)
{
    return CPU->splitting->dual_norm(cpu_of(b));
}
static pl_status strict_solve(pl_backend *b, const pl_array *rhs, pl_array *rows)
{
    return CPU->matrix->solve(cpu_of(b), ROWS(rhs), ROWS(rows));
}
static pl_status strict_solve_from(pl_backend *b, const pl_array *rhs, const pl_array *from,
                                   pl_array *rows, double *square)
{
    return CPU->iterated->solve_from(cpu_of(b), ROWS(rhs), ROWS(from), ROWS(rows), square);
}
static void strict_multiply(pl_backend *b, const pl_array *rows, pl_array *out)
{
    CPU->factored->multiply(cpu_of(b), ROWS(rows), ROWS(out));
}
static void strict_set_free(pl_backend *b, const pl_array *rows, pl_array *x)
{
    CPU->rows->set_free(cpu_of(b), ROWS(rows), POS(x));
}
static void strict_get_free(pl_backend *b, const pl_array *x, pl_array *rows)
{
    CPU->rows->get_free(cpu_of(b), POS(x), ROWS(rows));
}
static double strict_dot_change(pl_backend *b, const pl_array *a1, const pl_array *a0,
                                const pl_array *b1, const pl_array *b0)
{
    return CPU->rows->dot_change(cpu_of(b), ROWS(a1), ROWS(a0), ROWS(b1), ROWS(b0));
}
static double strict_value(pl_backend *b, const pl_backend_stage *stage, const pl_array *x)
{
    return CPU->objective->value(cpu_of(b), STAGE, POS(x));
}
static double strict_gradient(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                              pl_array *const *u, pl_array *gradient)
{
    return CPU->objective->gradient(cpu_of(b), STAGE, POS(x), values_of(b, 0, u, false),
                                    POS(gradient));
}
static int64_t strict_hard_force(pl_backend *b, int32_t group, const pl_array *u, double force[3])
{
    return CPU->splitting->hard_force(cpu_of(b), group,
                                      at(u, pl_group_values(&b->model->groups[group])), force);
}
static void strict_contact_forces(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                                  const pl_array *x, pl_array *force)
{
    CPU->contact->forces(cpu_of(b), STAGE, values_of(b, 0, u, false), POS(x), POS(force));
}
static bool strict_contact_velocities(pl_backend *b, const pl_backend_stage *stage,
                                      const pl_contact_end *end)
{
    pl_contact_end translated = *end;
    translated.u = values_of(b, 0, end->u, false);
    translated.x = POS(end->x);
    translated.x_end = POS(end->x_end);
    translated.v_start = POS(end->v_start);
    translated.v = POS(end->v);
    translated.x_back = POS(end->x_back);
    translated.v_back = POS(end->v_back);
    return CPU->contact->velocities(cpu_of(b), STAGE, &translated);
}
static void strict_inner_acceleration(pl_backend *b, const pl_backend_stage *stage,
                                      const pl_array *x, const pl_array *gradient,
                                      const pl_array *contact, pl_array *out)
{
    CPU->contact->inner_acceleration(cpu_of(b), stage ? STAGE : NULL, POS(x), POS(gradient),
                                     POS(contact), POS(out));
}
static void strict_pin_velocities(pl_backend *b, double time, double span, pl_array *v)
{
    CPU->contact->pin_velocities(cpu_of(b), time, span, POS(v));
}
static int64_t strict_soft_force(pl_backend *b, int32_t group, const pl_array *x, double force[3])
{
    return CPU->measures->soft_force(cpu_of(b), group, POS(x), force);
}
static void strict_depths(pl_backend *b, double time, const pl_array *x, double *out)
{
    CPU->measures->depths(cpu_of(b), time, POS(x), out);
}
static double strict_friction(pl_backend *b, const pl_backend_stage *stage, pl_array *const *u,
                              const pl_array *x, const pl_array *v)
{
    return CPU->contact->friction(cpu_of(b), STAGE, values_of(b, 0, u, false), POS(x), POS(v));
}
static double strict_dissipation(pl_backend *b, int32_t group, const pl_array *x)
{
    return CPU->measures->dissipation(cpu_of(b), group, POS(x));
}
static pl_measures strict_measure(pl_backend *b, const pl_array *x)
{
    return CPU->measures->elements(cpu_of(b), POS(x));
}
static pl_motion_sums strict_motion(pl_backend *b, const pl_array *x, const pl_array *v)
{
    return CPU->measures->motion(cpu_of(b), POS(x), POS(v));
}
static int64_t strict_find_not_finite(pl_backend *b, const pl_array *x)
{
    return CPU->kinematics->find_not_finite(cpu_of(b), POS(x));
}
static pl_trial_sums strict_trial(pl_backend *b, const pl_backend_stage *stage,
                                  const pl_trial *trial)
{
    pl_trial t = *trial;
    t.x = POS(trial->x);
    t.d = ROWS(trial->d);
    t.x_new = POS(trial->x_new);
    t.gradient = POS(trial->gradient);
    t.g = ROWS(trial->g);
    return CPU->descent->trial(cpu_of(b), STAGE, &t);
}
static pl_status strict_trial_prepare(pl_backend *b)
{
    return CPU->descent->prepare(cpu_of(b));
}
static double strict_pair(pl_backend *b, const pl_history_pair *pair)
{
    pl_history_pair t = *pair;
    t.s = rows_of(b, 0, (const pl_array *const *)pair->s, pair->count);
    t.w = rows_of(b, 1, (const pl_array *const *)pair->w, pair->count);
    t.g = ROWS(pair->g);
    t.g_old = ROWS(pair->g_old);
    t.p = ROWS(pair->p);
    t.p_old = ROWS(pair->p_old);
    return CPU->descent->pair(cpu_of(b), &t);
}
static double strict_jacobi(pl_backend *b, const pl_backend_stage *stage, const pl_array *x,
                            pl_array *inverse)
{
    return CPU->descent->jacobi(cpu_of(b), STAGE, POS(x), ROWS(inverse));
}
static double strict_scale(pl_backend *b, const pl_array *inverse, const pl_array *g, pl_array *out)
{
    return CPU->rows->scale(cpu_of(b), ROWS(inverse), ROWS(g), ROWS(out));
}
static double strict_jacobi_constant(pl_backend *b, const pl_backend_stage *stage, bool flat,
                                     pl_array *inverse)
{
    return CPU->descent->jacobi_constant(cpu_of(b), STAGE, flat, ROWS(inverse));
}
static void strict_unscale(pl_backend *b, const pl_array *inverse, const pl_array *p, pl_array *out)
{
    CPU->rows->unscale(cpu_of(b), ROWS(inverse), ROWS(p), ROWS(out));
}
static double strict_dot(pl_backend *b, const pl_array *a, const pl_array *c)
{
    return CPU->rows->dot(cpu_of(b), ROWS(a), ROWS(c));
}
static void strict_chebyshev(pl_backend *b, const pl_chebyshev *step)
{
    pl_chebyshev t = *step;
    t.x = POS(step->x);
    t.inverse = ROWS(step->inverse);
    t.g = ROWS(step->g);
    t.s = ROWS(step->s);
    t.x_new = POS(step->x_new);
    CPU->descent->chebyshev(cpu_of(b), &t);
}
static void strict_combine(pl_backend *b, const pl_array *const *list, const double *coefficient,
                           int32_t count, pl_array *out)
{
    const pl_array *const *t = (const pl_array *const *)rows_of(b, 0, list, count);
    CPU->rows->combine(cpu_of(b), t, coefficient, count, ROWS(out));
}
static double strict_magnitude(pl_backend *b, const pl_array *x)
{
    return CPU->objective->magnitude(cpu_of(b), POS(x));
}
static int64_t strict_find_outside(pl_backend *b, const pl_array *x)
{
    return CPU->objective->find_outside(cpu_of(b), POS(x));
}
static int64_t strict_find_steepest(pl_backend *b, const pl_array *gradient)
{
    return CPU->objective->find_steepest(cpu_of(b), POS(gradient));
}
static pl_status strict_anderson_prepare(pl_backend *b)
{
    return CPU->anderson->prepare(cpu_of(b));
}

static void strict_anderson_difference(pl_backend *b, const pl_anderson *a)
{
    pl_anderson t = *a;
    pl_array ***r = halves_of(b, a->r, a->count + 1);
    t.x = POS(a->x);
    t.z = values_of(b, 0, a->z, false);
    t.dg = values_of(b, 1, a->dg, true);
    t.r = (pl_array *const *const *)r;
    CPU->anderson->difference(cpu_of(b), &t);
    free_halves(r);
}
static pl_status strict_hessian_prepare(pl_backend *b)
{
    return CPU->hessian->prepare(cpu_of(b));
}
static pl_status strict_hessian_make(pl_backend *b, const pl_backend_stage *stage,
                                     const pl_array *x, bool project)
{
    return CPU->hessian->make(cpu_of(b), STAGE, POS(x), project);
}
static pl_status strict_hessian_factor(pl_backend *b)
{
    return CPU->hessian->factor(cpu_of(b));
}
static pl_status strict_hessian_solve(pl_backend *b, const pl_array *rows, pl_array *out)
{
    return CPU->hessian->solve(cpu_of(b), ROWS(rows), ROWS(out));
}
static void strict_hessian_multiply(pl_backend *b, const pl_array *rows, pl_array *out)
{
    CPU->hessian->multiply(cpu_of(b), ROWS(rows), ROWS(out));
}
static void strict_hessian_jacobi(pl_backend *b, const pl_array *rows, pl_array *out)
{
    CPU->hessian->jacobi(cpu_of(b), ROWS(rows), ROWS(out));
}
static pl_status strict_sweep_prepare(pl_backend *b)
{
    return CPU->sweep->prepare(cpu_of(b));
}
static pl_status strict_sweep_vertices(pl_backend *b, const pl_backend_stage *stage, double noise,
                                       pl_array *x, int64_t *moved)
{
    return CPU->sweep->vertices(cpu_of(b), STAGE, noise, POS(x), moved);
}

static void strict_renew(pl_backend *b, const pl_array *x, pl_array *multipliers)
{
    CPU->augmented->renew(cpu_of(b), POS(x), at(multipliers, b->model->multipliers));
}

static pl_status strict_pairs_begin(pl_backend *b, const pl_backend_stage *stage, const pl_array *x)
{
    return CPU->pairs->begin(cpu_of(b), STAGE, POS(x));
}
static pl_contact_renewal strict_pairs_renew(pl_backend *b, const pl_array *x)
{
    return CPU->pairs->renew(cpu_of(b), POS(x));
}
static pl_status strict_pairs_apart(pl_backend *b, pl_array *const *u)
{
    return CPU->pairs->apart(cpu_of(b), values_of(b, 0, u, false));
}
static double strict_pairs_lack(pl_backend *b, const pl_array *x)
{
    return CPU->pairs->lack(cpu_of(b), POS(x));
}
static pl_status strict_pairs_advance(pl_backend *b, const pl_array *x, pl_contact_keeping keeping,
                                      pl_contact_advance *out)
{
    return CPU->pairs->advance(cpu_of(b), POS(x), keeping, out);
}
static pl_status strict_pairs_measure(pl_backend *b, const pl_array *x, pl_contact_sums *out)
{
    return CPU->pairs->measure(cpu_of(b), POS(x), out);
}
static pl_status strict_pairs_bounce(pl_backend *b, const pl_array *v_start, pl_array *v)
{
    return CPU->pairs->bounce(cpu_of(b), POS(v_start), POS(v));
}
static pl_status strict_pairs_points(pl_backend *b, const pl_array *x, pl_contact_points *out)
{
    return CPU->pairs->points(cpu_of(b), POS(x), out);
}
static pl_contact_set *strict_pairs_set(pl_backend *b)
{
    return CPU->pairs->set(cpu_of(b));
}

static const pl_memory_ops strict_memory = {
    .alloc = strict_alloc,
    .release = strict_release,
    .upload = strict_upload,
    .download = strict_download,
    .copy = strict_copy,
    .clear = strict_clear,
};

static const pl_fetch_ops strict_fetch = {
    .create = strict_fetch_create,
    .destroy = strict_fetch_destroy,
    .begin = strict_fetch_begin,
    .take = strict_fetch_take,
};

static const pl_kinematics_ops strict_kinematics = {
    .drift = strict_drift,
    .blend = strict_blend,
    .velocity = strict_velocity,
    .place_pins = strict_place_pins,
    .pin_force = strict_pin_force,
    .evaluate_loads = strict_evaluate_loads,
    .farthest = strict_farthest,
    .find_not_finite = strict_find_not_finite,
};

static const pl_rows_ops strict_rows = {
    .set_free = strict_set_free,
    .get_free = strict_get_free,
    .dot_change = strict_dot_change,
    .scale = strict_scale,
    .dot = strict_dot,
    .unscale = strict_unscale,
    .combine = strict_combine,
};

static const pl_objective_ops strict_objective = {
    .freeze = strict_freeze,
    .value = strict_value,
    .gradient = strict_gradient,
    .magnitude = strict_magnitude,
    .find_outside = strict_find_outside,
    .find_steepest = strict_find_steepest,
};

static const pl_measures_ops strict_measures = {
    .soft_force = strict_soft_force,
    .depths = strict_depths,
    .dissipation = strict_dissipation,
    .elements = strict_measure,
    .motion = strict_motion,
};

static const pl_descent_ops strict_descent = {
    .prepare = strict_trial_prepare,
    .trial = strict_trial,
    .pair = strict_pair,
    .jacobi = strict_jacobi,
    .jacobi_constant = strict_jacobi_constant,
    .chebyshev = strict_chebyshev,
};

static const pl_contact_ops strict_contact = {
    .forces = strict_contact_forces,
    .velocities = strict_contact_velocities,
    .inner_acceleration = strict_inner_acceleration,
    .pin_velocities = strict_pin_velocities,
    .friction = strict_friction,
};

static const pl_augmented_ops strict_augmented = {
    .renew = strict_renew,
};

static const pl_pairs_ops strict_pairs = {
    .begin = strict_pairs_begin,
    .renew = strict_pairs_renew,
    .apart = strict_pairs_apart,
    .lack = strict_pairs_lack,
    .advance = strict_pairs_advance,
    .measure = strict_pairs_measure,
    .bounce = strict_pairs_bounce,
    .points = strict_pairs_points,
    .set = strict_pairs_set,
};

static const pl_matrix_ops strict_matrix = {
    .use_model = strict_use_model,
    .solve = strict_solve,
};

static const pl_factored_ops strict_factored = {
    .multiply = strict_multiply,
};

static const pl_iterated_ops strict_iterated = {
    .solve_from = strict_solve_from,
};

static const pl_splitting_ops strict_splitting = {
    .reduce = strict_reduce,
    .local_step = strict_local_step,
    .concavity = strict_concavity,
    .scale_terms = strict_scale_terms,
    .contribute = strict_contribute,
    .stage_rows = strict_stage_rows,
    .gather_global = strict_gather_global,
    .dual_norm = strict_dual_norm,
    .hard_force = strict_hard_force,
};

static const pl_anderson_ops strict_anderson = {
    .prepare = strict_anderson_prepare,
    .difference = strict_anderson_difference,
};

static const pl_hessian_ops strict_hessian = {
    .prepare = strict_hessian_prepare,
    .make = strict_hessian_make,
    .factor = strict_hessian_factor,
    .solve = strict_hessian_solve,
    .multiply = strict_hessian_multiply,
    .jacobi = strict_hessian_jacobi,
};

static const pl_sweep_ops strict_sweep = {
    .prepare = strict_sweep_prepare,
    .vertices = strict_sweep_vertices,
};

const pl_backend_ops pl_backend_strict = {
    .name = "strict",
    .on_host = false,
    .epsilon = DBL_EPSILON,
    .energy_epsilon = 1e-13,
    .refuses = strict_refuses,
    .create = strict_create,
    .destroy = strict_destroy,
    .memory = &strict_memory,
    .fetch = &strict_fetch,
    .kinematics = &strict_kinematics,
    .rows = &strict_rows,
    .objective = &strict_objective,
    .measures = &strict_measures,
    .descent = &strict_descent,
    .contact = &strict_contact,
    .augmented = &strict_augmented,
    .pairs = &strict_pairs,
    .matrix = &strict_matrix,
    .factored = &strict_factored,
    .iterated = &strict_iterated,
    .splitting = &strict_splitting,
    .anderson = &strict_anderson,
    .hessian = &strict_hessian,
    .sweep = &strict_sweep,
};

void pl_strict_register(void)
{
    pl_backend_register(&pl_backend_strict);
}
