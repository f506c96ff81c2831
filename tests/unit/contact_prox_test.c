/* The joint prox of contact rows: the conditions of its solution, from the rows' multipliers alone. */
#include "engine/contact/joint_prox.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 24, ROWS = 12, CASES = 20 };

static uint64_t seed;

static double draw(void)
{
    return contact_draw(&seed);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A pair of a random kind whose weights add up to 0; pairs share vertices. */
static pl_contact_pair draw_pair(int i)
{
    pl_contact_pair p = {.kind = (pl_contact_kind)(i % 4), .feature = {i, i}};
    const int first = pl_contact_corners[p.kind][0], all = first + pl_contact_corners[p.kind][1];
    double sum[2] = {0}, square = 0;
    for (int k = 0; k < 4; k++)
        p.vertex[k] = k < all ? (int32_t)((7 * i + 5 * k) % VERTICES) : -1;
    for (int k = 0; k < all; k++)
        sum[k >= first] += p.weight[k] = 0.1 + fabs(draw());
    for (int k = 0; k < all; k++)
        p.weight[k] /= k < first ? sum[0] : -sum[1];
    for (int c = 0; c < 3; c++) {
        p.normal[c] = draw() + (c == i % 3);
        square += p.normal[c] * p.normal[c];
    }
    for (int c = 0; c < 3; c++)
        p.normal[c] /= sqrt(square);
    return p;
}

typedef struct scene {
    pl_contact_rows rows;
    double give[VERTICES], v[3 * VERTICES], z[3 * VERTICES]; /* by vertex */
} scene;

static void draw_scene(scene *s, double friction)
{
    pl_contact_row *row = calloc(ROWS, sizeof *row);
    for (int i = 0; i < VERTICES; i++)
        s->give[i] = i % 6 == 5 ? 0 : 1e-3 * (0.6 + 0.4 * draw()); /* some are held */
    for (int i = 0; i < 3 * VERTICES; i++)
        s->v[i] = draw();
    for (int r = 0; r < ROWS; r++) {
        row[r] = (pl_contact_row){.pair = draw_pair(r), .distance = 0.01, .friction = friction};
        for (int k = 0; k < 4 && row[r].pair.vertex[k] >= 0; k++)
            for (int c = 0; c < 3; c++)
                row[r].start[c] += row[r].pair.weight[k] * s->v[3 * row[r].pair.vertex[k] + c];
        for (int c = 0; c < 3; c++)
            row[r].start[c] += 0.2 * draw();
    }
    ck_assert_int_eq(pl_contact_rows_init(&s->rows, VERTICES), PL_OK);
    ck_assert_int_eq(pl_contact_rows_set(&s->rows, row, ROWS, s->give), PL_OK);
}

/* As exact as can be: one call ends after some hundred sweeps, or fewer. */
static void solve(scene *s, int threads)
{
    pl_joint_prox prox = {0};
    double *v = malloc(3 * VERTICES * sizeof *v);
    for (int64_t i = 0; i < s->rows.touched; i++)
        memcpy(v + 3 * i, s->v + 3 * s->rows.vertex[i], 3 * sizeof *v);
    ck_assert_int_eq(pl_joint_prox_set(&prox, &s->rows, s->give), PL_OK);
    for (int k = 0; k < 1000; k++)
        pl_joint_prox_solve(&prox, &s->rows, v, 0, threads);
    memcpy(s->z, s->v, sizeof s->z);
    for (int64_t i = 0; i < s->rows.touched; i++)
        for (int c = 0; c < 3; c++)
            s->z[3 * s->rows.vertex[i] + c] += prox.moved[3 * i + c];
    free(v);
    pl_joint_prox_clear(&prox);
}

/* z - v = W^-1 C^T p, with p = f n - g of the multipliers that the rows have. */
static void assert_moved_by_forces(const scene *s)
{
    double force[3 * VERTICES] = {0};
    for (int r = 0; r < ROWS; r++) {
        const pl_contact_row *row = &s->rows.row[r];
        for (int k = 0; k < 4 && row->pair.vertex[k] >= 0; k++)
            for (int c = 0; c < 3; c++)
                force[3 * row->pair.vertex[k] + c] +=
                    row->pair.weight[k] * (row->force * row->pair.normal[c] - row->grip[c]);
    }
    for (int i = 0; i < 3 * VERTICES; i++)
        ck_assert_double_eq_tol(s->z[i] - s->v[i], s->give[i / 3] * force[i], 1e-12);
}

/* The laws of a row: Signorini's and Coulomb's. Returns 0, 1, 2: open, sticks, slips. */
static int assert_laws(const scene *s, const pl_contact_row *row)
{
    double r[3] = {0}, slip[3];
    for (int k = 0; k < 4 && row->pair.vertex[k] >= 0; k++)
        for (int c = 0; c < 3; c++)
            r[c] += row->pair.weight[k] * s->z[3 * row->pair.vertex[k] + c];
    const double *n = row->pair.normal, gap = dot(n, r) - row->distance;
    ck_assert_double_ge(gap, -1e-9);
    ck_assert_double_ge(row->force, 0);
    ck_assert_double_lt(row->force * gap, 1e-6);
    for (int c = 0; c < 3; c++)
        slip[c] = r[c] - row->start[c];
    const double along = dot(n, slip), grip = sqrt(dot(row->grip, row->grip));
    for (int c = 0; c < 3; c++)
        slip[c] -= along * n[c];
    const double length = sqrt(dot(slip, slip)), most = row->friction * row->force;
    ck_assert_double_le(grip, most * (1 + 1e-9) + 1e-9);
    ck_assert_double_eq(row->bound, most);
    if (row->force < 1e-9)
        return 0;
    if (row->friction == 0 || length < 1e-8)
        return 1;
    ck_assert_double_eq_tol(grip, most, 1e-6 * most);
    ck_assert_double_eq_tol(dot(row->grip, slip), grip * length, 1e-6 * grip * length);
    return 2;
}

START_TEST(the_laws_hold)
{
    int seen[3] = {0};
    for (int k = 0; k < CASES; k++) {
        scene s;
        seed = (uint64_t)(k + 1);
        draw_scene(&s, _i ? 0.5 : 0);
        solve(&s, 1);
        assert_moved_by_forces(&s);
        for (int r = 0; r < ROWS; r++)
            seen[assert_laws(&s, &s.rows.row[r])]++;
        pl_contact_rows_clear(&s.rows);
    }
    ck_assert_int_gt(seen[0], CASES);
    ck_assert_int_gt(seen[1], CASES);
    ck_assert(_i == 0 || seen[2] > CASES / 4);
}
END_TEST

/* One row between two vertices: each moves by its share of the missing gap. */
START_TEST(two_vertices_part)
{
    pl_contact_row *row = calloc(1, sizeof *row);
    *row = (pl_contact_row){.pair = {.kind = PL_CONTACT_VERTEX_VERTEX,
                                     .vertex = {0, 1, -1, -1},
                                     .weight = {1, -1},
                                     .normal = {0, 1, 0}},
                            .distance = 0.1};
    const double give[] = {1e-3, 3e-3}, v[] = {0, 0, 0, 0, 0.3, 0};
    pl_contact_rows rows;
    pl_joint_prox prox = {0};
    ck_assert_int_eq(pl_contact_rows_init(&rows, 2), PL_OK);
    ck_assert_int_eq(pl_contact_rows_set(&rows, row, 1, give), PL_OK);
    ck_assert_int_eq(pl_joint_prox_set(&prox, &rows, give), PL_OK);
    pl_joint_prox_solve(&prox, &rows, v, 0, 1);
    ck_assert_double_eq_tol(prox.moved[1], 0.1, 1e-14);
    ck_assert_double_eq_tol(prox.moved[4], -0.3, 1e-14);
    ck_assert_double_eq_tol(rows.row[0].force, 100, 1e-10);
    pl_joint_prox_clear(&prox);
    pl_contact_rows_clear(&rows);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contact_prox");
    TCase *t = tcase_create("contact_prox");
    tcase_add_loop_test(t, the_laws_hold, 0, 2);
    tcase_add_test(t, two_vertices_part);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
