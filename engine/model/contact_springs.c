#include "engine/model/contact_springs.h"

#include "engine/model/contacts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a vertex keeps over a stage. */
typedef struct anchor {
    double own[3];     /* x_start as the obstacle sees it */
    double carried[3]; /* where that is at the stage's end */
    double normal[3];  /* of friction's plane, at the stage's end */
    double grip;       /* g, N; 0: no friction */
    double reach;      /* m: the way relative to the obstacle, were the vertex free */
} anchor;

typedef struct springs {
    pl_shape *shape;
    pl_motion motion;
    double friction;
    double *stiffness; /* [block][L], 0 in padding */
    anchor *anchors;   /* [block][L] */
    pl_pose end;       /* the obstacle at the stage's end */
} springs;

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void springs_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1)
{
    springs *s = g->data;
    pl_pose start = pl_motion_pose(&s->motion, stage->time_start);
    pl_pose end = pl_motion_pose(&s->motion, stage->time_end);
    if (b0 == 0)
        s->end = end; /* read by nobody before the phase is over */
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        anchor *a = &s->anchors[i];
        double n[3];
        pl_pose_invert(&start, stage->x_start + 3 * (int64_t)g->corner[i], a->own);
        pl_pose_apply(&end, a->own, a->carried);
        double distance = pl_shape_distance(s->shape, a->own, n);
        pl_pose_rotate(&end, n, a->normal);
        const double *to = stage->x_pred + 3 * (int64_t)g->corner[i];
        const double way[3] = {to[0] - a->carried[0], to[1] - a->carried[1], to[2] - a->carried[2]};
        a->reach = sqrt(dot3(way, way));
        a->grip = distance < 0 ? -distance * s->friction * s->stiffness[i] : 0;
    }
}

/* Signed distance of vertex i at x, and the normal; with H the distance's Hessian. */
static double distance_of(const pl_group *g, int64_t i, const double *x, double n[3], double *H)
{
    const springs *s = g->data;
    double q[3], own[3];
    pl_pose_invert(&s->end, x + 3 * (int64_t)g->corner[i], q);
    double distance = H ? pl_shape_bend_from(s->shape, s->anchors[i].own, q, own, H)
                        : pl_shape_distance_from(s->shape, s->anchors[i].own, q, own);
    pl_pose_rotate(&s->end, own, n);
    return distance;
}

/* The slip since the stage's start along friction's plane, and its length. */
static double slip_of(const anchor *a, const double *x, double slip[3])
{
    double d[3] = {x[0] - a->carried[0], x[1] - a->carried[1], x[2] - a->carried[2]};
    double along = dot3(d, a->normal);
    for (int c = 0; c < 3; c++)
        slip[c] = d[c] - along * a->normal[c];
    return sqrt(dot3(slip, slip));
}

/* Energy of term i at x, and the gradient. */
static double spring(const pl_group *g, int64_t i, const double *x, double gradient[3])
{
    const springs *s = g->data;
    const anchor *a = &s->anchors[i];
    double k = s->stiffness[i], n[3];
    double distance = distance_of(g, i, x, n, NULL);
    double energy = 0;
    gradient[0] = gradient[1] = gradient[2] = 0;
    if (distance < 0) {
        energy = 0.5 * k * distance * distance;
        for (int c = 0; c < 3; c++)
            gradient[c] = k * distance * n[c];
    }
    if (!(a->grip > 0))
        return energy;
    double slip[3], length = slip_of(a, x + 3 * (int64_t)g->corner[i], slip), e = a->grip / k;
    bool sticks = length <= e;
    for (int c = 0; c < 3; c++)
        gradient[c] += sticks ? k * slip[c] : a->grip * slip[c] / length;
    return energy + (sticks ? 0.5 * k * length * length : a->grip * (length - e / 2));
}

static void springs_energy_gradient(const pl_group *g, const double *x, double *energy,
                                    double *contributions, int64_t b0, int64_t b1)
{
    for (int64_t b = b0; b < b1; b++) {
        double sum = 0;
        for (int64_t l = 0; l < PL_BLOCK; l++) {
            double gradient[3];
            sum += spring(g, b * PL_BLOCK + l, x, gradient);
            for (int c = 0; contributions && c < 3; c++)
                contributions[g->contribution + (b * 3 + c) * PL_BLOCK + l] = gradient[c];
        }
        if (energy)
            energy[b] = sum;
    }
}

static void springs_energy(const pl_group *g, const double *x, double *energy, int64_t b0,
                           int64_t b1)
{
    springs_energy_gradient(g, x, energy, NULL, b0, b1);
}

static void springs_gradient(const pl_group *g, const double *x, double *contributions, int64_t b0,
                             int64_t b1)
{
    springs_energy_gradient(g, x, NULL, contributions, b0, b1);
}

/* K += k (n n^T + phi Hess phi), which the pose turns; the shape's is in its own axes. */
static void add_normal(const springs *s, int64_t i, double distance, const double n[3],
                       const double *bend, double K[3][3])
{
    const double *R = s->end.R;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double turned = 0;
            for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++)
                    turned += R[r + 3 * p] * bend[3 * p + q] * R[c + 3 * q];
            K[r][c] += s->stiffness[i] * (n[r] * n[c] + distance * turned);
        }
}

static void add_friction(const springs *s, const anchor *a, int64_t i, const double *x,
                         double K[3][3])
{
    double slip[3], length = slip_of(a, x, slip), k = s->stiffness[i];
    bool sticks = k * length <= a->grip;
    double across = sticks ? k : a->grip / length;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            K[r][c] += across * ((r == c) - a->normal[r] * a->normal[c]);
            if (!sticks)
                K[r][c] -= across * slip[r] * slip[c] / (length * length);
        }
}

static void springs_hessian(const pl_group *g, const double *x, double *H, int64_t b0, int64_t b1)
{
    const springs *s = g->data;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        double K[3][3] = {{0}}, n[3], bend[9];
        double distance = distance_of(g, i, x, n, bend);
        if (distance < 0)
            add_normal(s, i, distance, n, bend, K);
        if (s->anchors[i].grip > 0)
            add_friction(s, &s->anchors[i], i, x + 3 * (int64_t)g->corner[i], K);
        for (int r = 0, e = 0; r < 3; r++)
            for (int c = 0; c <= r; c++, e++)
                H[(b * 6 + e) * PL_BLOCK + l] = K[r][c];
    }
}

/* A preconditioner is made for the iterations to come. A vertex that they bring inside, or to stick,
 * meets a spring that it knew nothing of, for which their steps are far too long: so what is within
 * reach of the surface counts as inside, and friction as sticking. */
static void springs_hessian_diagonal(const pl_group *g, const double *x, double *contributions,
                                     int64_t b0, int64_t b1)
{
    const springs *s = g->data;
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, l = i % PL_BLOCK;
        const anchor *a = &s->anchors[i];
        double K[3][3] = {{0}}, n[3], bend[9];
        double distance = distance_of(g, i, x, n, bend);
        if (distance < a->reach)
            add_normal(s, i, fmin(distance, 0), n, bend, K);
        for (int c = 0; c < 3; c++) {
            if (a->grip > 0)
                K[c][c] += s->stiffness[i] * (1 - a->normal[c] * a->normal[c]);
            contributions[g->contribution + (b * 3 + c) * PL_BLOCK + l] = K[c][c];
        }
    }
}

static int64_t springs_push(const pl_group *g, const double *x, double force[3])
{
    int64_t active = 0;
    for (int c = 0; c < 3; c++)
        force[c] = 0;
    for (int64_t i = 0; i < g->terms; i++) {
        double gradient[3];
        spring(g, i, x, gradient);
        for (int c = 0; c < 3; c++)
            force[c] -= gradient[c];
        active += gradient[0] != 0 || gradient[1] != 0 || gradient[2] != 0;
    }
    return active;
}

static double springs_depth(const pl_group *g, double time, const double *x, int64_t b0, int64_t b1)
{
    const springs *s = g->data;
    pl_pose pose = pl_motion_pose(&s->motion, time);
    return pl_contacts_depth(g, s->shape, &pose, x, b0, b1);
}

/* They are not in the matrix. */
static void springs_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K)
{
    K[0] = 0;
}

static void springs_destroy(pl_group *g)
{
    springs *s = g->data;
    if (s) {
        pl_shape_destroy(s->shape);
        free(s->stiffness);
        free(s->anchors);
    }
    free(s);
    free(g->corner);
    free(g->weight);
    *g = (pl_group){0};
}

static const pl_group_ops SPRINGS = {
    .name = "contact_springs",
    .corners = 1,
    .rows = 3,
    .freeze = springs_freeze,
    .energy = springs_energy,
    .gradient = springs_gradient,
    .energy_gradient = springs_energy_gradient,
    .hessian = springs_hessian,
    .hessian_diagonal = springs_hessian_diagonal,
    .push = springs_push,
    .depth = springs_depth,
    .stiffness = springs_stiffness,
    .destroy = springs_destroy,
};

pl_status pl_contact_springs_create(const pl_obstacle *obstacle, const int32_t *vertex,
                                    const double *stiffness, int64_t count, pl_group *out)
{
    int64_t blocks = (count + PL_BLOCK - 1) / PL_BLOCK;
    pl_group g = {.ops = &SPRINGS, .terms = count, .blocks = blocks};
    springs *s = calloc(1, sizeof *s);
    g.data = s;
    g.corner = pl_block_alloc(blocks * PL_BLOCK, sizeof *g.corner);
    g.weight = pl_block_alloc(blocks * PL_BLOCK, sizeof *g.weight);
    if (s) {
        s->stiffness = pl_block_alloc(blocks * PL_BLOCK, sizeof *s->stiffness);
        s->anchors = pl_block_alloc(blocks * PL_BLOCK, sizeof *s->anchors);
    }
    if (!s || !g.corner || !g.weight || !s->stiffness || !s->anchors ||
        pl_shape_create(obstacle, &s->shape) != PL_OK) {
        springs_destroy(&g);
        return PL_NO_MEMORY;
    }
    s->motion = pl_obstacle_motion(obstacle, s->shape);
    s->friction = obstacle->friction;
    for (int64_t i = 0; i < blocks * PL_BLOCK; i++) {
        g.corner[i] = vertex[i < count ? i : i - i % PL_BLOCK];
        s->stiffness[i] = i < count ? stiffness[i] : 0;
    }
    *out = g;
    return PL_OK;
}
