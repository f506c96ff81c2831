/* The contacts of a scene over a step: which pairs meet, become rows and stay rows, what is measured, and what is
 * saved. */
#include "engine/contact/set.h"
#include "engine/vectors.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A block on the ground of two bodies, and a smaller block above it, at a distance. */
static const double D = 0.01, GAP = 0.05;
enum { BELOW, ABOVE };

typedef struct fixture {
    contact_scene scene;
    pl_contact_bodies bodies;
    pl_contact_set *set;
    double *compliance, *x; /* x: a place to go to, at first the start */
    uint8_t ignore[4];
    double distance[4], friction[4], restitution[4], gap;
} fixture;

static void open_at(fixture *f, double gap, bool turned)
{
    static const uint8_t solid[] = {1, 1};
    const double low[] = {0, 0, 0}, high[] = {0.2, 0.3, 1 + gap}, one[] = {1, 1, 1},
                 half[] = {0.5, 0.5, 0.5};
    const int32_t cells[] = {2, 2, 2};
    memset(f, 0, sizeof *f);
    f->scene.solid = solid;
    f->gap = gap;
    for (int k = 0; k < 2; k++) {
        bool upper = (k == 1) != turned;
        contact_scene_add_box(&f->scene, upper ? high : low, upper ? half : one, cells);
    }
    contact_scene_finish(&f->scene);
    for (int k = 0; k < 4; k++) {
        f->distance[k] = D;
        f->friction[k] = 0.5;
    }
    f->bodies = (pl_contact_bodies){.surface = f->scene.surface,
                                    .count = 2,
                                    .ignore = f->ignore,
                                    .distance = f->distance,
                                    .friction = f->friction,
                                    .restitution = f->restitution,
                                    .least = D,
                                    .most = D,
                                    .edge = 0.5,
                                    .rubs = true,
                                    .check = true};
    size_t n = (size_t)f->scene.vertices;
    f->compliance = malloc(n * sizeof *f->compliance);
    f->x = malloc(3 * n * sizeof *f->x);
    memcpy(f->x, f->scene.x, 3 * n * sizeof *f->x);
    for (size_t i = 0; i < n; i++)
        f->compliance[i] = 1e-3;
    ck_assert_int_eq(pl_contact_set_create(&f->bodies, f->compliance, 1, &f->set), PL_OK);
}

static void open_blocks(fixture *f)
{
    open_at(f, GAP, false);
}

static void close_blocks(fixture *f)
{
    pl_contact_set_destroy(f->set);
    contact_scene_clear(&f->scene);
    free(f->compliance);
    free(f->x);
}

static bool is_upper(const fixture *f, int32_t v)
{
    return f->scene.x[3 * v + 2] > 1;
}

/* The upper block returns to its start, moved by x and z. */
static const double *place(fixture *f, double dx, double dz)
{
    for (int32_t v = 0; v < f->scene.vertices; v++)
        for (int c = 0; c < 3; c++)
            f->x[3 * v + c] = f->scene.x[3 * v + c] + (is_upper(f, v) ? (c == 0   ? dx
                                                                         : c == 2 ? dz
                                                                                  : 0)
                                                                      : 0);
    return f->x;
}

static pl_contact_advance advance(fixture *f, double dx, double dz, pl_contact_keeping keeping)
{
    pl_contact_advance out;
    ck_assert_int_eq(pl_contact_set_advance(f->set, place(f, dx, dz), keeping, &out), PL_OK);
    return out;
}

static void begin(fixture *f, double dz)
{
    ck_assert_int_eq(pl_contact_set_begin(f->set, f->scene.x, place(f, 0, dz)), PL_OK);
}

static pl_contact_rows *rows_of(fixture *f)
{
    return pl_contact_set_rows(f->set);
}

/* Between the blocks every row pushes the upper one up. */
static void check_normals(fixture *f)
{
    const pl_contact_rows *rows = rows_of(f);
    ck_assert_int_gt(rows->count, 0);
    for (int64_t r = 0; r < rows->count; r++) {
        const pl_contact_row *row = &rows->row[r];
        const double up = is_upper(f, row->pair.vertex[0]) ? 1 : -1;
        ck_assert_double_gt(up * row->pair.normal[2], 0.5);
        ck_assert_double_eq(row->friction, 0.5);
        ck_assert_double_eq(row->distance, D);
        ck_assert_double_ge(up * row->start[2], f->gap - 1e-12);
    }
}

/* ---- moves ---- */

START_TEST(what_is_far_has_no_rows)
{
    fixture f;
    open_blocks(&f);
    begin(&f, 0); /* nothing is expected to move */
    ck_assert_int_eq(rows_of(&f)->count, 0);
    pl_contact_advance a = advance(&f, 0.1, 0.2, PL_CONTACT_MEASURED);
    ck_assert(a.reached && a.quiet && a.met == 0);
    close_blocks(&f);
}
END_TEST

START_TEST(what_comes_near_has_rows)
{
    fixture f;
    open_at(&f, 1.8 * D, false);
    begin(&f, -0.8 * D);
    check_normals(&f);
    pl_contact_advance a = advance(&f, 0, -0.8 * D, PL_CONTACT_MEASURED);
    ck_assert(a.reached && a.quiet && a.met == 0);
    close_blocks(&f);
}
END_TEST

/* Through the block below: pairs that meet are rows, and the safe place is short of it. From there the way to the same
 * answer is blocked again; the way to an answer above the surface is free. */
START_TEST(what_meets_becomes_rows)
{
    fixture f;
    open_blocks(&f);
    begin(&f, 0);
    for (int k = 0; k < 3; k++) {
        pl_contact_advance a = advance(&f, 0, -0.3, PL_CONTACT_MEASURED);
        ck_assert(!a.reached && !a.quiet && !a.fits);
        ck_assert_int_gt(a.met, 3);
        ck_assert(a.first.time > 0 && a.first.time < (k ? 1 : GAP / 0.3));
        check_normals(&f);
    }
    pl_contact_advance a = advance(&f, 0, D - GAP, PL_CONTACT_MEASURED);
    ck_assert(a.reached && a.met == 0 && !a.fits);
    a = advance(&f, 0, D - GAP, PL_CONTACT_KEPT);
    ck_assert(a.reached && a.fits);
    a = advance(&f, 0, D / 2 - GAP, PL_CONTACT_KEPT); /* reached, but too near */
    ck_assert(a.reached && !a.fits);
    close_blocks(&f);
}
END_TEST

static int64_t carrying(fixture *f)
{
    int64_t count = 0;
    for (int64_t r = 0; r < rows_of(f)->count; r++)
        count += rows_of(f)->row[r].force > 0;
    return count;
}

static int most_meetings(fixture *f)
{
    int most = 0;
    for (int64_t r = 0; r < rows_of(f)->count; r++)
        most = rows_of(f)->row[r].meetings > most ? rows_of(f)->row[r].meetings : most;
    return most;
}

/* Rows count the meetings of their features in a step, and a step begins without any. */
START_TEST(meetings_of_a_step_are_counted)
{
    fixture f;
    open_blocks(&f);
    begin(&f, -0.3);
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(most_meetings(&f), k);
        advance(&f, 0, -0.3, PL_CONTACT_MEASURED);
        pl_contact_rows_renew(rows_of(&f), f.x);
    }
    begin(&f, -0.3);
    ck_assert_int_gt(carrying(&f), 0);
    ck_assert_int_eq(most_meetings(&f), 0);
    close_blocks(&f);
}
END_TEST

START_TEST(who_does_not_check_reaches_everything)
{
    fixture f;
    open_blocks(&f);
    f.bodies.check = false;
    begin(&f, -0.3);
    pl_contact_advance a = advance(&f, 0, -0.3, PL_CONTACT_MEASURED);
    ck_assert(a.reached && !a.quiet);
    close_blocks(&f);
}
END_TEST

START_TEST(bodies_that_ignore_each_other_pass)
{
    fixture f;
    open_blocks(&f);
    f.ignore[1] = f.ignore[2] = 1;
    begin(&f, -0.3);
    ck_assert_int_eq(rows_of(&f)->count, 0);
    pl_contact_advance a = advance(&f, 0, -0.3, PL_CONTACT_MEASURED);
    ck_assert(a.reached && a.quiet);
    close_blocks(&f);
}
END_TEST

/* Surfaces that begin closer than their distance regain an eighth of it in a step. */
START_TEST(what_begins_too_close_regains_some)
{
    fixture f;
    open_at(&f, 0.4 * D, false);
    begin(&f, 0);
    ck_assert_int_gt(rows_of(&f)->count, 0);
    for (int64_t r = 0; r < rows_of(&f)->count; r++)
        ck_assert_double_eq_tol(rows_of(&f)->row[r].distance, 0.525 * D, 1e-12);
    pl_contact_advance a = advance(&f, 0, 0, PL_CONTACT_MEASURED);
    a = advance(&f, 0, 0, PL_CONTACT_KEPT);
    ck_assert(a.reached && !a.fits);
    a = advance(&f, 0, 0.125 * D, PL_CONTACT_KEPT);
    ck_assert(a.reached && a.fits);
    close_blocks(&f);
}
END_TEST

/* ---- rows that are kept ---- */

/* Presses the upper block down until rows carry force, at a place that is reached. */
static void press(fixture *f)
{
    begin(f, -0.3);
    advance(f, 0, 0.5 * D - GAP, PL_CONTACT_MEASURED);
    pl_contact_rows_renew(rows_of(f), place(f, 0.002, 0.5 * D - GAP));
}

START_TEST(rows_with_force_stay)
{
    fixture f;
    open_blocks(&f);
    press(&f);
    int64_t before = carrying(&f);
    ck_assert_int_gt(before, 3);
    pl_contact_advance a = advance(&f, 0, 0.5, PL_CONTACT_MEASURED); /* far above */
    ck_assert(a.reached && !a.quiet);
    ck_assert_int_eq(carrying(&f), before);
    ck_assert_int_eq(rows_of(&f)->count, before);
    pl_contact_rows_renew(rows_of(&f), f.x);
    ck_assert_int_eq(carrying(&f), 0);
    advance(&f, 0, 0.5, PL_CONTACT_MEASURED);
    ck_assert_int_eq(rows_of(&f)->count, 0);
    close_blocks(&f);
}
END_TEST

/* Normals and starts stay, bit by bit, though the block has slid; newly met pairs have new rows. */
START_TEST(kept_rows_do_not_change)
{
    fixture f;
    open_blocks(&f);
    press(&f);
    advance(&f, 0, 0.5 * D - GAP, PL_CONTACT_MEASURED);
    const int64_t count = rows_of(&f)->count;
    pl_contact_row *before = malloc((size_t)count * sizeof *before);
    memcpy(before, rows_of(&f)->row, (size_t)count * sizeof *before);
    pl_contact_advance a = advance(&f, 0.13, 0.3 * D - GAP, PL_CONTACT_KEPT);
    ck_assert(a.reached && !a.fits);
    ck_assert_int_gt(rows_of(&f)->count, count);
    for (int64_t r = 0, at = 0; r < count; r++, at++) {
        const pl_contact_row *row = &rows_of(&f)->row[at];
        while (row->pair.kind != before[r].pair.kind ||
               memcmp(row->pair.feature, before[r].pair.feature, sizeof row->pair.feature) != 0) {
            ck_assert_int_lt(++at, rows_of(&f)->count);
            row = &rows_of(&f)->row[at];
        }
        if (row->pair.gap > 0.45 * D) { /* otherwise it was tight, and is measured again */
            ck_assert_mem_eq(row->pair.weight, before[r].pair.weight, sizeof row->pair.weight);
            ck_assert_mem_eq(row->start, before[r].start, sizeof row->start);
        }
        ck_assert_double_eq(row->force, before[r].force);
    }
    free(before);
    close_blocks(&f);
}
END_TEST

/* Largest offset of a pushing row's point from its normal, m. */
static double most_offset(fixture *f)
{
    double most = 0;
    for (int64_t r = 0; r < rows_of(f)->count; r++) {
        pl_contact_row row = rows_of(f)->row[r];
        double way[3];
        memset(row.start, 0, sizeof row.start);
        pl_contact_row_slip(&row, f->x, way);
        most = row.force > 0 ? fmax(most, sqrt(pl_vector_dot(way, way))) : most;
    }
    return most;
}

/* Where all gaps fit, askew rows are measured again and keep their forces; another time only if the offset halved. */
START_TEST(askew_rows_are_measured_again)
{
    const double aside = D / 2, fits = D - GAP;
    fixture f;
    open_blocks(&f);
    press(&f);
    const int64_t before = carrying(&f);
    pl_contact_advance a = advance(&f, aside, fits, PL_CONTACT_KEPT);
    ck_assert(a.reached && a.fits);
    ck_assert_double_eq_tol(most_offset(&f), aside, 1e-9);
    a = advance(&f, aside / 100, fits, PL_CONTACT_STRAIGHT); /* not worth it */
    ck_assert(a.reached && a.fits);
    a = advance(&f, aside, fits, PL_CONTACT_STRAIGHT);
    ck_assert(a.reached && !a.fits);
    ck_assert_double_le(most_offset(&f), 1e-9);
    ck_assert_int_eq(carrying(&f), before);
    a = advance(&f, 1.4 * aside, fits, PL_CONTACT_STRAIGHT);
    ck_assert(a.reached && !a.fits);
    a = advance(&f, 1.8 * aside, fits, PL_CONTACT_STRAIGHT); /* it does not help */
    ck_assert(a.reached && a.fits);
    close_blocks(&f);
}
END_TEST

static bool is_same_pair(const pl_contact_row *a, const pl_contact_row *b)
{
    return a->pair.kind == b->pair.kind &&
           memcmp(a->pair.feature, b->pair.feature, sizeof a->pair.feature) == 0;
}

/* Answers that go to and fro between two places, too close at each: at first rows turn with them, then their pairs
 * have further rows, FURTHER at most, in order. Returns how many. */
static int64_t go_to_and_fro(fixture *f, int rounds)
{
    int64_t further = 0;
    for (int k = 0; k < rounds; k++) {
        pl_contact_advance a = advance(f, k % 2 ? 0.13 : 0.1, 0.3 * D - GAP, PL_CONTACT_KEPT);
        ck_assert(a.reached && !a.fits);
        pl_contact_rows_renew(rows_of(f), f->x);
    }
    for (int64_t r = 0; r < rows_of(f)->count; r++) {
        const pl_contact_row *row = &rows_of(f)->row[r];
        ck_assert(row->again == 0 ||
                  (r > 0 && is_same_pair(row, row - 1) && row->again == row[-1].again + 1));
        further += row->again > 0;
    }
    return further;
}

START_TEST(pairs_that_stay_too_close_have_further_rows)
{
    fixture f;
    open_blocks(&f);
    press(&f);
    ck_assert_int_eq(go_to_and_fro(&f, 3), 0);
    const int64_t pairs = rows_of(&f)->count, further = go_to_and_fro(&f, 2);
    ck_assert_int_gt(further, 4);
    ck_assert_int_eq(rows_of(&f)->count, pairs + further);
    const int64_t most = go_to_and_fro(&f, 12);
    ck_assert_int_ge(most, 3 * further);
    ck_assert_int_eq(go_to_and_fro(&f, 3), most);
    /* The others stay where they were measured. */
    bool differ = false;
    for (int64_t r = 1; r < rows_of(&f)->count; r++) {
        const pl_contact_row *row = &rows_of(&f)->row[r];
        differ = differ || (row->again > 0 && memcmp(row->pair.weight, row[-1].pair.weight,
                                                     sizeof row->pair.weight) != 0);
    }
    ck_assert(differ);
    close_blocks(&f);
}
END_TEST

static double all_force(fixture *f)
{
    double sum = 0;
    for (int64_t r = 0; r < rows_of(f)->count; r++)
        sum += rows_of(f)->row[r].force;
    return sum;
}

/* Where rows are not kept, and in the next step, a pair has one row, with the forces of all. */
START_TEST(further_rows_are_folded)
{
    fixture f;
    open_blocks(&f);
    press(&f);
    ck_assert_int_gt(go_to_and_fro(&f, 9), 4);
    const double before = all_force(&f);
    ck_assert_double_gt(before, 0);
    advance(&f, 0.1, 0.3 * D - GAP, PL_CONTACT_MEASURED);
    ck_assert_double_eq_tol(all_force(&f), before, 1e-12 * before);
    for (int64_t r = 0; r < rows_of(&f)->count; r++)
        ck_assert_int_eq(rows_of(&f)->row[r].again, 0);
    begin(&f, -0.1);
    for (int64_t r = 0; r < rows_of(&f)->count; r++)
        ck_assert_int_eq(rows_of(&f)->row[r].turns, 0);
    close_blocks(&f);
}
END_TEST

/* ---- what is measured ---- */

/* Of the lower body on the higher one, whichever is above. */
START_TEST(forces_between_bodies_are_those_of_rows)
{
    for (int turned = 0; turned < 2; turned++) {
        fixture f;
        open_at(&f, GAP, turned);
        press(&f);
        pl_contact_sums sums;
        double due[3] = {0}, taken = 0, size = 0;
        for (int64_t r = 0; r < rows_of(&f)->count; r++) {
            const pl_contact_row *row = &rows_of(&f)->row[r];
            const double on_upper = is_upper(&f, row->pair.vertex[0]) ? 1 : -1;
            double slip[3];
            pl_contact_row_slip(row, f.x, slip);
            for (int c = 0; c < 3; c++) {
                due[c] += on_upper * (row->force * row->pair.normal[c] - row->grip[c]);
                taken += row->grip[c] * slip[c];
            }
            size += row->force;
        }
        ck_assert_int_eq(pl_contact_set_measure(f.set, f.x, &sums), PL_OK);
        ck_assert_int_eq(sums.active, carrying(&f));
        ck_assert_int_eq(sums.count, 1);
        ck_assert_int_eq(sums.forces[0].body[0], 0);
        ck_assert_int_eq(sums.forces[0].body[1], 1);
        ck_assert_double_gt(due[2], 0.5 * size);
        ck_assert_double_gt(taken, 0);
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(sums.forces[0].newton[c], turned ? -due[c] : due[c],
                                    1e-12 * size);
        ck_assert_double_eq_tol(sums.taken, taken, 1e-12 * taken);
        ck_assert_double_eq_tol(sums.gap, 0.5 * D, 1e-12);
        close_blocks(&f);
    }
}
END_TEST

START_TEST(nothing_near_is_an_infinite_gap)
{
    fixture f;
    open_blocks(&f);
    begin(&f, 0);
    pl_contact_sums sums;
    ck_assert_int_eq(pl_contact_set_measure(f.set, f.x, &sums), PL_OK);
    ck_assert(isinf(sums.gap) && sums.count == 0 && sums.active == 0 && sums.taken == 0);
    close_blocks(&f);
}
END_TEST

START_TEST(positions_that_are_not_finite_are_refused)
{
    fixture f;
    pl_contact_advance a;
    open_blocks(&f);
    begin(&f, 0);
    f.x[f.scene.surface->vertex[1] * 3 + 1] = NAN;
    ck_assert_int_eq(pl_contact_set_advance(f.set, f.x, PL_CONTACT_MEASURED, &a), PL_FAILED);
    ck_assert_int_eq(pl_contact_set_begin(f.set, f.x, f.scene.x), PL_FAILED);
    close_blocks(&f);
}
END_TEST

/* ---- saving and restoring ---- */

static void compare_rows(fixture *a, fixture *b)
{
    ck_assert_int_eq(rows_of(a)->count, rows_of(b)->count);
    ck_assert_int_gt(rows_of(a)->count, 0);
    for (int64_t r = 0; r < rows_of(a)->count; r++) {
        const pl_contact_row *p = &rows_of(a)->row[r], *q = &rows_of(b)->row[r];
        ck_assert_mem_eq(p->pair.feature, q->pair.feature, sizeof p->pair.feature);
        ck_assert_mem_eq(p->pair.normal, q->pair.normal, sizeof p->pair.normal);
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq(p->grip[c], q->grip[c]);
        ck_assert_mem_eq(p->start, q->start, sizeof p->start);
        ck_assert(p->force == q->force && p->bound == q->bound && p->distance == q->distance &&
                  p->stiffness == q->stiffness);
    }
}

/* Of the first rows of pairs, and with _i of pairs that have further ones. */
START_TEST(what_is_saved_is_restored)
{
    fixture f, g;
    open_blocks(&f);
    open_blocks(&g);
    press(&f);
    if (_i)
        ck_assert_int_gt(go_to_and_fro(&f, 9), 4);
    const int64_t count = pl_contact_set_save(f.set, NULL);
    ck_assert(_i ? count < carrying(&f) : count == carrying(&f));
    pl_contact_memory *m = malloc((size_t)count * sizeof *m);
    ck_assert_int_eq(pl_contact_set_save(f.set, m), count);
    ck_assert(pl_contact_set_accepts(g.set, m, count));
    ck_assert(pl_contact_set_restore(g.set, m, count));
    begin(&f, -0.1);
    begin(&g, -0.1);
    ck_assert_int_eq(carrying(&f), count);
    compare_rows(&f, &g);
    ck_assert(pl_contact_set_restore(g.set, m, 0)); /* in place of what there is */
    begin(&g, -0.1);
    ck_assert_int_eq(carrying(&g), 0);
    free(m);
    close_blocks(&f);
    close_blocks(&g);
}
END_TEST

START_TEST(hostile_memory_is_refused)
{
    fixture f;
    open_blocks(&f);
    const int64_t v = f.scene.surface->vertices, e = f.scene.surface->edges,
                  t = f.scene.surface->triangles;
    const pl_contact_memory good[] = {{0, 0, 0, 1, {0}},     {0, 0, t - 1, 1, {0}},
                                      {0, v - 1, 0, 1, {0}}, {1, 0, 1, 1, {0}},
                                      {1, 0, e - 1, 1, {0}}, {2, v - 1, e - 1, 1, {1, 2, 3}},
                                      {3, 0, v - 1, 1, {0}}};
    enum { GOOD = sizeof good / sizeof *good };
    const pl_contact_memory bad[] = {
        {-1, 0, 0, 1, {0}},
        {4, 0, 0, 1, {0}},
        {INT64_C(1) << 32, 0, 0, 1, {0}},
        {0, -1, 0, 1, {0}},
        {0, v, 0, 1, {0}},
        {0, 0, -1, 1, {0}},
        {0, 0, t, 1, {0}},
        {1, e, 0, 1, {0}},
        {1, 0, e, 1, {0}},
        {2, v, 0, 1, {0}},
        {2, 0, e, 1, {0}},
        {3, v, 0, 1, {0}},
        {3, 0, v, 1, {0}},
        {0, INT64_C(1) << 40, 0, 1, {0}},
        {0, 0, 0, 0, {0}},
        {0, 0, 0, -1, {0}},
        {0, 0, 0, NAN, {0}},
        {0, 0, 0, INFINITY, {0}},
        {0, 0, 0, 1, {NAN}},
        {0, 0, 0, 1, {0, 0, INFINITY}},
    };
    ck_assert(pl_contact_set_accepts(f.set, NULL, 0));
    ck_assert(pl_contact_set_accepts(f.set, good, GOOD));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        ck_assert_msg(!pl_contact_set_accepts(f.set, &bad[k], 1), "case %zu", k);
    for (int i = 0; i < GOOD; i++)
        for (int j = 0; j <= i; j++) { /* twice the same, and in the wrong order */
            const pl_contact_memory two[] = {good[i], good[j]};
            ck_assert(!pl_contact_set_accepts(f.set, two, 2));
        }
    /* A saved state may name features with a common corner, which never touch. */
    const pl_contact_memory odd[] = {{0, 0, 0, 1, {0}}, {1, 0, 0, 1, {0}}, {3, 0, 0, 1, {5, 5, 5}}};
    ck_assert(pl_contact_set_accepts(f.set, odd, 3));
    ck_assert(pl_contact_set_restore(f.set, odd, 3));
    begin(&f, -0.1);
    for (int64_t r = 0; r < rows_of(&f)->count; r++)
        ck_assert(isfinite(rows_of(&f)->row[r].stiffness));
    close_blocks(&f);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("set");
    tcase_add_test(t, what_is_far_has_no_rows);
    tcase_add_test(t, what_comes_near_has_rows);
    tcase_add_test(t, what_meets_becomes_rows);
    tcase_add_test(t, meetings_of_a_step_are_counted);
    tcase_add_test(t, who_does_not_check_reaches_everything);
    tcase_add_test(t, bodies_that_ignore_each_other_pass);
    tcase_add_test(t, what_begins_too_close_regains_some);
    tcase_add_test(t, rows_with_force_stay);
    tcase_add_test(t, kept_rows_do_not_change);
    tcase_add_test(t, askew_rows_are_measured_again);
    tcase_add_test(t, pairs_that_stay_too_close_have_further_rows);
    tcase_add_test(t, further_rows_are_folded);
    tcase_add_test(t, forces_between_bodies_are_those_of_rows);
    tcase_add_test(t, nothing_near_is_an_infinite_gap);
    tcase_add_test(t, positions_that_are_not_finite_are_refused);
    tcase_add_loop_test(t, what_is_saved_is_restored, 0, 2);
    tcase_add_test(t, hostile_memory_is_refused);
    return run_cases("contact_set", t);
}
