/* Dissipation of fibres and of bending; compiled once per instruction set. Two tables:
 *
 *   damping_bends    F = sum_c G_c x_c: a fibre's stretch, or the angle of quadratic bending as a vector
 *   damping_hinges   F = (theta - theta0, 0, 0) of a hinge (hinges.h)
 *
 * The angle of a hinge has no reduction to F, so it has no prox; G is that of the quadratic bending of its rest
 * shape, for the matrix.
 */
#define TERMS      damping_bends
#define TERMS_NAME "damping of fibers and bends"
#define CORNERS    4
#define COLUMNS    1

#include "engine/model/damping/damping_law.h"
#include "engine/model/damping/damping_frame.h"
#include "engine/model/damping/damping_strain.h"
#include "engine/model/damping/damping_stretch.h"
#include "engine/model/damping/damping_stiffness.h"
#include "engine/model/damping/damping_prox.h"

#include "engine/model/groups/terms_template.h"
#include "engine/model/damping/damping_freeze.h"

#include "engine/model/groups/hinge_law.h"

/* One hinge: theta0, and F at the stage's start, which determines the number of turns of an angle. */
typedef struct hinge {
    double rest, from;
} hinge;

static hinge hinge_of(const pl_terms *t, int64_t b, int64_t l)
{
    return (hinge){t->constant[(b * t->constants + PL_HINGE_REST) * PL_BLOCK + l],
                   t->frozen[(b * t->frozen_rows + PL_FROZEN_FP) * PL_BLOCK + l]};
}

/* Positions and, if `v` is not NULL, their velocities as derivatives. */
static void hinge_load(const pl_group *g, int64_t b, int64_t l, const double *x, const double *v,
                       pl_dual p[4][3])
{
    for (int64_t c = 0; c < 4; c++)
        for (int r = 0; r < 3; r++) {
            const int64_t at = 3 * (int64_t)g->corner[(b * 4 + c) * PL_BLOCK + l] + r;
            p[c][r] = pl_dual_of(x[at], v ? v[at] : 0);
        }
}

/* F of an angle: the value nearest to the previous F among those that differ by whole turns. */
static double hinge_strain(const hinge *h, double theta)
{
    return h->from + remainder(theta - h->rest - h->from, 2 * M_PI);
}

/* F of a block and, if wanted, the gradients of its angles. */
static void hinge_block(const pl_group *g, int64_t b, const double *x, pl_real F[3],
                        pl_dual gradient[PL_BLOCK][4][3])
{
    for (int e = 0; e < 3; e++)
        F[e] = pl_zero();
    for (int64_t l = 0; l < PL_BLOCK; l++) {
        pl_dual p[4][3];
        const hinge h = hinge_of(pl_terms_of(g), b, l);
        hinge_load(g, b, l, x, NULL, p);
        F[0][l] = hinge_strain(&h, pl_hinge_angle(p, gradient[l]));
    }
}

static void hinges_energy_gradient(const pl_group *g, const double *x, double *energy,
                                   double *contributions, int64_t b0, int64_t b1)
{
    const pl_terms *t = pl_terms_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_dual gradient[PL_BLOCK][4][3];
        pl_real F[3], U, P[3];
        const law m = law_load(t, b);
        hinge_block(g, b, x, F, gradient);
        law_energy_gradient(&m, F, &U, P);
        if (energy)
            energy[b] = pl_sum(U);
        for (int64_t l = 0; contributions && l < PL_BLOCK; l++)
            for (int k = 0; k < 12; k++)
                contributions[g->contribution + (b * 12 + k) * PL_BLOCK + l] =
                    P[0][l] * gradient[l][k / 3][k % 3].v;
    }
}

PL_ENERGY_AND_GRADIENT(hinges)

/* U'' grad theta grad theta^T + U' d2 theta / dx2, a column at a time. */
static void hinges_hessian(const pl_group *g, const double *x, double *H, int64_t b0, int64_t b1)
{
    const pl_terms *t = pl_terms_of(g);
    for (int64_t b = b0; b < b1; b++) {
        pl_dual gradient[PL_BLOCK][4][3];
        pl_real F[3], U, P[3], C[9];
        const law m = law_load(t, b);
        hinge_block(g, b, x, F, gradient);
        law_energy_gradient(&m, F, &U, P);
        law_hessian(&m, F, C);
        for (int64_t l = 0; l < PL_BLOCK; l++) {
            pl_dual p[4][3];
            hinge_load(g, b, l, x, NULL, p);
            for (int j = 0; j < 12; j++) {
                p[j / 3][j % 3].d = 1;
                (void)pl_hinge_angle(p, gradient[l]);
                p[j / 3][j % 3].d = 0;
                const double mine = gradient[l][j / 3][j % 3].v;
                for (int k = j; k < 12; k++) {
                    const pl_dual other = gradient[l][k / 3][k % 3];
                    H[(b * 78 + k * (k + 1) / 2 + j) * PL_BLOCK + l] = C[0][l] * other.v * mine +
                                                                       P[0][l] * other.d;
                }
            }
        }
    }
}

static void hinges_local_energy(const pl_group *g, const double *x, double *energy, int64_t b0,
                                int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_dual gradient[PL_BLOCK][4][3];
        pl_real F[3], U, P[3];
        const law m = law_load(pl_terms_of(g), b);
        hinge_block(g, b, x, F, gradient);
        law_energy_gradient(&m, F, &U, P);
        pl_store(energy, pl_load(energy) + U);
    }
}

/* The same for the corner of each lane (local.h). */
static void hinges_local_expand(const pl_group *g, const double *x, const double *own, double *sums,
                                int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_dual gradient[PL_BLOCK][4][3];
        pl_real F[3], U, P[3], C[9];
        const law m = law_load(pl_terms_of(g), b);
        hinge_block(g, b, x, F, gradient);
        law_energy_gradient(&m, F, &U, P);
        law_hessian(&m, F, C);
        pl_store(sums, pl_load(sums) + U);
        for (int64_t l = 0; l < PL_BLOCK; l++) {
            const int c = (int)own[b * PL_BLOCK + l];
            pl_dual p[4][3], (*at)[3] = gradient[l];
            double *sum = sums + l;
            hinge_load(g, b, l, x, NULL, p);
            for (int s = 0; s < 3; s++) {
                p[c][s].d = 1;
                (void)pl_hinge_angle(p, at);
                p[c][s].d = 0;
                sum[(PL_LOCAL_GRADIENT + s) * PL_BLOCK] += P[0][l] * at[c][s].v;
                for (int r = s; r < 3; r++)
                    sum[(PL_LOCAL_HESSIAN + r * (r + 1) / 2 + s) * PL_BLOCK] +=
                        C[0][l] * at[c][r].v * at[c][s].v + P[0][l] * at[c][r].d;
            }
        }
    }
}

static const pl_local_ops HINGES_LOCAL = {
    .copy = pl_terms_local_copy,
    .refreeze = pl_terms_local_refreeze,
    .release = pl_terms_local_release,
    .energy = hinges_local_energy,
    .expand = hinges_local_expand,
};

/* v . (d2 theta / dx2) v, 1/s^2. */
static double hinge_bending_of(const pl_group *g, int64_t b, int64_t l, const pl_stage *stage)
{
    pl_dual p[4][3], gradient[4][3];
    double sum = 0;
    hinge_load(g, b, l, stage->x_start, stage->v_start, p);
    (void)pl_hinge_angle(p, gradient);
    for (int k = 0; k < 12; k++)
        sum += p[k / 3][k % 3].d * gradient[k / 3][k % 3].d;
    return sum;
}

/* Fp is of x'; with the second-order correction, minus the difference between theta (x - a h v) and theta - a h
 * dtheta/dt, from the known velocity. */
static void hinges_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1)
{
    const pl_terms *t = pl_terms_of(g);
    const double back = stage->scalars.a * stage->scalars.h;
    for (int64_t b = b0; b < b1; b++) {
        pl_real Fp[3], F[3], V[3];
        for (int e = 0; e < 3; e++)
            Fp[e] = F[e] = V[e] = pl_zero();
        for (int64_t l = 0; l < PL_BLOCK; l++) {
            pl_dual p[4][3], gradient[4][3];
            hinge h = hinge_of(t, b, l);
            h.from = 0;
            hinge_load(g, b, l, stage->xp, NULL, p);
            Fp[0][l] = hinge_strain(&h, pl_hinge_angle(p, gradient));
            hinge_load(g, b, l, stage->x_start, NULL, p);
            F[0][l] = hinge_strain(&h, pl_hinge_angle(p, gradient));
            if (!t->damping->second_order)
                continue;
            double rate = 0;
            for (int k = 0; k < 12; k++)
                rate +=
                    gradient[k / 3][k % 3].v *
                    stage->v_start[3 * (int64_t)g->corner[(b * 4 + k / 3) * PL_BLOCK + l] + k % 3];
            F[0][l] += stage->scalars.span * rate;
            Fp[0][l] -= back * back / 2 * hinge_bending_of(g, b, l, stage);
        }
        freeze_block(t, b, stage, Fp, V, F);
    }
}

static void hinges_dissipate(const pl_group *g, const double *x, double *power, int64_t b0,
                             int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        pl_dual gradient[PL_BLOCK][4][3];
        pl_real F[3];
        const law m = law_load(pl_terms_of(g), b);
        hinge_block(g, b, x, F, gradient);
        power[b] = pl_sum(law_power(&m, F));
    }
}

extern const pl_group_ops JOIN4(pl_, damping_hinges, _ops_, PL_ISA);
const pl_group_ops JOIN4(pl_, damping_hinges, _ops_, PL_ISA) = {
    .name = "damping of hinges",
    .corners = 4,
    .rows = ROWS,
    .local = &HINGES_LOCAL,
    .freeze = hinges_freeze,
    .energy = hinges_energy,
    .gradient = hinges_gradient,
    .energy_gradient = hinges_energy_gradient,
    .hessian = hinges_hessian,
    .dissipate = hinges_dissipate,
    .stiffness = pl_terms_stiffness,
    .hash = pl_damping_hash,
    .destroy = pl_terms_destroy,
};
