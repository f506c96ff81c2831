#include "tests/support/kernels_hash.h"

#include "engine/model/groups/isa.h"
#include "engine/model/materials.h"
#include "engine/model/groups/tets.h"
#include "tests/support/kernels_probe.h"
#include "tests/support/lanes_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 300, ROWS_IN = 12, TERMS = 16 * 5 - 3, TEXT = 32768 };

static uint64_t hash(const double *values, size_t count)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[sizeof *values];
        const double value = isnan(values[i]) ? 12345 : values[i];
        memcpy(bytes, &value, sizeof bytes);
        for (size_t b = 0; b < sizeof bytes; b++)
            h = (h ^ bytes[b]) * 0x100000001B3u;
    }
    return h;
}

static void say(char *text, const char *of, const char *what, const double *values, size_t count)
{
    const size_t used = strlen(text);
    snprintf(text + used, TEXT - used, "%s %s %016llx\n", of, what,
             (unsigned long long)hash(values, count));
}

static double *doubles(size_t count)
{
    return pl_block_alloc((int64_t)count, sizeof(double));
}

/* A number from 2^low to 2^high, by exact operations. */
static double sized(uint64_t *state, int low, int high)
{
    const int exponent = low + (int)((high - low) * random_unit(state));
    return ldexp(1 + random_unit(state), exponent);
}

static double *matrices(int lanes)
{
    double *in = doubles((size_t)(BLOCKS * ROWS_IN * lanes));
    uint64_t state = 61;
    for (int e = 0; e < BLOCKS * lanes; e++) {
        double *row = in + e / lanes * ROWS_IN * lanes + e % lanes;
        const double noise = e % 5 == 0 ? 0 : sized(&state, -30, 3);
        for (int i = 0; i < 9; i++)
            row[i * lanes] = (i % 4 == 0) + noise * random_between(&state, -1, 1);
        row[9 * lanes] = sized(&state, 0, 30);
        row[10 * lanes] = row[9 * lanes] * sized(&state, -7, 10);
        row[11 * lanes] = row[9 * lanes] * sized(&state, -1, 7);
    }
    return in;
}

static double *numbers(int lanes)
{
    const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1, 0x1p-1074, 0x1.fp-1023, 709.9};
    double *in = doubles((size_t)(BLOCKS * lanes));
    uint64_t state = 62;
    for (int i = 0; i < BLOCKS * lanes; i++) {
        in[i] = i % 2 ? random_between(&state, -750, 750) : sized(&state, -1020, 1020);
        if (i < 9)
            in[i] = special[i];
    }
    return in;
}

static void report_kernels(char *text)
{
    static const char *const materials[PL_PROBE_MATERIALS] = {"neo_hookean", "corotated", "arap"};
    const pl_kernels_probe *p = pl_kernels_probes();
    const size_t elements = (size_t)(BLOCKS * p->lanes);
    double *in = matrices(p->lanes), *x = numbers(p->lanes), *out = doubles(21 * elements);
    for (int k = 0; k < PL_PROBE_MATERIALS; k++) {
        p->prox[k](in, out, BLOCKS);
        say(text, materials[k], "prox", out, 9 * elements);
    }
    p->svd(in, out, BLOCKS);
    say(text, "svd3", "U-s-V", out, 21 * elements);
    p->log_exp(x, out, BLOCKS);
    say(text, "lanes", "log-exp", out, 2 * elements);
    free(in), free(x), free(out);
}

/* Tetrahedra without common vertices, at rest near the unit one and deformed: in every other block only a little, so
 * that the energy is finite, otherwise with some inverted. */
typedef struct shapes {
    double rest[12 * TERMS], x[12 * TERMS], mu[TERMS], lambda[TERMS];
    int32_t tets[4 * TERMS], element[TERMS];
} shapes;

static shapes *some_shapes(void)
{
    shapes *s = calloc(1, sizeof *s);
    uint64_t state = 63;
    for (int t = 0; t < TERMS; t++) {
        const double far = t / PL_BLOCK % 2 ? 0.05 : 0.4;
        for (int i = 0; i < 12; i++) {
            s->rest[12 * t + i] = (i == 3 || i == 7 || i == 11) + random_between(&state, -0.1, 0.1);
            s->x[12 * t + i] = s->rest[12 * t + i] + random_between(&state, -far, far);
        }
        for (int c = 0; c < 4; c++)
            s->tets[4 * t + c] = 4 * t + c;
        s->element[t] = t;
        s->mu[t] = sized(&state, 10, 20);
        s->lambda[t] = s->mu[t] * sized(&state, -3, 6);
    }
    return s;
}

static void report_local_step(char *text, const char *name, const pl_group *g, const double *x)
{
    const size_t values = (size_t)pl_group_values(g), sent = (size_t)pl_group_contributions(g);
    double *u = doubles(values), *z = doubles(values), *u_old = doubles(values);
    double *z_old = doubles(values), *to_global = doubles(sent), *dual = doubles(sent);
    pl_block_sums *sums = pl_block_alloc(g->blocks, sizeof *sums);
    const pl_stage stage = {0};
    g->ops->reduce(g, x, z, 0, g->blocks);
    const pl_admm_local local = {.x = x,
                                 .u = u,
                                 .z = z,
                                 .u_old = u_old,
                                 .z_old = z_old,
                                 .beta = 0.4,
                                 .beta_next = 0.7,
                                 .relaxation = 1.3,
                                 .to_global = to_global,
                                 .dual = dual,
                                 .sums = sums};
    g->ops->admm_local(g, &stage, &local, 0, g->blocks);
    say(text, name, "admm-z", z_old, values);
    say(text, name, "admm-u", u_old, values);
    say(text, name, "admm-to-global", to_global, sent);
    say(text, name, "admm-dual", dual, sent);
    say(text, name, "admm-sums", &sums->primal, 3 * (size_t)g->blocks);
    free(u), free(z), free(u_old), free(z_old), free(to_global), free(dual), free(sums);
}

/* The settings of a material that is between rubber and cork; invertible or not. */
static pl_status make_group(pl_material_kind kind, bool invertible, const shapes *s, pl_group *g)
{
    const pl_stretch_ops *stretch = pl_stretch_ops_of(kind);
    double *constants = doubles(TERMS * PL_STRETCH_CONSTANTS_MAX), shear[TERMS], stiffness[TERMS];
    double shared[PL_SPLINE_SHARED] = {0};
    for (int t = 0; t < TERMS; t++) {
        const pl_material material = {
            .model = kind, .has_lame = true, .lame = {s->mu[t], s->lambda[t]}};
        pl_material_numbers numbers;
        if (pl_material_make(&material, &numbers) != PL_OK)
            return PL_NO_MEMORY;
        memcpy(constants + t * stretch->constants, numbers.constants,
               (size_t)stretch->constants * sizeof *constants);
        if (numbers.shared)
            memcpy(shared, numbers.shared, sizeof shared);
        free(numbers.shared);
        shear[t] = 3 * s->mu[t]; /* not arap again, which a blend with is arap */
        stiffness[t] = 2 * s->mu[t];
    }
    const pl_tets_parts parts = {.ops = pl_tets_ops(kind, invertible),
                                 .stretch = stretch,
                                 .rest = s->rest,
                                 .tets = s->tets,
                                 .element = s->element,
                                 .count = TERMS,
                                 .constants = constants,
                                 .shear = shear,
                                 .stiffness = stiffness,
                                 .shared = shared,
                                 .shared_count = PL_SPLINE_SHARED,
                                 .invertible = invertible};
    pl_status status = pl_tets_create(&parts, g);
    free(constants);
    return status;
}

static void report_group(char *text, pl_material_kind kind, bool invertible, const shapes *s)
{
    pl_group g;
    char name[64];
    if (make_group(kind, invertible, s, &g) != PL_OK)
        return;
    if (g.ops->freeze)
        g.ops->freeze(&g, &(pl_stage){.x_start = s->x}, 0, g.blocks);
    snprintf(name, sizeof name, "%s%s", ((const pl_tets *)g.data)->stretch->name,
             invertible ? "-invertible" : "");
    const size_t sent = (size_t)pl_group_contributions(&g), rows = (size_t)(78 * g.blocks);
    double *out = doubles(sent + rows * PL_BLOCK); /* at least two results after each other */
    g.ops->energy(&g, s->x, out, 0, g.blocks);
    say(text, name, "energy", out, (size_t)g.blocks);
    g.ops->gradient(&g, s->x, out, 0, g.blocks);
    say(text, name, "gradient", out, sent);
    g.ops->energy_gradient(&g, s->x, out + sent, out, 0, g.blocks);
    say(text, name, "gradient-energy", out, sent + (size_t)g.blocks);
    g.ops->hessian(&g, s->x, out, 0, g.blocks);
    say(text, name, "hessian", out, rows * PL_BLOCK);
    report_local_step(text, name, &g, s->x);
    free(out);
    g.ops->destroy(&g);
}

char *pl_kernels_hash_text(void)
{
    char *text = calloc(1, TEXT);
    shapes *s = some_shapes();
    report_kernels(text);
    for (int kind = 0; kind < PL_MATERIAL_KINDS; kind++)
        for (int invertible = 0; invertible < 2; invertible++)
            report_group(text, (pl_material_kind)kind, invertible != 0, s);
    free(s);
    return text;
}
