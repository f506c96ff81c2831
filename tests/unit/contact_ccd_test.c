/* Continuous collision detection compared with roots of the volume in quadruple precision, and with constructed
 * meetings: no miss, and a hit is as near as possible. 10^5 pairs each; PLIANT_LONG=1: 10^6. */
#include "engine/contact/ccd.h"
#include "tests/support/contact_exact.h"
#include "tests/support/contact_scene.h"
#include "tests/support/long_form.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

typedef struct pair {
    pl_contact_kind kind;
    double x0[4][3], x1[4][3];
} pair;

static const pl_ccd_limits limits = {.least = 1e-9, .slack = 1e-7, .iterations = 400};
static uint64_t seed;

static double draw(void)
{
    return contact_draw(&seed);
}

static pl_ccd_impact find(const pair *p, const pl_ccd_limits *l)
{
    const double *x0[4], *x1[4];
    for (int k = 0; k < 4; k++) {
        x0[k] = p->x0[k];
        x1[k] = p->x1[k];
    }
    return pl_ccd_find(p->kind, x0, x1, l);
}

static long double distance_at(const pair *p, long double t)
{
    exact_point x[4];
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            x[k][c] = (1 - t) * p->x0[k][c] + t * p->x1[k][c];
    switch (p->kind) {
    case PL_CONTACT_VERTEX_TRIANGLE:
        return exact_point_triangle(x[0], x + 1, NULL);
    case PL_CONTACT_EDGE_EDGE:
        return exact_edge_edge(x, x + 2, NULL);
    case PL_CONTACT_VERTEX_EDGE:
        return exact_point_edge(x[0], x[1], x[2], NULL);
    default:
        return exact_point_edge(x[0], x[1], x[1], NULL);
    }
}

/* ---- roots of the volume ---- */

typedef __float128 quad;

/* Coefficients of the volume of the four corners, a cubic in time. */
static void volume_of(const pair *p, quad f[4])
{
    quad e[3][3], d[3][3];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) {
            e[k][c] = (quad)p->x0[k + 1][c] - p->x0[0][c];
            d[k][c] = (quad)p->x1[k + 1][c] - p->x1[0][c] - e[k][c];
        }
    memset(f, 0, 4 * sizeof *f);
    for (int k = 0; k < 3; k++)
        for (int s = -1; s <= 1; s += 2) {
            int i = (k + (s > 0 ? 1 : 2)) % 3, j = (k + (s > 0 ? 2 : 1)) % 3;
            quad a = e[0][k], b = e[1][i], c = e[2][j], da = d[0][k], db = d[1][i], dc = d[2][j];
            f[0] += s * a * b * c;
            f[1] += s * (da * b * c + a * db * c + a * b * dc);
            f[2] += s * (da * db * c + da * b * dc + a * db * dc);
            f[3] += s * da * db * dc;
        }
}

static quad value(const quad f[4], quad t)
{
    return f[0] + t * (f[1] + t * (f[2] + t * f[3]));
}

static quad bisect(const quad f[4], quad lo, quad hi)
{
    bool rising = value(f, lo) < 0;
    for (int k = 0; k < 110; k++) {
        quad mid = (lo + hi) / 2;
        if ((value(f, mid) < 0) == rising)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}

/* Times in [0, 1] at which the volume may be 0: sign changes between turning points, and the turning points. */
static int roots_of(const quad f[4], quad root[8])
{
    quad cut[4] = {0, 1, 1, 1};
    int cuts = 1, count = 0;
    long double a = (long double)(3 * f[3]), b = (long double)f[2], c = (long double)f[1];
    long double square = b * b - a * c;
    if (square >= 0) {
        long double q = -(b + copysignl(sqrtl(square), b)), first = q / a, second = c / q;
        long double low = fminl(first, second), high = fmaxl(first, second);
        if (low > 0 && low < 1)
            cut[cuts++] = low;
        if (high > 0 && high < 1)
            cut[cuts++] = high;
    }
    cut[cuts] = 1;
    for (int k = 0; k < cuts; k++) {
        root[count++] = cut[k];
        if ((value(f, cut[k]) < 0) != (value(f, cut[k + 1]) < 0))
            root[count++] = bisect(f, cut[k], cut[k + 1]);
    }
    root[count++] = 1;
    return count;
}

/* The first time at which the features meet, 2 if they do not. */
static long double first_meeting(const pair *p)
{
    quad f[4], root[8];
    volume_of(p, f);
    int count = roots_of(f, root);
    long double first = 2;
    for (int k = 0; k < count; k++)
        if (distance_at(p, (long double)root[k]) < 1e-13L && root[k] < first)
            first = (long double)root[k];
    return first;
}

/* ---- random pairs ---- */

static pair draw_pair(int flavour)
{
    pair p = {.kind = flavour % 2 ? PL_CONTACT_EDGE_EDGE : PL_CONTACT_VERTEX_TRIANGLE};
    double scale = flavour / 2 % 2 ? 1 : 0.1;
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++) {
            p.x0[k][c] = draw();
            p.x1[k][c] = p.x0[k][c] + scale * draw();
        }
    if (flavour / 4 % 3 == 1) /* nearly in a plane */
        for (int k = 0; k < 4; k++)
            p.x0[k][2] *= 1e-3, p.x1[k][2] *= 1e-3;
    if (flavour / 4 % 3 == 2) /* edges, sides nearly parallel */
        for (int c = 0; c < 3; c++) {
            p.x0[3][c] = p.x0[2][c] + p.x0[1][c] - p.x0[0][c] + 1e-5 * draw();
            p.x1[3][c] = p.x1[2][c] + p.x1[1][c] - p.x1[0][c] + 1e-5 * draw();
        }
    return p;
}

static void check_hit(const pair *p, const pl_ccd_impact *i)
{
    ck_assert_double_ge(i->time, 0);
    ck_assert_double_le(i->time, 1);
    long double d = distance_at(p, i->time);
    ck_assert_msg(d <= limits.least + limits.slack * 1.01, "hit at %g, %Lg apart", i->time, d);
}

START_TEST(random_pairs_meet_when_the_volume_vanishes)
{
    int pairs = is_long_form() ? 1000000 : 100000, met = 0, hits = 0, capped = 0;
    seed = 1;
    for (int n = 0; n < pairs; n++) {
        pair p = draw_pair(n % 12);
        long double first = first_meeting(&p);
        pl_ccd_impact i = find(&p, &limits);
        met += first <= 1;
        hits += i.hit;
        capped += i.capped;
        if (first <= 1)
            ck_assert_msg(i.hit && i.time <= first, "pair %d meets at %.17Lg, found %d at %.17g", n,
                          first, i.hit, i.time);
        if (i.hit && !i.capped)
            check_hit(&p, &i);
        for (int k = 0; k < 4; k++) {
            long double t = k / 3.0L * i.time;
            if (t < i.time || !i.hit)
                ck_assert_msg(distance_at(&p, t) >= limits.least, "pair %d, at %Lg", n, t);
        }
    }
    printf("  %d pairs, %d meet, %d hits, %d not decided\n", pairs, met, hits, capped);
    ck_assert_int_le(capped, pairs / 20000); /* edges nearly parallel that turn fast */
    ck_assert_int_gt(met, pairs / 50);
    ck_assert_int_le(hits - met, pairs / 1000);
}
END_TEST

/* ---- meetings that were built ---- */

static void draw_weights(int corners, double w[3])
{
    double sum = 0;
    int zeros = (int)(3 * fabs(draw())); /* inside, on a side, at a corner */
    for (int k = 0; k < 3; k++) {
        w[k] = k < corners && k + zeros < corners ? 1e-3 + fabs(draw()) : 0;
        sum += w[k];
    }
    if (sum == 0)
        w[0] = sum = 1;
    for (int k = 0; k < 3; k++)
        w[k] /= sum;
}

/* Corners at the time of a meeting, which move the first feature's point onto the second's. */
static void draw_meeting(pair *p, double x[4][3], int flavour)
{
    int first = pl_contact_corners[p->kind][0], second = pl_contact_corners[p->kind][1];
    double w[3], v[3], shift[3] = {0};
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            x[k][c] = draw();
    if (flavour == 1) /* flat: all in one plane */
        for (int k = 0; k < 4; k++)
            x[k][2] = 0;
    if (flavour == 2) /* parallel, down to rounding */
        for (int c = 0; c < 3; c++)
            x[3][c] = x[2][c] + x[1][c] - x[0][c] + pow(10, -2 - 7 * fabs(draw())) * draw();
    if (flavour == 3) /* without length or area */
        memcpy(x[3], x[2], sizeof x[3]);
    if (flavour == 4) /* a sliver */
        for (int c = 0; c < 3; c++)
            x[3][c] = x[2][c] + 1e-6 * draw();
    draw_weights(first, w);
    draw_weights(second, v);
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < first; k++)
            shift[c] -= w[k] * x[k][c];
        for (int k = 0; k < second; k++)
            shift[c] += v[k] * x[first + k][c];
        for (int k = 0; k < first; k++)
            x[k][c] += shift[c];
    }
}

static double draw_velocities(pair *p, double v[4][3], int flavour, int motion)
{
    double fast = pow(10, -3 * fabs(draw())), common[3] = {draw(), draw(), draw()};
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            v[k][c] = fast * draw();
    if (flavour == 1 && motion == 0) /* stays in the plane */
        for (int k = 0; k < 4; k++)
            v[k][2] = 0;
    if (motion == 1) /* each feature as a rigid body */
        for (int k = 0; k < 4; k++)
            memcpy(v[k], v[k < pl_contact_corners[p->kind][0] ? 0 : 3], sizeof v[k]);
    if (motion == 2) /* both far and alike */
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 3; c++)
                v[k][c] += 1e3 * common[c];
    return motion == 2 ? 1e3 : 1;
}

START_TEST(meetings_that_were_built_are_found)
{
    int pairs = is_long_form() ? 1000000 : 100000, capped = 0, late = 0;
    seed = 2;
    for (int n = 0; n < pairs; n++) {
        pair p = {.kind = (pl_contact_kind)(n % 4)};
        double x[4][3], v[4][3], t = 0.5 + 0.5 * draw();
        int flavour = n / 4 % 5, motion = n / 20 % 4;
        draw_meeting(&p, x, flavour);
        double size = draw_velocities(&p, v, flavour, motion);
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 3; c++) {
                p.x0[k][c] = x[k][c] - t * v[k][c];
                p.x1[k][c] = x[k][c] + (1 - t) * v[k][c];
            }
        pl_ccd_limits l = limits;
        l.least = 1e-12 * size; /* the meeting was rounded */
        pl_ccd_impact i = find(&p, &l);
        ck_assert_msg(i.hit, "pair %d: meets at %.17g within %Lg", n, t, distance_at(&p, t));
        late += i.time > t;
        capped += i.capped;
    }
    ck_assert_int_eq(late, 0);
    ck_assert_int_le(capped, pairs / 500); /* some only graze */
}
END_TEST

/* ---- what must be quick ---- */

/* Far apart, one look is enough; sliding along at a small distance, too, however long the way. */
START_TEST(far_and_sliding_pairs_take_one_iteration)
{
    seed = 3;
    for (int n = 0; n < 10000; n++) {
        pair p = draw_pair(n % 12);
        for (int k = n % 2 ? 2 : 1; k < 4; k++)
            p.x0[k][0] += 6, p.x1[k][0] += 6;
        pl_ccd_impact i = find(&p, &limits);
        ck_assert(!i.hit);
        ck_assert_int_le(i.iterations, 2);
        pair slide = {.kind = PL_CONTACT_VERTEX_TRIANGLE,
                      .x0 = {{0.1, 0.1, 1e-6}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
        memcpy(slide.x1, slide.x0, sizeof slide.x0);
        slide.x1[0][0] += 100 * draw();
        slide.x1[0][1] += 100 * draw();
        i = find(&slide, &limits);
        ck_assert(!i.hit && i.iterations == 1);
    }
}
END_TEST

/* A pair closer than the slack that moves apart is free, one closer than the least distance is not. */
START_TEST(pairs_may_leave_each_other)
{
    pair p = {.kind = PL_CONTACT_VERTEX_TRIANGLE,
              .x0 = {{0.1, 0.1, 5e-8}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    memcpy(p.x1, p.x0, sizeof p.x0);
    p.x1[0][2] = 1;
    ck_assert(!find(&p, &limits).hit);
    p.x0[0][2] = 5e-10;
    pl_ccd_impact i = find(&p, &limits);
    ck_assert(i.hit && i.time == 0);
}
END_TEST

START_TEST(the_iterations_are_bounded)
{
    int capped = 0;
    pl_ccd_limits few = limits;
    few.iterations = 2;
    seed = 4;
    for (int n = 0; n < 20000; n++) {
        pair p = draw_pair(n % 12);
        pl_ccd_impact i = find(&p, &few), full = find(&p, &limits);
        ck_assert_int_le(i.iterations, 2);
        if (!i.capped)
            continue;
        capped++;
        ck_assert(i.hit && i.time > 0);
        ck_assert_double_le(i.time, full.time);
        ck_assert_int_gt(full.iterations, 2);
    }
    ck_assert_int_gt(capped, 100);
}
END_TEST

START_TEST(what_is_not_finite_is_hit_at_once)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
    seed = 5;
    for (int n = 0; n < 4000; n++) {
        pair p = draw_pair(n % 12);
        p.kind = (pl_contact_kind)(n % 4);
        int k = n / 4 % 2;
        (n / 8 % 2 ? p.x1 : p.x0)[p.kind == PL_CONTACT_VERTEX_VERTEX ? k : n / 16 % 3][k] =
            bad[n / 64 % 4];
        pl_ccd_impact i = find(&p, &limits);
        ck_assert(i.time >= 0 && i.time <= 1 && i.iterations <= limits.iterations);
        if (n / 64 % 4 < 3)
            ck_assert(i.hit && i.time == 0);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ccd");
    tcase_set_timeout(t, 900);
    tcase_add_test(t, random_pairs_meet_when_the_volume_vanishes);
    tcase_add_test(t, meetings_that_were_built_are_found);
    tcase_add_test(t, far_and_sliding_pairs_take_one_iteration);
    tcase_add_test(t, pairs_may_leave_each_other);
    tcase_add_test(t, the_iterations_are_bounded);
    tcase_add_test(t, what_is_not_finite_is_hit_at_once);
    return run_cases("contact_ccd", t);
}
