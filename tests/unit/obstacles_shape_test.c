/* Signed distances of the shapes against points sampled on their surfaces, normals and Hessians
 * against differences. */
#include "engine/obstacles/distance.h"
#include "engine/obstacles/shape.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t seed;
static double draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

typedef struct sample {
    double at[3];
} sample;

enum { GRID = 160 };

/* Everything is sampled about an axis along y at the origin, then rotated and moved like the obstacle. (s, t) in [0,
 * 1]^2; `part` is one of the surface's patches. False: no such patch. */
typedef bool (*patch)(const pl_obstacle *o, int part, double s, double t, double p[3]);

static bool patch_sphere(const pl_obstacle *o, int part, double s, double t, double p[3])
{
    double a = M_PI * s, b = 2 * M_PI * t;
    p[0] = o->radius * sin(a) * cos(b);
    p[1] = o->radius * cos(a);
    p[2] = o->radius * sin(a) * sin(b);
    return part == 0;
}

static bool patch_box(const pl_obstacle *o, int part, double s, double t, double p[3])
{
    int axis = part / 2 % 3;
    p[axis] = (part % 2 ? 0.5 : -0.5) * o->size[axis];
    p[(axis + 1) % 3] = (s - 0.5) * o->size[(axis + 1) % 3];
    p[(axis + 2) % 3] = (t - 0.5) * o->size[(axis + 2) % 3];
    return part < 6;
}

static void around(double rho, double y, double turn, double p[3])
{
    p[0] = rho * cos(2 * M_PI * turn);
    p[1] = y;
    p[2] = rho * sin(2 * M_PI * turn);
}

static bool patch_cylinder(const pl_obstacle *o, int part, double s, double t, double p[3])
{
    double r = o->rounding, h = o->height / 2, side = part == 1 ? -1 : 1;
    if (part < 2) /* ends */
        around(s * (o->radius - r), side * h, t, p);
    else if (part == 2) /* wall */
        around(o->radius, (2 * s - 1) * (h - r), t, p);
    else
        around(o->radius - r + r * cos(M_PI / 2 * s),
               (part == 3 ? 1 : -1) * (h - r + r * sin(M_PI / 2 * s)), t, p);
    return part < 5;
}

static bool patch_capsule(const pl_obstacle *o, int part, double s, double t, double p[3])
{
    double h = o->height / 2, a = M_PI / 2 * s;
    if (part == 0)
        around(o->radius, (2 * s - 1) * h, t, p);
    else
        around(o->radius * cos(a), (part == 1 ? 1 : -1) * (h + o->radius * sin(a)), t, p);
    return part < 3;
}

static bool patch_cone(const pl_obstacle *o, int part, double s, double t, double p[3])
{
    if (part == 0) /* base */
        around(s * o->radius, -o->height / 2, t, p);
    else
        around((1 - s) * o->radius, (s - 0.5) * o->height, t, p);
    return part < 2;
}

static bool patch_torus(const pl_obstacle *o, int part, double s, double t, double p[3])
{
    around(o->radius + o->tube * cos(2 * M_PI * s), o->tube * sin(2 * M_PI * s), t, p);
    return part == 0;
}

/* The inside, in the same frame, defined other than by distances. */
static bool solid(const pl_obstacle *o, const double p[3])
{
    double rho = hypot(p[0], p[2]), y = fabs(p[1]), h = o->height / 2;
    switch (o->kind) {
    case PL_OBSTACLE_SPHERE:
        return p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < o->radius * o->radius;
    case PL_OBSTACLE_BOX:
        return fabs(p[0]) < o->size[0] / 2 && y < o->size[1] / 2 && fabs(p[2]) < o->size[2] / 2;
    case PL_OBSTACLE_CYLINDER: {
        double r = o->rounding, a = rho - (o->radius - r), b = y - (h - r);
        return rho < o->radius && y < h && !(a > 0 && b > 0 && a * a + b * b > r * r);
    }
    case PL_OBSTACLE_CAPSULE:
        return y < h ? rho < o->radius : hypot(rho, y - h) < o->radius;
    case PL_OBSTACLE_CONE: /* upright in the frame of the samples, whose y has its sign */
        return fabs(p[1]) < h && rho < o->radius * (0.5 - p[1] / o->height);
    case PL_OBSTACLE_TORUS:
        return (rho - o->radius) * (rho - o->radius) + y * y < o->tube * o->tube;
    case PL_OBSTACLE_PLANE: /* not sampled here */
    case PL_OBSTACLE_HEIGHTFIELD:
    case PL_OBSTACLE_MESH:
        break;
    }
    return false;
}

typedef struct kind {
    const char *name;
    pl_obstacle o;
    patch patch;
    double extent;
} kind;

/* Axial shapes lie along (2, -1, 2) / 3, the box is turned by 70 degrees about the same. */
static const kind KINDS[] = {
    {"sphere",
     {.kind = PL_OBSTACLE_SPHERE, .center = {0.1, -0.2, 0.3}, .radius = 0.7},
     patch_sphere,
     1.2},
    {"box",
     {.kind = PL_OBSTACLE_BOX,
      .center = {0.1, -0.2, 0.3},
      .size = {1.2, 0.5, 0.8},
      .place = {.rotate_axis = {2.0 / 3, -1.0 / 3, 2.0 / 3}, .rotate_degrees = 70}},
     patch_box,
     0.7},
    {"cylinder",
     {.kind = PL_OBSTACLE_CYLINDER,
      .center = {0.1, -0.2, 0.3},
      .axis = {2.0 / 3, -1.0 / 3, 2.0 / 3},
      .radius = 0.5,
      .has_height = true,
      .height = 0.8},
     patch_cylinder,
     0.7},
    {"rounded cylinder",
     {.kind = PL_OBSTACLE_CYLINDER,
      .center = {0.1, -0.2, 0.3},
      .axis = {2.0 / 3, -1.0 / 3, 2.0 / 3},
      .radius = 0.5,
      .has_height = true,
      .height = 0.8,
      .rounding = 0.15},
     patch_cylinder,
     0.7},
    {"capsule",
     {.kind = PL_OBSTACLE_CAPSULE,
      .center = {0.1, -0.2, 0.3},
      .axis = {2.0 / 3, -1.0 / 3, 2.0 / 3},
      .radius = 0.4,
      .height = 0.6},
     patch_capsule,
     0.8},
    {"cone",
     {.kind = PL_OBSTACLE_CONE,
      .center = {0.1, -0.2, 0.3},
      .axis = {2.0 / 3, -1.0 / 3, 2.0 / 3},
      .radius = 0.5,
      .height = 0.9},
     patch_cone,
     0.6},
    {"torus",
     {.kind = PL_OBSTACLE_TORUS,
      .center = {0.1, -0.2, 0.3},
      .axis = {2.0 / 3, -1.0 / 3, 2.0 / 3},
      .radius = 0.6,
      .tube = 0.25},
     patch_torus,
     1.0},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static pl_shape *make(const pl_obstacle *o)
{
    pl_shape *s;
    ck_assert_int_eq(pl_shape_create(o, &s), PL_OK);
    return s;
}

/* From the samples' frame to the scene: any rotation that takes y to the axis, for round shapes; Rodrigues' formula on
 * vectors for the box. */
static void place(const pl_obstacle *o, const double p[3], double out[3])
{
    const double *k = o->kind == PL_OBSTACLE_BOX ? o->place.rotate_axis : o->axis;
    if (o->kind == PL_OBSTACLE_SPHERE) {
        for (int c = 0; c < 3; c++)
            out[c] = o->center[c] + p[c];
        return;
    }
    if (o->kind == PL_OBSTACLE_BOX) {
        double angle = o->place.rotate_degrees * M_PI / 180, along = 0;
        for (int c = 0; c < 3; c++)
            along += k[c] * p[c];
        for (int c = 0; c < 3; c++) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            out[c] = o->center[c] + p[c] * cos(angle) + (k[a] * p[b] - k[b] * p[a]) * sin(angle) +
                     k[c] * along * (1 - cos(angle));
        }
        return;
    }
    double u[3] = {k[1], -k[0], 0}, w[3], length = hypot(k[0], k[1]);
    for (int c = 0; c < 3; c++)
        u[c] /= length;
    for (int c = 0; c < 3; c++)
        w[c] = k[(c + 1) % 3] * u[(c + 2) % 3] - k[(c + 2) % 3] * u[(c + 1) % 3];
    for (int c = 0; c < 3; c++)
        out[c] = o->center[c] + p[0] * u[c] + p[1] * k[c] + p[2] * w[c];
}

START_TEST(distance_is_that_to_the_sampled_surface)
{
    const kind *k = &KINDS[_i];
    pl_shape *s = make(&k->o);
    enum { PARTS = 6 };
    sample *samples = malloc(sizeof *samples * PARTS * (GRID + 1) * (GRID + 1));
    size_t count = 0;
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i <= GRID; i++)
            for (int j = 0; j <= GRID; j++) {
                double p[3];
                if (!k->patch(&k->o, part, (double)i / GRID, (double)j / GRID, p))
                    continue;
                place(&k->o, p, samples[count++].at);
                /* a point of the surface is at no distance */
                double n[3], d = pl_shape_distance(s, samples[count - 1].at, n);
                ck_assert_msg(fabs(d) < 1e-14, "%s: %g on the surface", k->name, d);
            }
    seed = 5;
    int within = 0;
    for (int q = 0; q < 200; q++) {
        double local[3], p[3], n[3], least = INFINITY;
        for (int c = 0; c < 3; c++)
            local[c] = k->extent * draw();
        place(&k->o, local, p);
        double d = pl_shape_distance(s, p, n);
        for (size_t i = 0; i < count; i++) {
            const double *a = samples[i].at;
            double square = 0;
            for (int c = 0; c < 3; c++)
                square += (a[c] - p[c]) * (a[c] - p[c]);
            least = fmin(least, square);
        }
        least = sqrt(least);
        within += d < 0;
        ck_assert_msg((d < 0) == solid(&k->o, local), "%s: sign of %g", k->name, d);
        /* A sample lies within 0.02 of any point of the surface, mostly across the way there. */
        double miss = fmin(0.02, 0.02 * 0.02 / fabs(d));
        ck_assert_msg(fabs(d) <= least + 1e-14 && least <= fabs(d) + miss, "%s: %g, sampled %g",
                      k->name, d, least);
        /* the nearest point is on the surface */
        for (int c = 0; c < 3; c++)
            p[c] -= d * n[c];
        ck_assert_msg(fabs(pl_shape_distance(s, p, n)) < 1e-14, "%s: foot", k->name);
    }
    ck_assert_msg(within > 10 && within < 190, "%s: %d inside", k->name, within);
    free(samples);
    pl_shape_destroy(s);
}
END_TEST

static void check_derivatives(const char *name, const pl_shape *s, const double p[3])
{
    const double h = 1e-6;
    double n[3], H[9], size = 0, unit = 0;
    double d = pl_shape_measure(s, p, n, H);
    double moved[3][2][3], difference[3];
    for (int c = 0; c < 3; c++) {
        double q[3] = {p[0], p[1], p[2]}, far[2];
        for (int side = 0; side < 2; side++) {
            q[c] = p[c] + (side ? h : -h);
            far[side] = pl_shape_distance(s, q, moved[c][side]);
        }
        difference[c] = (far[1] - far[0]) / (2 * h);
        unit += n[c] * n[c];
    }
    ck_assert_double_eq_tol(unit, 1, 1e-14);
    for (int e = 0; e < 9; e++)
        size = fmax(size, fabs(H[e]));
    for (int c = 0; c < 3; c++) {
        ck_assert_msg(fabs(difference[c] - n[c]) < 1e-6, "%s: normal at distance %g", name, d);
        for (int r = 0; r < 3; r++) {
            double bend = (moved[c][1][r] - moved[c][0][r]) / (2 * h);
            ck_assert_msg(fabs(bend - H[3 * r + c]) < 1e-5 * (1 + size), "%s: H %g, not %g", name,
                          H[3 * r + c], bend);
        }
    }
}

/* Whether no kink of the distance is near: the normal turns little over 1e-4. */
static bool smooth(const pl_shape *s, const double p[3])
{
    double n[3], H[9], other[3];
    pl_shape_measure(s, p, n, H);
    for (int e = 0; e < 9; e++)
        if (fabs(H[e]) > 100)
            return false;
    for (int k = 0; k < 6; k++) {
        double q[3] = {p[0], p[1], p[2]}, bend[9];
        q[k / 2] += k % 2 ? 1e-4 : -1e-4;
        pl_shape_measure(s, q, other, bend);
        for (int c = 0; c < 3; c++)
            if (fabs(other[c] - n[c]) > 0.05)
                return false;
        for (int e = 0; e < 9; e++)
            if (fabs(bend[e] - H[e]) > 0.1)
                return false;
    }
    return true;
}

START_TEST(normal_and_hessian_are_the_distance_s)
{
    const kind *k = &KINDS[_i];
    for (int inside = 0; inside < 2; inside++) {
        pl_obstacle o = k->o;
        o.inside = inside;
        pl_shape *s = make(&o);
        seed = 17;
        int checked = 0;
        for (int q = 0; q < 400; q++) {
            double local[3], p[3];
            for (int c = 0; c < 3; c++)
                local[c] = k->extent * draw();
            place(&o, local, p);
            if (!smooth(s, p))
                continue;
            check_derivatives(k->name, s, p);
            checked++;
        }
        ck_assert_msg(checked > 300, "%s: %d checked", k->name, checked);
        pl_shape_destroy(s);
    }
}
END_TEST

/* Slope at most 1 along any way, over every kink and the axis itself. */
START_TEST(distance_is_continuous)
{
    const kind *k = &KINDS[_i];
    pl_shape *s = make(&k->o);
    seed = 23;
    for (int way = 0; way < 50; way++) {
        double a[3], b[3], n[3], last = 0;
        for (int c = 0; c < 3; c++)
            a[c] = draw(), b[c] = way % 2 ? draw() : -a[c]; /* every other one through the centre */
        place(&k->o, a, a);
        place(&k->o, b, b);
        double length = sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                             (a[2] - b[2]) * (a[2] - b[2]));
        for (int i = 0; i <= 1000; i++) {
            double p[3];
            for (int c = 0; c < 3; c++)
                p[c] = a[c] + i / 1000.0 * (b[c] - a[c]);
            double d = pl_shape_distance(s, p, n);
            if (i > 0)
                ck_assert_double_le(fabs(d - last), length / 1000 * (1 + 1e-9) + 1e-15);
            last = d;
        }
    }
    pl_shape_destroy(s);
}
END_TEST

/* A rounded box is the box of the same size but near its edges, and a ball at its corners. */
START_TEST(rounded_box_is_within_the_box)
{
    pl_obstacle o = {.kind = PL_OBSTACLE_BOX, .size = {2, 2, 2}, .rounding = 0.5};
    pl_shape *s = make(&o);
    double n[3];
    ck_assert_double_eq_tol(pl_shape_distance(s, (double[]){1.5, 0.2, 0.1}, n), 0.5, 1e-15);
    ck_assert_double_eq(n[0], 1);
    ck_assert_double_eq_tol(pl_shape_distance(s, (double[]){0.7, 0.2, 0.1}, n), -0.3, 1e-15);
    ck_assert_double_eq_tol(pl_shape_distance(s, (double[]){0.3, 0.2, 0.1}, n), -0.7, 1e-15);
    double corner = 2 / sqrt(3); /* of the ball about (0.5, 0.5, 0.5) */
    ck_assert_double_eq_tol(
        pl_shape_distance(s, (double[]){0.5 + corner, 0.5 + corner, 0.5 + corner}, n), 2 - 0.5,
        1e-14);
    ck_assert_double_eq_tol(n[2], 1 / sqrt(3), 1e-14);
    seed = 3;
    for (int q = 0; q < 200; q++) {
        double p[3] = {2 * draw(), 2 * draw(), 2 * draw()};
        if (smooth(s, p))
            check_derivatives("rounded box", s, p);
    }
    pl_shape_destroy(s);
}
END_TEST

START_TEST(cylinder_without_ends_goes_on)
{
    pl_obstacle o = {.kind = PL_OBSTACLE_CYLINDER, .axis = {0, 0, 1}, .radius = 0.5};
    pl_shape *s = make(&o);
    double n[3];
    ck_assert_double_eq_tol(pl_shape_distance(s, (double[]){3, 4, 1e6}, n), 4.5, 1e-14);
    ck_assert_double_eq_tol(n[0], 0.6, 1e-15);
    ck_assert_double_eq_tol(pl_shape_distance(s, (double[]){0, 0.1, -7}, n), -0.4, 1e-15);
    ck_assert_double_eq(n[1], 1);
    pl_shape_destroy(s);
}
END_TEST

/* Of radius 3 and height 4, so with a slant of 5: below, beside, above; the flank's normal is
 * (4, 3) / 5. */
START_TEST(cone_is_nearest_at_base_rim_flank_or_tip)
{
    static const struct {
        double p[3], distance, n_rho, n_y;
    } rows[] = {
        {{1, -3, 0}, 1, 0, -1},       /* base */
        {{6, -6, 0}, 5, 0.6, -0.8},   /* rim */
        {{3.1, 1.2, 0}, 2, 0.8, 0.6}, /* flank, from its middle */
        {{3, 6, 0}, 5, 0.6, 0.8},     /* tip */
        {{0, 5, 0}, 3, 0, 1},         /* tip, on the axis */
        {{0, -1.9, 0}, -0.1, 0, -1},  /* inside on the axis: base, then flank */
        {{0, 1, 0}, -0.6, 0.8, 0.6},
        {{3, -2, 0}, 0, 0, -1}, /* on the rim: the base; on the tip: the flank */
        {{0, 2, 0}, 0, 0.8, 0.6},
    };
    pl_obstacle o = {.kind = PL_OBSTACLE_CONE, .axis = {0, 1, 0}, .radius = 3, .height = 4};
    pl_shape *s = make(&o);
    double n[3], H[9];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_double_eq_tol(pl_shape_measure(s, rows[i].p, n, H), rows[i].distance, 1e-14);
        ck_assert_double_eq_tol(hypot(n[0], n[2]), rows[i].n_rho, 1e-14);
        ck_assert_double_eq_tol(n[1], rows[i].n_y, 1e-14);
    }
    /* above the tip it bends like a ball about it */
    pl_shape_measure(s, (double[]){0, 5, 0}, n, H);
    for (int e = 0; e < 9; e++)
        ck_assert_double_eq_tol(H[e], e == 0 || e == 8 ? 1.0 / 3 : 0, 1e-15);
    pl_shape_destroy(s);
}
END_TEST

/* Rounding puts the tip of some of them beyond it. */
START_TEST(every_cone_has_a_normal_on_its_tip)
{
    for (int k = 1; k <= 200; k++) {
        pl_obstacle o = {
            .kind = PL_OBSTACLE_CONE, .axis = {0, 1, 0}, .radius = 0.5, .height = 0.05 * k};
        pl_shape *s = make(&o);
        double n[3], H[9], tip[3] = {0, o.height / 2, 0}, unit = 0;
        ck_assert_double_eq_tol(pl_shape_measure(s, tip, n, H), 0, 1e-14);
        for (int c = 0; c < 3; c++)
            unit += n[c] * n[c];
        ck_assert_double_eq_tol(unit, 1, 1e-14);
        for (int e = 0; e < 9; e++)
            ck_assert_double_finite(H[e]);
        pl_shape_destroy(s);
    }
}
END_TEST

START_TEST(inside_is_the_other_sign)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        pl_obstacle o = KINDS[k].o;
        pl_shape *out = make(&o);
        o.inside = true;
        pl_shape *in = make(&o);
        for (int q = 0; q < 50; q++) {
            double p[3] = {draw(), draw(), draw()}, a[3], b[3];
            ck_assert_double_eq(pl_shape_distance(out, p, a), -pl_shape_distance(in, p, b));
            for (int c = 0; c < 3; c++)
                ck_assert_double_eq(a[c], -b[c]);
        }
        pl_shape_destroy(in);
        pl_shape_destroy(out);
    }
}
END_TEST

/* A plate of 1 cm, and ways into it, through it, and round it. */
START_TEST(way_through_a_thin_part_is_seen)
{
    pl_obstacle o = {.kind = PL_OBSTACLE_BOX, .size = {2, 0.01, 2}};
    pl_shape *s = make(&o);
    double n[3], from[3] = {0.1, 0.005, 0};
    /* into it, nearer to the far face */
    ck_assert_double_eq_tol(pl_shape_measure_from(s, from, (double[]){0.1, -0.004, 0}, n, NULL),
                            -0.009, 1e-15);
    ck_assert_double_eq(n[1], 1);
    /* through, and out again */
    ck_assert_double_eq_tol(pl_shape_measure_from(s, from, (double[]){0.3, -1.3, 0.2}, n, NULL),
                            -1.305, 1e-14);
    ck_assert_double_eq(n[1], 1);
    from[1] = 1;
    ck_assert_double_eq_tol(pl_shape_measure_from(s, from, (double[]){0.3, -1.3, 0.2}, n, NULL),
                            -1.305, 1e-14);
    /* half in: the nearest face is the one it came through */
    ck_assert_double_eq_tol(pl_shape_measure_from(s, from, (double[]){0.1, 0.004, 0}, n, NULL),
                            -0.001, 1e-15);
    /* past its edge */
    from[0] = 1.5;
    ck_assert_double_eq_tol(pl_shape_measure_from(s, from, (double[]){1.5, -1, 0}, n, NULL),
                            hypot(0.5, 0.995), 1e-14);
    /* along a surface that bends: from one point of a ball to another one by its chord */
    pl_obstacle ball = {.kind = PL_OBSTACLE_SPHERE, .radius = 1};
    pl_shape *b = make(&ball);
    ck_assert_double_eq_tol(
        pl_shape_measure_from(b, (double[]){0, 1, 0}, (double[]){sin(1.2), cos(1.2), 0}, n, NULL),
        0, 1e-15);
    /* from inside, through the middle: back to the side that was nearest */
    ck_assert_double_eq_tol(
        pl_shape_measure_from(b, (double[]){0, 0.5, 0}, (double[]){0, -1.5, 0}, n, NULL), -2.5,
        1e-15);
    ck_assert_double_eq(n[1], 1);
    pl_shape_destroy(b);
    pl_shape_destroy(s);
}
END_TEST

/* Points reported as clear are outside, also with a margin and in a room; short paths far away are reported as
 * clear. */
START_TEST(clear_ways_end_outside)
{
    int clear = 0;
    seed = 3;
    for (int k = 0; k < 4000; k++) {
        pl_obstacle o = KINDS[_i].o;
        double from[3], to[3], n[3];
        o.inside = k % 2;
        o.margin = k % 3 * 0.05;
        pl_shape *s = make(&o);
        for (int c = 0; c < 3; c++) {
            from[c] = o.center[c] + 1.5 * draw();
            to[c] = from[c] + 0.4 * draw();
        }
        const pl_shape_start start = pl_shape_start_at(s, from);
        const double outside = pl_shape_distance_held(s, to, n);
        if (pl_shape_is_clear(&start, to)) {
            ck_assert_double_gt(outside, 0);
            clear++;
        } else {
            ck_assert_double_le(start.distance, 0.7);
        }
        pl_shape_destroy(s);
    }
    ck_assert_int_gt(clear, 400);
}
END_TEST

/* Plates of at most 2 mm across paths of 3 m, as at 300 m/s with steps of 10 ms: every path through a plate is
 * detected, whatever its position and slope, and none that passes beside it. */
START_TEST(thin_plates_are_seen_on_long_ways)
{
    static const double THICKNESS[] = {0.02, 0.002, 0.0015};
    seed = 1;
    for (int k = 0; k < 3; k++) {
        pl_obstacle plate = {.kind = PL_OBSTACLE_BOX, .size = {2, THICKNESS[k], 2}};
        pl_obstacle disc = {.kind = PL_OBSTACLE_CYLINDER,
                            .axis = {0, 1, 0},
                            .radius = 1,
                            .has_height = true,
                            .height = THICKNESS[k]};
        pl_shape *shapes[] = {make(&plate), make(&disc)};
        for (int i = 0; i < 2000; i++) {
            double r[5];
            for (int c = 0; c < 5; c++)
                r[c] = 0.5 + 0.5 * draw();
            double above = 0.01 + 2.9 * r[0], below = 3 - above;
            double at[2] = {1.8 * (r[1] - 0.5), 1.8 * (r[2] - 0.5)}; /* where it crosses */
            double slope[2] = {0.6 * (r[3] - 0.5), 0.6 * (r[4] - 0.5)}, n[3];
            double from[3] = {at[0] + slope[0] * above, above, at[1] + slope[1] * above};
            double to[3] = {at[0] - slope[0] * below, -below, at[1] - slope[1] * below};
            bool meets = i % 2 == 0 || hypot(at[0], at[1]) < 0.98;
            bool misses = i % 2 == 1 && hypot(at[0], at[1]) > 1.02;
            double d = pl_shape_measure_from(shapes[i % 2], from, to, n, NULL);
            ck_assert_msg(!meets || d < 0, "%g thin, at %g %g: %g", THICKNESS[k], at[0], at[1], d);
            ck_assert_msg(!misses || d > 0, "%g thin, past %g %g: %g", THICKNESS[k], at[0], at[1],
                          d);
        }
        pl_shape_destroy(shapes[0]);
        pl_shape_destroy(shapes[1]);
    }
}
END_TEST

/* Largest eigenvalue of a symmetric matrix whose others are at least -100. */
static double largest_eigenvalue(const double H[9])
{
    double v[3] = {0.5, -0.7, 0.4}, value = 0;
    for (int k = 0; k < 4000; k++) {
        double w[3], length = 0;
        for (int c = 0; c < 3; c++) {
            w[c] = 100 * v[c];
            for (int j = 0; j < 3; j++)
                w[c] += H[3 * c + j] * v[j];
            length += w[c] * w[c];
        }
        for (int c = 0; c < 3; c++)
            v[c] = w[c] / sqrt(length);
        value = sqrt(length) - 100;
    }
    return value;
}

/* What Hessians of the distance show just off the surface. */
START_TEST(curvature_is_the_surface_s)
{
    const kind *k = &KINDS[_i];
    const double off = 1e-4;
    for (int inside = 0; inside < 2; inside++) {
        pl_obstacle o = k->o;
        o.inside = inside;
        const double claimed = pl_obstacle_curvature(&o);
        pl_shape *s = make(&o);
        double most = -INFINITY;
        seed = 23;
        for (int q = 0; q < 600; q++) {
            double local[3], p[3], n[3], H[9];
            for (int c = 0; c < 3; c++)
                local[c] = k->extent * draw();
            place(&o, local, p);
            double d = pl_shape_distance(s, p, n);
            if (d < 0)
                continue;
            for (int c = 0; c < 3; c++)
                p[c] -= (d - off) * n[c];
            pl_shape_measure(s, p, n, H);
            most = fmax(most, largest_eigenvalue(H));
        }
        double limit = claimed / (1 + claimed * off);
        if (inside && o.kind == PL_OBSTACLE_TORUS)
            ck_assert_msg(isinf(claimed), "a ring's inside is not convex");
        else if (isinf(claimed))
            ck_assert_msg(most > 0.99 / off, "%s: %g on edges", k->name, most);
        else
            ck_assert_msg(fabs(most - limit) < 1e-3 * limit + 1e-6 || (inside && most < 1e-6),
                          "%s, inside %d: %g, not %g", k->name, inside, most, limit);
        ck_assert(!inside || o.kind == PL_OBSTACLE_TORUS || claimed == 0);
        pl_shape_destroy(s);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("obstacles_shape");
    TCase *t = tcase_create("shapes");
    tcase_add_loop_test(t, distance_is_that_to_the_sampled_surface, 0, KIND_COUNT);
    tcase_add_loop_test(t, normal_and_hessian_are_the_distance_s, 0, KIND_COUNT);
    tcase_add_loop_test(t, distance_is_continuous, 0, KIND_COUNT);
    tcase_add_loop_test(t, curvature_is_the_surface_s, 0, KIND_COUNT);
    tcase_add_loop_test(t, clear_ways_end_outside, 0, KIND_COUNT);
    tcase_add_test(t, thin_plates_are_seen_on_long_ways);
    tcase_add_test(t, rounded_box_is_within_the_box);
    tcase_add_test(t, cylinder_without_ends_goes_on);
    tcase_add_test(t, cone_is_nearest_at_base_rim_flank_or_tip);
    tcase_add_test(t, every_cone_has_a_normal_on_its_tip);
    tcase_add_test(t, inside_is_the_other_sign);
    tcase_add_test(t, way_through_a_thin_part_is_seen);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
