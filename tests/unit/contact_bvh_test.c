/* The tree against all pairs of boxes, and its bits on one to four threads. */
#include "engine/contact/bvh.h"
#include "engine/contact/radix.h"
#include "engine/contact/visit.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed;

START_TEST(radix_sort_is_stable)
{
    for (int64_t n = 0; n < 200000; n = 3 * n + 1)
        for (int bits = 0; bits <= 64; bits += 16)
            for (int threads = 1; threads <= 4; threads++) {
                pl_radix_items a = {malloc((size_t)(n + 1) * 8), malloc((size_t)(n + 1) * 4)};
                pl_radix_items b = {malloc((size_t)(n + 1) * 8), malloc((size_t)(n + 1) * 4)};
                uint64_t *key = malloc((size_t)(n + 1) * 8);
                seed = 7;
                for (int64_t i = 0; i < n; i++) {
                    contact_draw(&seed);
                    key[i] = bits == 64 ? seed : seed >> 20 & (((uint64_t)1 << bits) - 1);
                    if (i % 3 == 0 && i > 0)
                        key[i] = key[i / 2];
                    a.key[i] = key[i];
                    a.value[i] = (int32_t)i;
                }
                ck_assert(pl_radix_sort(n, bits, &a, &b, threads));
                for (int64_t i = 0; i < n; i++) {
                    bool ordered = i == 0 || a.key[i - 1] < a.key[i] ||
                                   (a.key[i - 1] == a.key[i] && a.value[i - 1] < a.value[i]);
                    if (!ordered || a.key[i] != key[a.value[i]])
                        ck_abort_msg("item %lld of %lld", (long long)i, (long long)n);
                }
                free(a.key);
                free(a.value);
                free(b.key);
                free(b.value);
                free(key);
            }
}
END_TEST

/* ---- items of random size, place and move ---- */

typedef struct items {
    int32_t count, corners, *corner;
    double *x0, *x1;
} items;

static items draw_items(int32_t count, int corners, int flavour)
{
    int64_t n = (int64_t)count * corners;
    items m = {count, corners, malloc((size_t)(n + 1) * sizeof *m.corner),
               malloc((size_t)(3 * n + 1) * sizeof *m.x0),
               malloc((size_t)(3 * n + 1) * sizeof *m.x1)};
    double size = pow(count + 1, -1.0 / 3), at[3] = {0};
    for (int64_t i = 0; i < n; i++) {
        m.corner[i] = (int32_t)i;
        for (int c = 0; c < 3; c++) {
            if (i % corners == 0)
                at[c] = contact_draw(&seed);
            m.x0[3 * i + c] = at[c] + size * contact_draw(&seed);
            if (flavour == 1) /* all in one point */
                m.x0[3 * i + c] = 5;
            if (flavour == 2) /* small bodies in a wide scene, and far from the origin */
                m.x0[3 * i + c] = 1e6 + (i % 97 == 0 ? 1e3 : 1e-3) * at[c];
            m.x1[3 * i + c] = m.x0[3 * i + c] + (i % 7 ? 0.1 : 1) * size * contact_draw(&seed);
        }
        if (flavour == 3)
            m.x0[3 * i + 2] = m.x1[3 * i + 2] = 0;
    }
    return m;
}

static void items_clear(items *m)
{
    free(m->corner);
    free(m->x0);
    free(m->x1);
}

static void bound(const items *m, const double *x, int32_t item, double lo[3], double hi[3])
{
    for (int k = 0; k < m->corners; k++)
        for (int c = 0; c < 3; c++) {
            lo[c] = fmin(lo[c], x[3 * ((int64_t)m->corners * item + k) + c]);
            hi[c] = fmax(hi[c], x[3 * ((int64_t)m->corners * item + k) + c]);
        }
}

typedef struct box {
    double lo[3], hi[3];
} box;

/* Each item's swept box, [count] on the heap. */
static box *boxes_of(const items *m)
{
    box *boxes = malloc(((size_t)m->count + 1) * sizeof *boxes);
    for (int32_t i = 0; i < m->count; i++) {
        boxes[i] = (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        bound(m, m->x0, i, boxes[i].lo, boxes[i].hi);
        bound(m, m->x1, i, boxes[i].lo, boxes[i].hi);
    }
    return boxes;
}

/* How far two boxes are from each other, along the worst axis. */
static double apart(const box *a, const box *b)
{
    double most = -INFINITY;
    for (int c = 0; c < 3; c++) {
        most = a->lo[c] - b->hi[c] > most ? a->lo[c] - b->hi[c] : most;
        most = b->lo[c] - a->hi[c] > most ? b->lo[c] - a->hi[c] : most;
    }
    return most;
}

typedef struct found {
    uint8_t *seen; /* [count][count] */
    int32_t count;
} found;

static void mark(void *context, int32_t query, int32_t item)
{
    found *f = context;
    uint8_t *to =
        &f->seen[(int64_t)(query < item ? query : item) * f->count + (query < item ? item : query)];
    if (*to)
        ck_abort_msg("%d %d twice", query, item);
    *to = 1;
}

/* fine: boxes are larger than the rounding of the scene's. */
static void check_pairs(const items *m, const pl_bvh *bvh, const pl_contact_move *move, bool fine)
{
    found f = {calloc((size_t)m->count * (size_t)m->count + 1, 1), m->count};
    for (int32_t leaf = 0; bvh->levels && leaf < bvh->nodes[0]; leaf++)
        pl_bvh_visit(bvh, leaf, bvh, mark, &f);
    int64_t all = 0, over = 0;
    box *boxes = boxes_of(m);
    for (int32_t i = 0; i < m->count; i++)
        for (int32_t j = i + 1; j < m->count; j++) {
            double d = apart(&boxes[i], &boxes[j]);
            bool seen = f.seen[(int64_t)i * m->count + j];
            if (!seen && d <= move->reach)
                ck_abort_msg("%d %d are missed, %g apart", i, j, d);
            if (seen && d > move->reach + 2e-6 * (move->extent + move->reach))
                ck_abort_msg("%d %d are found, %g apart", i, j, d);
            all += seen;
            over += d > move->reach && seen;
        }
    if (fine)
        ck_assert_int_le(over, all / 10 + 10);
    free(boxes);
    free(f.seen);
}

/* Rounding goes outwards: a box contains its item's with half the reach, in long double. */
START_TEST(boxes_contain_their_items)
{
    seed = 6;
    for (int flavour = 0; flavour < 4; flavour++) {
        items m = draw_items(2000, 2, flavour);
        pl_contact_move move = {.x0 = m.x0, .x1 = m.x1, .reach = 0.01};
        pl_bvh bvh;
        ck_assert_int_eq(pl_bvh_create(m.count, m.corners, m.corner, &bvh), PL_OK);
        ck_assert_int_eq(pl_contact_move_bound(&move, m.corner, 4000, 1), PL_OK);
        ck_assert_int_eq(pl_bvh_build(&bvh, &move, 1), PL_OK);
        for (int32_t p = 0; p < m.count; p++) {
            double lo[3] = {INFINITY, INFINITY, INFINITY},
                   hi[3] = {-INFINITY, -INFINITY, -INFINITY};
            const pl_bvh_node *n = &bvh.level[0][p / PL_BVH_WIDTH];
            bound(&m, m.x0, bvh.order[p], lo, hi);
            bound(&m, m.x1, bvh.order[p], lo, hi);
            for (int c = 0; c < 3; c++) {
                long double low = (long double)lo[c] - move.centre[c] - 0.5L * move.reach;
                long double high = (long double)hi[c] - move.centre[c] + 0.5L * move.reach;
                if (n->lo[c][p % PL_BVH_WIDTH] > low || n->hi[c][p % PL_BVH_WIDTH] < high)
                    ck_abort_msg("item %d sticks out", bvh.order[p]);
            }
        }
        pl_bvh_clear(&bvh);
        items_clear(&m);
    }
}
END_TEST

START_TEST(pairs_are_those_of_all_boxes)
{
    const int32_t counts[] = {0, 1, 2, 7, 8, 9, 64, 65, 513, 1000};
    seed = 1;
    for (int n = 0; n < 120; n++) {
        int flavour = n / 30;
        items m = draw_items(counts[n % 10], 1 + n / 10 % 3, flavour);
        int32_t vertices = m.count * m.corners;
        pl_contact_move move = {.x0 = m.x0, .x1 = m.x1, .reach = n % 2 ? 0 : 0.05};
        pl_bvh bvh;
        ck_assert_int_eq(pl_bvh_create(m.count, m.corners, m.corner, &bvh), PL_OK);
        ck_assert_int_eq(pl_contact_move_bound(&move, m.corner, vertices, 2), PL_OK);
        ck_assert_int_eq(pl_bvh_build(&bvh, &move, 2), PL_OK);
        check_pairs(&m, &bvh, &move, flavour != 2);
        /* moved on, in the order of before */
        for (int64_t i = 0; i < 3 * (int64_t)vertices; i++)
            m.x0[i] = m.x1[i] + 0.3 * contact_draw(&seed);
        ck_assert_int_eq(pl_contact_move_bound(&move, m.corner, vertices, 2), PL_OK);
        pl_bvh_refit(&bvh, &move, 2);
        check_pairs(&m, &bvh, &move, flavour != 2);
        pl_bvh_clear(&bvh);
        items_clear(&m);
    }
}
END_TEST

static void assert_same_tree(const pl_bvh *a, const pl_bvh *b)
{
    ck_assert_int_eq(a->levels, b->levels);
    ck_assert(memcmp(a->order, b->order, (size_t)a->items * sizeof *a->order) == 0);
    for (int l = 0; l < a->levels; l++)
        ck_assert(memcmp(a->level[l], b->level[l], (size_t)a->nodes[l] * sizeof *a->level[l]) == 0);
    ck_assert(a->girth == b->girth);
}

START_TEST(threads_make_the_same_tree)
{
    for (int flavour = 0; flavour < 4; flavour++) {
        seed = 3;
        items m = draw_items(60000, 2, flavour);
        pl_bvh bvh[4];
        for (int k = 0; k < 4; k++) {
            pl_contact_move move = {.x0 = m.x0, .x1 = m.x1, .reach = 0.01};
            ck_assert_int_eq(pl_bvh_create(m.count, m.corners, m.corner, &bvh[k]), PL_OK);
            ck_assert_int_eq(pl_contact_move_bound(&move, m.corner, 120000, k + 1), PL_OK);
            ck_assert_int_eq(pl_bvh_build(&bvh[k], &move, k + 1), PL_OK);
            assert_same_tree(&bvh[0], &bvh[k]);
        }
        for (int k = 0; k < 4; k++)
            pl_bvh_clear(&bvh[k]);
        items_clear(&m);
    }
}
END_TEST

/* Neighbours in the order are neighbours in space: leaves of points are small. */
START_TEST(leaves_are_small)
{
    seed = 4;
    items m = draw_items(32768, 1, 0);
    memcpy(m.x1, m.x0, (size_t)m.count * 3 * sizeof *m.x0);
    pl_contact_move move = {.x0 = m.x0, .x1 = m.x1};
    pl_bvh bvh;
    ck_assert_int_eq(pl_bvh_create(m.count, 1, m.corner, &bvh), PL_OK);
    ck_assert_int_eq(pl_contact_move_bound(&move, m.corner, m.count, 1), PL_OK);
    ck_assert_int_eq(pl_bvh_build(&bvh, &move, 1), PL_OK);
    /* 4096 leaves in a cube of side 2: cells of 1/8; their extents are a little more */
    ck_assert_double_lt(bvh.girth, 4096 * 3 * 0.25);
    ck_assert_double_gt(bvh.girth, 4096 * 3 * 0.05);
    pl_bvh_clear(&bvh);
    items_clear(&m);
}
END_TEST

START_TEST(what_is_not_finite_is_refused)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e19, -1e300};
    seed = 5;
    items m = draw_items(100, 2, 0);
    for (int n = 0; n < 40; n++) {
        pl_contact_move move = {.x0 = m.x0, .x1 = m.x1, .reach = 0.1};
        double *place = (n % 2 ? m.x0 : m.x1) + (n * 37) % 600, was = *place;
        *place = bad[n % 5];
        ck_assert_int_eq(pl_contact_move_bound(&move, m.corner, 200, 1 + n % 4), PL_FAILED);
        *place = was;
        move.reach = n % 5 < 3 ? bad[n % 5] : -1;
        ck_assert_int_eq(pl_contact_move_bound(&move, m.corner, 200, 2), PL_FAILED);
        move.reach = 0;
        ck_assert_int_eq(pl_contact_move_bound(&move, m.corner, 200, 2), PL_OK);
    }
    items_clear(&m);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("bvh");
    tcase_add_test(t, radix_sort_is_stable);
    tcase_add_test(t, boxes_contain_their_items);
    tcase_add_test(t, pairs_are_those_of_all_boxes);
    tcase_add_test(t, threads_make_the_same_tree);
    tcase_add_test(t, leaves_are_small);
    tcase_add_test(t, what_is_not_finite_is_refused);
    return run_cases("contact_bvh", t);
}
