/* Pairs against a search through all features in long double, one pair a touch, and hostile input. */
#include "engine/contact/pairs.h"
#include "engine/contact/search.h"
#include "engine/isa.h"
#include "engine/vectors.h"
#include "tests/support/contact_exact.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"
#include "tests/unit/mesh_files.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a search through all features ---- */

/* What lies so near a border that rounding decides is left out of the comparison. */
#define MARGIN 1e-7L

typedef enum verdict { NO, MAYBE, YES } verdict;

static verdict above(long double value, long double border)
{
    return value > border + MARGIN ? YES : value < border - MARGIN ? NO : MAYBE;
}

static verdict both(verdict a, verdict b)
{
    return a < b ? a : b;
}

static void place_of(const contact_scene *s, int32_t vertex, exact_point out)
{
    for (int c = 0; c < 3; c++)
        out[c] = s->x[3 * vertex + c];
}

static verdict is_vertex_triangle(const contact_scene *s, int32_t v, int32_t t, double reach)
{
    exact_point p, x[3];
    long double place[3];
    place_of(s, s->surface->vertex[v], p);
    for (int k = 0; k < 3; k++)
        place_of(s, s->surface->triangle[3 * t + k], x[k]);
    verdict out = above(reach, exact_point_triangle(p, x, place));
    for (int k = 0; k < 3; k++)
        out = both(out, isnan(place[k]) ? NO : above(place[k], 0));
    return out;
}

/* Does the offset from the line of an edge point into one of its triangles? */
static verdict is_in_wedge(const contact_scene *s, int32_t edge, const exact_point offset)
{
    const pl_contact_surface *f = s->surface;
    exact_point a, b, o;
    verdict out = YES;
    place_of(s, f->edge[2 * edge], a);
    place_of(s, f->edge[2 * edge + 1], b);
    for (int32_t i = f->edge_first[edge]; i < f->edge_first[edge + 1]; i++) {
        long double along, dot = 0, square = 0, length = 0;
        place_of(s, f->edge_opposite[i], o);
        exact_point_edge(o, a, b, &along);
        for (int c = 0; c < 3; c++) {
            long double h = o[c] - a[c] - along * (b[c] - a[c]);
            dot += h * offset[c];
            square += h * h;
            length += offset[c] * offset[c];
        }
        out = both(out, above(0, dot / sqrtl(square * length)));
    }
    return out;
}

static verdict is_vertex_edge(const contact_scene *s, int32_t v, int32_t e, double reach)
{
    exact_point p, a, b, offset;
    long double along;
    place_of(s, s->surface->vertex[v], p);
    place_of(s, s->surface->edge[2 * e], a);
    place_of(s, s->surface->edge[2 * e + 1], b);
    verdict out = above(reach, exact_point_edge(p, a, b, &along));
    out = both(out, both(above(along, 0), above(1, along)));
    for (int c = 0; c < 3; c++)
        offset[c] = p[c] - a[c] - along * (b[c] - a[c]);
    return both(out, is_in_wedge(s, e, offset));
}

static verdict is_edge_edge(const contact_scene *s, int32_t e, int32_t f, double reach)
{
    exact_point a[2], b[2], offset, back;
    long double place[2];
    for (int k = 0; k < 2; k++) {
        place_of(s, s->surface->edge[2 * e + k], a[k]);
        place_of(s, s->surface->edge[2 * f + k], b[k]);
    }
    verdict out = above(reach, exact_edge_edge(a, b, place));
    for (int k = 0; k < 2; k++)
        out = both(out, isnan(place[k]) ? NO : both(above(place[k], 0), above(1, place[k])));
    for (int c = 0; c < 3; c++) {
        offset[c] = a[0][c] + place[0] * (a[1][c] - a[0][c]) - b[0][c] -
                    place[1] * (b[1][c] - b[0][c]);
        back[c] = -offset[c];
    }
    if (out == NO)
        return NO;
    return both(out, both(is_in_wedge(s, f, offset), is_in_wedge(s, e, back)));
}

/* v behind all edges of w. */
static verdict is_behind(const contact_scene *s, int32_t v, int32_t w)
{
    const pl_contact_surface *f = s->surface;
    exact_point p, at, other;
    verdict out = YES;
    place_of(s, f->vertex[v], p);
    place_of(s, f->vertex[w], at);
    for (int32_t i = f->vertex_first[w]; i < f->vertex_first[w + 1]; i++) {
        const int32_t *end = f->edge + 2 * f->vertex_edge[i];
        long double along;
        place_of(s, end[0] == f->vertex[w] ? end[1] : end[0], other);
        exact_point_edge(p, at, other, &along);
        out = both(out, above(0, along));
    }
    return out;
}

static verdict is_vertex_vertex(const contact_scene *s, int32_t v, int32_t w, double reach)
{
    exact_point p, q;
    place_of(s, s->surface->vertex[v], p);
    place_of(s, s->surface->vertex[w], q);
    verdict near = above(reach, exact_point_edge(p, q, q, NULL));
    verdict one = is_behind(s, v, w), two = is_behind(s, w, v);
    return near == NO ? NO : both(near, one > two ? one : two);
}

static bool share(const int32_t *a, int as, const int32_t *b, int bs)
{
    for (int i = 0; i < as; i++)
        for (int j = 0; j < bs; j++)
            if (a[i] == b[j])
                return true;
    return false;
}

/* Farther apart than the reach along an axis: spares most of the search. */
static bool is_apart(const contact_scene *s, const int32_t *a, int as, const int32_t *b, int bs,
                     double reach)
{
    for (int c = 0; c < 3; c++) {
        double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < as + bs; k++) {
            double x = s->x[3 * (k < as ? a[k] : b[k - as]) + c];
            lo[k >= as] = fmin(lo[k >= as], x);
            hi[k >= as] = fmax(hi[k >= as], x);
        }
        if (lo[0] - hi[1] > 1.001 * reach || lo[1] - hi[0] > 1.001 * reach)
            return true;
    }
    return false;
}

typedef struct features {
    int32_t count[2];
    const int32_t *corner[2];
    int corners[2];
    verdict (*judge)(const contact_scene *, int32_t, int32_t, double);
} features;

static features features_of(const contact_scene *s, pl_contact_kind kind)
{
    const pl_contact_surface *f = s->surface;
    switch (kind) {
    case PL_CONTACT_VERTEX_TRIANGLE:
        return (features){
            {f->vertices, f->triangles}, {f->vertex, f->triangle}, {1, 3}, is_vertex_triangle};
    case PL_CONTACT_EDGE_EDGE:
        return (features){{f->edges, f->edges}, {f->edge, f->edge}, {2, 2}, is_edge_edge};
    case PL_CONTACT_VERTEX_EDGE:
        return (features){{f->vertices, f->edges}, {f->vertex, f->edge}, {1, 2}, is_vertex_edge};
    default:
        return (features){
            {f->vertices, f->vertices}, {f->vertex, f->vertex}, {1, 1}, is_vertex_vertex};
    }
}

/* Compare with the list, which is sorted as this counts. Returns the pairs that are sure. */
static int64_t compare(const contact_scene *s, const pl_contact_pairs *pairs, double reach)
{
    int64_t at = 0, sure = 0;
    for (int kind = 0; kind < 4; kind++) {
        features f = features_of(s, (pl_contact_kind)kind);
        bool same = kind == PL_CONTACT_EDGE_EDGE || kind == PL_CONTACT_VERTEX_VERTEX;
        for (int32_t a = 0; a < f.count[0]; a++)
            for (int32_t b = same ? a + 1 : 0; b < f.count[1]; b++) {
                const pl_contact_pair *p = &pairs->pair[at];
                bool listed = at < pairs->count && (int)p->kind == kind && p->feature[0] == a &&
                              p->feature[1] == b;
                const int32_t *one = f.corner[0] + f.corners[0] * a;
                const int32_t *two = f.corner[1] + f.corners[1] * b;
                verdict v = share(one, f.corners[0], two, f.corners[1]) ||
                                    is_apart(s, one, f.corners[0], two, f.corners[1], reach)
                                ? NO
                                : f.judge(s, a, b, reach);
                if ((listed && v == NO) || (!listed && v == YES))
                    ck_abort_msg("kind %d, %d and %d: listed %d, verdict %d", kind, a, b, listed,
                                 v);
                at += listed;
                sure += v == YES;
            }
    }
    ck_assert_int_eq(at, pairs->count); /* all were met in this order: sorted, none twice */
    return sure;
}

/* ---- what a pair says ---- */

static void check_pair(const contact_scene *s, const pl_contact_pair *p, double reach)
{
    double gap = 0, sum = 0, square = 0, offset[3] = {0};
    for (int k = 0; k < 4; k++) {
        bool used = k < pl_contact_corners[p->kind][0] + pl_contact_corners[p->kind][1];
        ck_assert_int_eq(p->vertex[k] >= 0, used);
        if (!used)
            continue;
        sum += p->weight[k];
        ck_assert(k < pl_contact_corners[p->kind][0] ? p->weight[k] >= 0 : p->weight[k] <= 0);
        for (int c = 0; c < 3; c++) {
            offset[c] += p->weight[k] * s->x[3 * p->vertex[k] + c];
            gap += p->normal[c] * p->weight[k] * s->x[3 * p->vertex[k] + c];
        }
    }
    for (int c = 0; c < 3; c++)
        square += p->normal[c] * p->normal[c];
    ck_assert_double_eq_tol(sum, 0, 1e-15);
    ck_assert_double_eq_tol(square, 1, 1e-14);
    ck_assert_double_eq_tol(gap, p->gap, 1e-12);
    ck_assert_double_eq_tol(sqrt(pl_vector_dot(offset, offset)), p->gap, 1e-7);
    ck_assert(p->gap >= 0 && p->gap <= reach * (1 + 1e-9));
}

static int64_t check_scene(contact_scene *s, double reach)
{
    pl_contact_pairs pairs = contact_scene_pairs(s, s->x, reach, 2);
    for (int64_t i = 0; i < pairs.count; i++)
        check_pair(s, &pairs.pair[i], reach);
    int64_t sure = compare(s, &pairs, reach);
    pl_contact_pairs_clear(&pairs);
    return sure;
}

static void add_soup(contact_scene *s, int triangles, int segments, uint64_t *seed)
{
    double x[3 * 300];
    int32_t triangle[3 * 60], segment[2 * 40];
    for (int k = 0; k < triangles; k++)
        for (int i = 0; i < 3; i++) {
            triangle[3 * k + i] = i == 0 && k % 3 ? 3 * k - 3
                                                  : 3 * k + i; /* threes share corners */
            for (int c = 0; c < 3; c++)
                x[3 * (3 * k + i) + c] = i ? x[9 * k + c] + 0.3 * contact_draw(seed)
                                           : contact_draw(seed);
        }
    for (int k = 0; k < segments; k++) { /* ropes of four segments */
        segment[2 * k] = 3 * triangles + k + k / 4;
        segment[2 * k + 1] = segment[2 * k] + 1;
    }
    int32_t vertices = 3 * triangles + segments + (segments + 3) / 4;
    for (int v = 3 * triangles; v < vertices; v++)
        for (int c = 0; c < 3; c++)
            x[3 * v + c] = contact_draw(seed);
    contact_scene_add(s, x, vertices, triangle, triangles, segment, segments);
}

START_TEST(pairs_of_random_soups_are_those_of_a_search)
{
    uint64_t seed = 1;
    int64_t sure = 0;
    for (int n = 0; n < 40; n++) {
        contact_scene s = {0};
        add_soup(&s, 20, n % 3 ? 10 : 0, &seed);
        add_soup(&s, n % 4 ? 30 : 0, 16, &seed);
        contact_scene_finish(&s);
        sure += check_scene(&s, n % 2 ? 0.1 : 0.4);
        contact_scene_clear(&s);
    }
    ck_assert_int_gt(sure, 5000);
}
END_TEST

START_TEST(pairs_of_meshes_are_those_of_a_search)
{
    contact_scene s = {0};
    pl_mesh mesh;
    ck_assert_int_eq(pl_mesh_sphere(0.5, 4, &mesh), PL_OK);
    contact_scene_add_mesh(&s, &mesh, (double[3]){0});
    ck_assert_int_eq(pl_mesh_torus(0.5, 0.1, (int32_t[]){2, 12}, &mesh), PL_OK);
    contact_scene_add_mesh(&s, &mesh, (double[]){0.1, 0.05, 0.57});
    ck_assert_int_eq(pl_mesh_rope(2, 12, (double[]){0.6, 0.8, 0}, &mesh), PL_OK);
    contact_scene_add_mesh(&s, &mesh, (double[]){0.03, 0.02, -0.56});
    ck_assert_int_eq(pl_mesh_cloth((double[]){1, 1}, (int32_t[]){5, 5}, PL_MESH_DIAGONAL_UP, &mesh),
                     PL_OK);
    contact_scene_add_mesh(&s, &mesh, (double[]){0.01, 0.02, -0.62});
    contact_scene_finish(&s);
    ck_assert_int_gt(check_scene(&s, 0.2), 50);
    contact_scene_clear(&s);
}
END_TEST

/* Two bunnies, the second a little aside, so that they are near each other everywhere. */
START_TEST(pairs_of_a_scan_are_those_of_a_search)
{
    if (!has_scans())
        skip_test("contact_pairs pairs_of_a_scan_are_those_of_a_search: no " SCANS);
    contact_scene s = {0};
    double size = 0;
    for (int k = 0; k < 2; k++) {
        pl_mesh mesh;
        pl_faults faults = {0};
        pl_blob blobs[2] = {load(SCANS "admm_bunny_1124.node"), load(SCANS "admm_bunny_1124.ele")};
        ck_assert_int_eq(read_blobs(PL_MESH_TETGEN, blobs, &mesh, &faults), PL_OK);
        free((void *)blobs[0].data);
        free((void *)blobs[1].data);
        for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
            size = fmax(size, fabs(mesh.vertices[i] - mesh.vertices[i % 3]));
        contact_scene_add_mesh(&s, &mesh, (double[]){0.021 * size * k, 0.013 * size * k, 0});
    }
    contact_scene_finish(&s);
    ck_assert_int_gt(check_scene(&s, 0.02 * size), 500);
    contact_scene_clear(&s);
}
END_TEST

/* ---- one pair a touch ---- */

static int64_t count_kind(const pl_contact_pairs *pairs, pl_contact_kind kind)
{
    int64_t count = 0;
    for (int64_t i = 0; i < pairs->count; i++)
        count += pairs->pair[i].kind == kind;
    return count;
}

/* A plane of cells x cells squares of side 1 around the origin, at height z. */
static void add_plane(contact_scene *s, int cells, double z)
{
    pl_mesh mesh;
    const double size[2] = {cells, cells};
    const int32_t each[2] = {cells, cells};
    ck_assert_int_eq(pl_mesh_cloth(size, each, PL_MESH_DIAGONAL_UP, &mesh), PL_OK);
    contact_scene_add_mesh(s, &mesh, (double[]){0, 0, z});
}

static bool cross_in_plane(const double *a, const double *b, const double *c, const double *d)
{
    double one = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    double two = (b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]);
    double three = (d[0] - c[0]) * (a[1] - c[1]) - (d[1] - c[1]) * (a[0] - c[0]);
    double four = (d[0] - c[0]) * (b[1] - c[1]) - (d[1] - c[1]) * (b[0] - c[0]);
    return one * two < 0 && three * four < 0;
}

/* Edges of two bodies that cross, seen from above, among those at the two heights. */
static int64_t crossings_from_above(const contact_scene *s, double low, double high)
{
    const pl_contact_surface *f = s->surface;
    int64_t count = 0;
    for (int32_t a = 0; a < f->edges; a++)
        for (int32_t b = 0; b < f->edges; b++) {
            const double *e[4];
            for (int k = 0; k < 4; k++)
                e[k] = s->x + 3 * f->edge[2 * (k < 2 ? a : b) + k % 2];
            count += e[0][2] == low && e[1][2] == low && e[2][2] == high && e[3][2] == high &&
                     cross_in_plane(e[0], e[1], e[2], e[3]);
        }
    return count;
}

/* Turn all of a scene, so that nothing is along an axis and every zero is rounded; the third row of
 * the rotation's transpose is where up goes. */
static void turn_scene(contact_scene *s, double up[3])
{
    const double R[3][3] = {
        {2. / 3, -1. / 3, 2. / 3}, {2. / 3, 2. / 3, -1. / 3}, {-1. / 3, 2. / 3, 2. / 3}};
    for (int32_t v = 0; v < s->vertices; v++) {
        double x[3];
        memcpy(x, s->x + 3 * v, sizeof x);
        for (int c = 0; c < 3; c++)
            s->x[3 * v + c] = pl_vector_dot(R[c], x);
    }
    for (int c = 0; c < 3; c++)
        up[c] = R[c][2];
}

/* A box of one cell on a plane of squares: its four lower corners touch faces; every vertex of the
 * plane below it touches one face of it (or its diagonal); and edges that cross touch once. */
START_TEST(a_box_on_a_plane_touches_everywhere_once)
{
    for (int turned = 0; turned < 3; turned++) {
        contact_scene s = {0};
        pl_mesh box;
        add_plane(&s, 8, 0);
        double high = 0.01, angle = 0.3 * turned;
        ck_assert_int_eq(pl_mesh_box((double[]){3.3, 2.7, 2}, (int32_t[]){1, 1, 1}, &box), PL_OK);
        for (int v = 0; v < 8; v++) {
            double *x = box.vertices + 3 * v, x0 = x[0], x1 = x[1];
            x[0] = cos(angle) * x0 - sin(angle) * x1;
            x[1] = sin(angle) * x0 + cos(angle) * x1;
            x[2] = x[2] < 0 ? high : 2 + high;
        }
        contact_scene_add_mesh(&s, &box, (double[]){0.11, 0.23, 0});
        contact_scene_finish(&s);
        int64_t below = 0;
        for (int v = 0; v < 81; v++) { /* vertices of the plane below the box */
            double x = s.x[3 * v] - 0.11, y = s.x[3 * v + 1] - 0.23;
            below += fabs(cos(angle) * x + sin(angle) * y) < 1.65 &&
                     fabs(cos(angle) * y - sin(angle) * x) < 1.35;
        }
        int64_t crossing = crossings_from_above(&s, 0, high);
        double up[3];
        turn_scene(&s, up);
        pl_contact_pairs pairs = contact_scene_pairs(&s, s.x, 1.0001 * high, 1);
        int seen[200] = {0};
        for (int64_t i = 0; i < pairs.count; i++) {
            const pl_contact_pair *p = &pairs.pair[i];
            ck_assert_double_eq_tol(p->gap, high, 1e-12);
            ck_assert_double_eq_tol(fabs(pl_vector_dot(p->normal, up)), 1, 1e-12);
            if (p->kind != PL_CONTACT_EDGE_EDGE)
                ck_assert_int_eq(++seen[p->vertex[0]], 1);
        }
        ck_assert_int_eq(count_kind(&pairs, PL_CONTACT_VERTEX_TRIANGLE) +
                             count_kind(&pairs, PL_CONTACT_VERTEX_EDGE),
                         4 + below);
        ck_assert_int_eq(count_kind(&pairs, PL_CONTACT_EDGE_EDGE), crossing);
        pl_contact_pairs_clear(&pairs);
        contact_scene_clear(&s);
    }
}
END_TEST

/* Boxes of the same cells on each other: vertices on vertices, and no edge counts besides. */
START_TEST(stacked_boxes_touch_at_their_vertices)
{
    contact_scene s = {0};
    for (int k = 0; k < 2; k++) {
        pl_mesh box;
        ck_assert_int_eq(pl_mesh_box((double[]){1, 1, 1}, (int32_t[]){3, 3, 3}, &box), PL_OK);
        contact_scene_add_mesh(&s, &box, (double[]){0, 0, 1.01 * k});
    }
    contact_scene_finish(&s);
    int64_t crossing = crossings_from_above(&s, 0.5, 1.01 - 0.5);
    double up[3];
    turn_scene(&s, up);
    pl_contact_pairs pairs = contact_scene_pairs(&s, s.x, 0.05, 1);
    for (int64_t i = 0; i < pairs.count; i++)
        check_pair(&s, &pairs.pair[i], 0.05);
    ck_assert_int_eq(count_kind(&pairs, PL_CONTACT_VERTEX_VERTEX), 16);
    ck_assert_int_eq(pairs.count, 16 + count_kind(&pairs, PL_CONTACT_EDGE_EDGE));
    ck_assert_int_eq(count_kind(&pairs, PL_CONTACT_EDGE_EDGE), crossing);
    pl_contact_pairs_clear(&pairs);
    contact_scene_clear(&s);
}
END_TEST

/* The tip of a spike, of four triangles that meet there. */
static void add_spike(contact_scene *s, const double tip[3])
{
    double x[12] = {tip[0], tip[1], tip[2]};
    for (int k = 0; k < 3; k++) {
        x[3 + 3 * k] = tip[0] + 0.2 * cos(2 * k + 0.3);
        x[4 + 3 * k] = tip[1] + 0.2 * sin(2 * k + 0.3);
        x[5 + 3 * k] = tip[2] + 1;
    }
    contact_scene_add(s, x, 4, (int32_t[]){0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2}, 4, NULL, 0);
}

/* A crease along y: two triangles a side, the ridge up where slope < 0, a valley where > 0. */
static void add_crease(contact_scene *s, double slope)
{
    const double x[] = {0, -1, 0, 0, 1, 0, -1, -1, slope, -1, 1, slope, 1, -1, slope, 1, 1, slope};
    contact_scene_add(s, x, 6, (int32_t[]){0, 1, 3, 0, 3, 2, 0, 4, 5, 0, 5, 1}, 4, NULL, 0);
}

/* Near a ridge are two triangles, the edge between them and its neighbours: they give one pair. Above flat ground there
 * is one pair, whatever is below: a face, an edge, a vertex. In a valley there is one for each slope. */
START_TEST(a_crease_counts_once)
{
    const struct {
        double slope, at[3];
        int pairs;
        pl_contact_kind kind;
    } cases[] = {
        {-0.5, {0, 0.3, 0.01}, 1, PL_CONTACT_VERTEX_EDGE},
        {-0.5, {0.002, 0.3, 0.01}, 1, PL_CONTACT_VERTEX_EDGE},
        {-0.5, {0.1, 0.3, 0.0}, 1, PL_CONTACT_VERTEX_TRIANGLE},
        {0, {0, 0.3, 0.01}, 1, PL_CONTACT_VERTEX_EDGE},
        {0, {0.1, 0.3, 0.01}, 1, PL_CONTACT_VERTEX_TRIANGLE},
        {0.1, {0, 0.3, 0.01}, 2, PL_CONTACT_VERTEX_TRIANGLE},
        {-0.5, {0, 1.01, 0.01}, 1, PL_CONTACT_VERTEX_VERTEX},
        {0, {1.01, 1.01, 0.01}, 1, PL_CONTACT_VERTEX_VERTEX},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        contact_scene s = {0};
        add_crease(&s, cases[k].slope);
        add_spike(&s, cases[k].at);
        contact_scene_finish(&s);
        pl_contact_pairs pairs = contact_scene_pairs(&s, s.x, 0.06, 1);
        int64_t found = 0;
        for (int64_t i = 0; i < pairs.count; i++)
            found += pairs.pair[i].kind != PL_CONTACT_EDGE_EDGE;
        ck_assert_msg(found == cases[k].pairs, "case %zu: %lld", k, (long long)found);
        ck_assert_int_eq(count_kind(&pairs, cases[k].kind), cases[k].pairs);
        pl_contact_pairs_clear(&pairs);
        contact_scene_clear(&s);
    }
}
END_TEST

/* Crossing ridges touch once, edge on edge. A spike over a ridge has no edge pairs. */
START_TEST(crossing_ridges_are_one_pair)
{
    contact_scene s = {0};
    double x[18];
    int32_t triangle[12];
    add_crease(&s, -0.5);
    memcpy(triangle, s.triangle, sizeof triangle);
    for (int v = 0; v < 6; v++) { /* turned by a right angle, and upside down */
        x[3 * v] = s.x[3 * v + 1];
        x[3 * v + 1] = s.x[3 * v];
        x[3 * v + 2] = 0.02 - s.x[3 * v + 2];
    }
    contact_scene_add(&s, x, 6, triangle, 4, NULL, 0);
    contact_scene_finish(&s);
    pl_contact_pairs pairs = contact_scene_pairs(&s, s.x, 0.06, 1);
    ck_assert_int_eq(pairs.count, 1);
    ck_assert_int_eq(pairs.pair[0].kind, PL_CONTACT_EDGE_EDGE);
    ck_assert_double_eq_tol(pairs.pair[0].gap, 0.02, 1e-15);
    pl_contact_pairs_clear(&pairs);
    contact_scene_clear(&s);
}
END_TEST

/* A flat edge below one that is aslant by 0.1: the direction between them leaves the flat edge's region
 * by that angle. */
START_TEST(regions_may_be_widened)
{
    contact_scene s = {0};
    int32_t triangle[12];
    double x[18];
    add_crease(&s, 0);
    memcpy(triangle, s.triangle, sizeof triangle);
    for (int v = 0; v < 6; v++) {
        x[3 * v] = s.x[3 * v + 1];
        x[3 * v + 1] = s.x[3 * v];
        x[3 * v + 2] = 0.02 + 0.1 * s.x[3 * v + 1];
    }
    contact_scene_add(&s, x, 6, triangle, 4, NULL, 0);
    contact_scene_finish(&s);
    ck_assert_int_eq(pl_contact_trees_update(s.trees, s.x, s.x, 0.03, 1), PL_OK);
    const double sine = 0.1 / sqrt(1.01), widen[] = {0, sine - 1e-6, sine + 1e-6, 1};
    for (int k = 0; k < 4; k++) {
        const pl_contact_rules rules = {.reach = 0.03, .widen = widen[k]};
        pl_contact_pairs pairs;
        bool found = false;
        ck_assert_int_eq(pl_contact_pairs_find(s.trees, s.x, &rules, 1, &pairs), PL_OK);
        for (int64_t i = 0; i < pairs.count; i++) {
            const int32_t *v = pairs.pair[i].vertex;
            found |= pairs.pair[i].kind == PL_CONTACT_EDGE_EDGE && v[0] == 0 && v[1] == 1 &&
                     v[2] == 6 && v[3] == 7;
        }
        ck_assert_int_eq(found, k >= 2);
        pl_contact_pairs_clear(&pairs);
    }
    contact_scene_clear(&s);
}
END_TEST

/* The side is that of the source's orientation, whichever way the corners are sorted. */
START_TEST(the_side_is_the_triangle_s)
{
    const int32_t orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int n = 0; n < 12; n++) {
        contact_scene s = {0};
        contact_scene_add(&s, (double[]){0, 0, 0, 1, 0, 0, 0, 1, 0}, 3, orders[n % 6], 1, NULL, 0);
        double high = n < 6 ? 0.01 : -0.01;
        contact_scene_add(&s, (double[]){0.2, 0.2, high, 0.2, 0.2, 100 * high}, 2, NULL, 0,
                          (int32_t[]){0, 1}, 1);
        contact_scene_finish(&s);
        pl_contact_pairs pairs = contact_scene_pairs(&s, s.x, 0.1, 1);
        ck_assert_int_eq(pairs.count, 1);
        ck_assert_int_eq(pairs.pair[0].side, (n < 6) == (n % 6 < 3) ? 1 : -1);
        ck_assert_double_eq(pairs.pair[0].normal[2], n < 6 ? 1 : -1);
        pl_contact_pairs_clear(&pairs);
        contact_scene_clear(&s);
    }
}
END_TEST

/* ---- filter, threads, hostile input ---- */

START_TEST(bodies_may_ignore_each_other)
{
    uint64_t seed = 3;
    contact_scene s = {0};
    for (int k = 0; k < 3; k++)
        add_soup(&s, 30, 8, &seed);
    contact_scene_finish(&s);
    pl_contact_pairs all = contact_scene_pairs(&s, s.x, 0.2, 2), some;
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++) {
            uint8_t ignore[9] = {0};
            ignore[3 * a + b] = ignore[3 * b + a] = 1;
            const pl_contact_filter filter = {3, ignore};
            const pl_contact_rules rules = {.reach = 0.2, .filter = &filter};
            ck_assert_int_eq(pl_contact_pairs_find(s.trees, s.x, &rules, 2, &some), PL_OK);
            int64_t at = 0;
            for (int64_t i = 0; i < all.count; i++) {
                const pl_contact_pair *p = &all.pair[i];
                int first = s.body[p->vertex[0]];
                int second = s.body[p->vertex[pl_contact_corners[p->kind][0]]];
                if ((first == a && second == b) || (first == b && second == a))
                    continue;
                ck_assert(memcmp(p, &some.pair[at++], sizeof *p) == 0);
            }
            ck_assert_int_eq(at, some.count);
            ck_assert_int_lt(some.count, all.count);
            pl_contact_pairs_clear(&some);
        }
    pl_contact_pairs_clear(&all);
    contact_scene_clear(&s);
}
END_TEST

/* The same bytes on one to four threads, after a build and after refits of another history. */
START_TEST(threads_and_trees_give_the_same_list)
{
    uint64_t seed = 4;
    contact_scene s = {0};
    for (int k = 0; k < 27; k++) {
        pl_mesh ball;
        ck_assert_int_eq(pl_mesh_sphere(0.5, 6, &ball), PL_OK);
        contact_scene_add_mesh(&s, &ball, (double[]){k % 3 * 1.0, k / 3 % 3 * 1.0, k / 9 * 1.0});
    }
    contact_scene_finish(&s);
    pl_contact_pairs first = contact_scene_pairs(&s, s.x, 0.05, 1);
    ck_assert_int_gt(first.count, 400);
    double *x = malloc((size_t)s.vertices * 3 * sizeof *x);
    for (int n = 0; n < 12; n++) {
        for (int64_t i = 0; i < 3 * (int64_t)s.vertices; i++)
            x[i] = s.x[i] + (n % 4 == 3 ? 1 : 0.02) * contact_draw(&seed);
        ck_assert_int_eq(pl_contact_trees_update(s.trees, x, s.x, 0.05, 1 + n % 4), PL_OK);
        pl_contact_pairs again = contact_scene_pairs(&s, s.x, 0.05, 1 + n % 4);
        ck_assert_int_eq(again.count, first.count);
        ck_assert(memcmp(again.pair, first.pair, (size_t)first.count * sizeof *first.pair) == 0);
        pl_contact_pairs_clear(&again);
    }
    ck_assert(s.trees->builds > 1 && s.trees->refits > s.trees->builds);
    free(x);
    pl_contact_pairs_clear(&first);
    contact_scene_clear(&s);
}
END_TEST

static void take_all(const void *context, pl_contact_kind kind, int32_t a, int32_t b,
                     pl_contact_keys *out)
{
    pl_contact_keys_add(out, kind, a, b);
}

/* The candidates of every instruction set that this processor has. */
START_TEST(instruction_sets_find_the_same_candidates)
{
#if defined(__x86_64__)
    pl_contact_search_part *const parts[] = {pl_contact_search_part_v2, pl_contact_search_part_v3,
                                             pl_contact_search_part_v4};
#else
    pl_contact_search_part *const parts[] = {pl_contact_search_part_base};
#endif
    uint64_t seed = 6;
    contact_scene s = {0};
    add_soup(&s, 60, 16, &seed);
    add_soup(&s, 60, 0, &seed);
    contact_scene_finish(&s);
    ck_assert_int_eq(pl_contact_trees_update(s.trees, s.x, s.x, 0.2, 1), PL_OK);
    const pl_contact_search search = {s.trees, NULL, take_all, NULL, true, NULL};
    pl_contact_keys keys[PL_ISA_COUNT];
    for (int k = 0; k <= (int)pl_isa_current(); k++) {
        pl_contact_keys found = {.bits = pl_contact_keys_bits(s.surface)};
        parts[k](&search, &found);
        ck_assert_int_eq(pl_contact_keys_gather(&found, 1, 1, &keys[k]), PL_OK);
        ck_assert_int_gt(keys[k].count, 1000);
        ck_assert_int_eq(keys[k].count, keys[0].count);
        ck_assert(memcmp(keys[k].key, keys[0].key, (size_t)keys[0].count * sizeof(uint64_t)) == 0);
    }
    for (int k = 0; k <= (int)pl_isa_current(); k++)
        pl_contact_keys_clear(&keys[k]);
    contact_scene_clear(&s);
}
END_TEST

START_TEST(hostile_positions_do_no_harm)
{
    uint64_t seed = 5;
    for (int n = 0; n < 8; n++) {
        contact_scene s = {0};
        add_soup(&s, 20, 8, &seed);
        contact_scene_finish(&s);
        for (int64_t i = 0; i < 3 * (int64_t)s.vertices; i++) {
            double *x = &s.x[i];
            *x = n == 0   ? 0                     /* one point */
                 : n == 1 ? (i % 3 == 0 ? *x : 0) /* one line */
                 : n == 2 ? (i % 3 == 2 ? 0 : *x) /* one plane */
                 : n == 3 ? 1e-300 * *x
                 : n == 4 ? 1e15 * *x
                 : n == 5 ? 1e17 + *x
                 : n == 6 ? round(2 * *x)
                          : *x * pow(10, (double)(i % 40) - 30);
        }
        for (int wide = 0; wide < 2; wide++) {
            pl_contact_pairs pairs = contact_scene_pairs(&s, s.x, wide ? 1e16 : 0.1, 2);
            for (int64_t i = 0; i < pairs.count; i++)
                for (int c = 0; c < 3; c++)
                    ck_assert(isfinite(pairs.pair[i].normal[c]) && isfinite(pairs.pair[i].gap));
            pl_contact_pairs_clear(&pairs);
        }
        s.x[n] = n % 2 ? NAN : INFINITY;
        ck_assert_int_eq(pl_contact_trees_update(s.trees, s.x, s.x, 0.1, 2), PL_FAILED);
        s.x[n] = 0;
        ck_assert_int_eq(pl_contact_trees_update(s.trees, s.x, s.x, 0.1, 2), PL_OK);
        contact_scene_clear(&s);
    }
}
END_TEST

START_TEST(one_triangle_touches_nothing)
{
    contact_scene s = {0};
    contact_scene_add(&s, (double[]){0, 0, 0, 1, 0, 0, 0, 1, 0}, 3, (int32_t[]){0, 1, 2}, 1, NULL,
                      0);
    contact_scene_finish(&s);
    pl_contact_pairs pairs = contact_scene_pairs(&s, s.x, 10, 4);
    ck_assert_int_eq(pairs.count, 0);
    pl_contact_pairs_clear(&pairs);
    contact_scene_clear(&s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("pairs");
    tcase_add_test(t, pairs_of_random_soups_are_those_of_a_search);
    tcase_add_test(t, pairs_of_meshes_are_those_of_a_search);
    tcase_add_test(t, pairs_of_a_scan_are_those_of_a_search);
    tcase_add_test(t, a_box_on_a_plane_touches_everywhere_once);
    tcase_add_test(t, stacked_boxes_touch_at_their_vertices);
    tcase_add_test(t, a_crease_counts_once);
    tcase_add_test(t, crossing_ridges_are_one_pair);
    tcase_add_test(t, regions_may_be_widened);
    tcase_add_test(t, the_side_is_the_triangle_s);
    tcase_add_test(t, bodies_may_ignore_each_other);
    tcase_add_test(t, threads_and_trees_give_the_same_list);
    tcase_add_test(t, instruction_sets_find_the_same_candidates);
    tcase_add_test(t, hostile_positions_do_no_harm);
    tcase_add_test(t, one_triangle_touches_nothing);
    return run_cases("contact_pairs", t);
}
