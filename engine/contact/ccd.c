#include "engine/contact/ccd.h"

#include "engine/contact/closest.h"

/* The differences of corners, and a bound of the rounding of n . r(t).
 *
 * With u = 2^-53 and R the largest component: a difference has an error of u R, n of 4 u of its length, the dot
 * product of 3 u sqrt(3) R, the interpolation of 3 u sqrt(3) R. Together they are below 20 u R; 64 u R is
 * subtracted. */
typedef struct moving {
    pl_contact_kind kind;
    int count;
    double r0[4][3], r1[4][3];
    double rounding;      /* m */
    const double *facing; /* for features that touch (ccd.h) */
} moving;

#define ROUNDING (64 * 0x1p-53)

static moving moving_of(pl_contact_kind kind, const double *const x0[4], const double *const x1[4])
{
    int first = pl_contact_corners[kind][0], second = pl_contact_corners[kind][1];
    moving m = {.kind = kind};
    double largest = 0, sum = 0; /* NaN or infinite if a component is */
    for (int j = 0; j < second; j++)
        for (int i = 0; i < first; i++) {
            double *r0 = m.r0[m.count], *r1 = m.r1[m.count++];
            pl_vector_subtract(x0[i], x0[first + j], r0);
            pl_vector_subtract(x1[i], x1[first + j], r1);
            for (int c = 0; c < 3; c++) {
                double size = fabs(r0[c]) > fabs(r1[c]) ? fabs(r0[c]) : fabs(r1[c]);
                largest = size > largest ? size : largest;
                sum += r0[c] + r1[c];
            }
        }
    m.rounding = isfinite(sum) ? ROUNDING * largest : INFINITY; /* NaN proves nothing */
    return m;
}

static void place_at(const moving *m, double t, double r[4][3])
{
    for (int i = 0; i < m->count; i++)
        for (int c = 0; c < 3; c++)
            r[i][c] = (1 - t) * m->r0[i][c] + t * m->r1[i][c];
}

/* From the closest point of the second feature to that of the first. */
static void closest_offset(pl_contact_kind kind, double r[4][3], double offset[3])
{
    static const double origin[3];
    if (kind == PL_CONTACT_EDGE_EDGE) {
        double along[3]; /* the second edge, with its start at the origin */
        pl_vector_subtract(r[0], r[2], along);
        pl_closest_pair p = pl_closest_edges(r[0], r[1], origin, along);
        for (int c = 0; c < 3; c++)
            offset[c] = r[0][c] + p.s * (r[1][c] - r[0][c]) - p.t * along[c];
        return;
    }
    pl_closest p = {.b = {1}};
    if (kind == PL_CONTACT_VERTEX_TRIANGLE)
        p = pl_closest_triangle(origin, (const double *const[3]){r[0], r[1], r[2]});
    else if (kind == PL_CONTACT_VERTEX_EDGE)
        p = pl_closest_edge(origin, r[0], r[1]);
    for (int c = 0; c < 3; c++)
        offset[c] = p.b[0] * r[0][c] + p.b[1] * r[1][c] + p.b[2] * r[2][c];
}

/* The normal of the triangle, or of both edges: exact where the offset is mostly rounding. */
static void feature_normal(double r[4][3], const double offset[3], double normal[3])
{
    double e[3], f[3];
    pl_vector_subtract(r[1], r[0], e);
    pl_vector_subtract(r[2], r[0], f);
    pl_vector_cross(e, f, normal);
    double sign = pl_vector_dot(normal, offset) < 0 ? -1 : 1;
    for (int c = 0; c < 3; c++)
        normal[c] *= sign;
}

static bool normalise(double n[3])
{
    double length = sqrt(pl_vector_dot(n, n));
    for (int c = 0; c < 3; c++)
        n[c] /= length;
    return length > 0x1p-500 && length < 0x1p500; /* else the quotients are not a unit vector */
}

/* The result of a proof by one direction from time t on. */
typedef struct proof {
    double apart; /* distance at t is at least this */
    double until; /* farther apart than `least` from t until this time; above 1: to the end */
} proof;

static proof prove(const moving *m, const double n[3], double t, double least)
{
    proof p = {INFINITY, 2};
    for (int i = 0; i < m->count; i++) {
        double h0 = pl_vector_dot(n, m->r0[i]) - m->rounding;
        double h1 = pl_vector_dot(n, m->r1[i]) - m->rounding;
        double apart = (1 - t) * h0 + t * h1;
        if (!(apart >= p.apart))
            p.apart = apart;
        double until = (h0 - least) / (h0 - h1);
        if (!(h1 > least) && !(until >= p.until))
            p.until = until;
    }
    if (!(p.apart > least))
        p.until = t;
    return p;
}

static proof best_proof(const moving *m, double t, double least)
{
    double r[4][3] = {{0}}, offset[3], normal[3];
    place_at(m, t, r);
    closest_offset(m->kind, r, offset);
    proof best = {-INFINITY, t};
    if (m->count > 2) {
        feature_normal(r, offset, normal);
        if (normalise(normal))
            best = prove(m, normal, t, least);
    }
    if (normalise(offset)) {
        proof p = prove(m, offset, t, least);
        best.apart = p.apart > best.apart ? p.apart : best.apart;
        best.until = p.until > best.until ? p.until : best.until;
    }
    return best;
}

pl_ccd_impact pl_ccd_find(pl_contact_kind kind, const double *const x0[4],
                          const double *const x1[4], const pl_ccd_limits *limits)
{
    moving m = moving_of(kind, x0, x1);
    pl_ccd_impact out = {.time = 0};
    while (out.iterations < limits->iterations) {
        out.iterations++;
        proof p = best_proof(&m, out.time, limits->least);
        if (p.until > 1) {
            out.time = 1;
            return out;
        }
        if (!(p.apart > limits->least + limits->slack)) {
            out.hit = true;
            return out;
        }
        out.time = p.until > out.time ? p.until : out.time;
    }
    out.hit = out.capped = true;
    return out;
}

/* The distance of the features over the whole move that a direction proves. */
static double apart_along(const moving *m, double n[3])
{
    double least = INFINITY;
    if (!normalise(n))
        return 0;
    for (int i = 0; i < m->count; i++) {
        const double h0 = pl_vector_dot(n, m->r0[i]), h1 = pl_vector_dot(n, m->r1[i]);
        least = !(h0 >= least) ? h0 : least;
        least = !(h1 >= least) ? h1 : least;
    }
    return least - m->rounding;
}

double pl_ccd_apart(pl_contact_kind kind, const double *const x0[4], const double *const x1[4])
{
    moving m = moving_of(kind, x0, x1);
    double r[4][3] = {{0}}, offset[3];
    place_at(&m, 0.5, r);
    closest_offset(kind, r, offset);
    return apart_along(&m, offset);
}

/* ---- pairs that start too close ---- */

/* True if a plane with this normal separates the features: they are not on each other's inner side, and all corners
 * stay on their sides of it, to rounding. */
static bool separates(const moving *m, double n[3])
{
    if (!normalise(n) ||
        (pl_vector_dot(m->facing, m->facing) > 0 && !(pl_vector_dot(m->facing, n) > 0)))
        return false;
    for (int i = 0; i < m->count; i++)
        if (!(fmin(pl_vector_dot(n, m->r0[i]), pl_vector_dot(n, m->r1[i])) >= -m->rounding))
            return false;
    return true;
}

/* The same with n rotated about a direction. */
static bool separates_across(const moving *m, const double n[3], const double e[3])
{
    double turned[3], along = pl_vector_dot(n, e) / pl_vector_dot(e, e);
    for (int c = 0; c < 3; c++)
        turned[c] = n[c] - along * e[c];
    return separates(m, turned);
}

/* In both directions. */
static bool separates_either(const moving *m, double n[3])
{
    if (separates(m, n))
        return true;
    for (int c = 0; c < 3; c++)
        n[c] = -n[c];
    return separates(m, n);
}

/* Differences of differences of corners: the sides of the features. */
static int sides_of(const moving *m, double r[4][3], double side[3][3])
{
    static const int EDGES[2][2] = {{1, 0}, {2, 0}}, TRIANGLE[3][2] = {{1, 0}, {2, 0}, {2, 1}};
    const int count = m->kind == PL_CONTACT_EDGE_EDGE ? 2 : m->count > 2 ? 3 : m->count - 1;
    for (int k = 0; k < count; k++) {
        const int *pair = m->kind == PL_CONTACT_EDGE_EDGE ? EDGES[k] : TRIANGLE[k];
        pl_vector_subtract(r[pair[0]], r[pair[1]], side[k]);
    }
    return count;
}

/* True if the features do not move relative to each other. */
static bool stays(const moving *m)
{
    bool same = m->rounding < INFINITY;
    for (int i = 0; i < m->count; i++)
        for (int c = 0; c < 3; c++)
            same = same && m->r0[i][c] == m->r1[i][c];
    return same;
}

/* True if a plane separates touching features for the whole move. Candidates are planes across their offset at its
 * end, or across `facing` if they still touch there; either of these rotated about a side along which they touch;
 * and the plane of the triangle or of both edges. */
static bool parts(const moving *m)
{
    double start[4][3] = {{0}}, end[4][3] = {{0}}, offset[3], side[3][3], normal[3];
    place_at(m, 0, start);
    place_at(m, 1, end);
    closest_offset(m->kind, end, offset);
    if (stays(m) || separates(m, (double[]){offset[0], offset[1], offset[2]}) ||
        separates(m, (double[]){m->facing[0], m->facing[1], m->facing[2]}))
        return true;
    const int sides = sides_of(m, start, side);
    for (int k = 0; k < sides; k++)
        if (separates_across(m, offset, side[k]) || separates_across(m, m->facing, side[k]))
            return true;
    if (m->count < 3)
        return false;
    feature_normal(start, offset, normal);
    if (separates_either(m, normal))
        return true;
    feature_normal(end, offset, normal);
    return separates_either(m, normal);
}

pl_ccd_impact pl_ccd_find_close(pl_contact_kind kind, const double *const x0[4],
                                const double *const x1[4], const pl_ccd_limits *limits,
                                const double facing[3])
{
    pl_ccd_impact out = pl_ccd_find(kind, x0, x1, limits);
    if (!out.hit || out.capped || out.time > 0)
        return out;
    moving m = moving_of(kind, x0, x1);
    double r[4][3] = {{0}}, offset[3];
    m.facing = facing;
    place_at(&m, 0, r);
    closest_offset(kind, r, offset);
    double quarter = sqrt(pl_vector_dot(offset, offset)) / 4;
    if (quarter > 2 * m.rounding) {
        const pl_ccd_limits close = {fmin(limits->least, quarter), fmin(limits->slack, quarter),
                                     limits->iterations, 0};
        return pl_ccd_find(kind, x0, x1, &close);
    }
    out.hit = !parts(&m);
    out.time = out.hit ? 0 : 1;
    return out;
}
