/* The augmented Lagrangian of contact rows: energies by the formulas of rows.h in long double, gradients
 * and Hessians against differences, and what multipliers become. */
#include "engine/contact/rows.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 24, OPEN = 0, STICKS, SLIPS, STATES };

static uint64_t seed;

static double draw(void)
{
    return contact_draw(&seed);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void draw_unit(double n[3])
{
    double square = 0;
    while (square < 0.1 || square > 1) {
        for (int c = 0; c < 3; c++)
            n[c] = draw();
        square = dot(n, n);
    }
    for (int c = 0; c < 3; c++)
        n[c] /= sqrt(square);
}

/* A pair of a random kind, of random vertices, whose weights add up to 0. */
static pl_contact_pair draw_pair(int i)
{
    pl_contact_pair p = {.kind = (pl_contact_kind)(i % 4), .feature = {i, i}};
    const int first = pl_contact_corners[p.kind][0], all = first + pl_contact_corners[p.kind][1];
    double sum[2] = {0};
    for (int k = 0; k < 4; k++)
        p.vertex[k] = k < all ? (int32_t)((7 * i + 5 * k) % VERTICES) : -1;
    for (int k = 0; k < all; k++)
        sum[k >= first] += p.weight[k] = 0.1 + fabs(draw());
    for (int k = 0; k < all; k++)
        p.weight[k] /= k < first ? sum[0] : -sum[1];
    draw_unit(p.normal);
    return p;
}

static void draw_positions(double x[3 * VERTICES])
{
    for (int i = 0; i < 3 * VERTICES; i++)
        x[i] = draw();
}

/* `count` rows that were begun at random; give[] is 1 or less. Multipliers are such that about a third of
 * them is open, sticks and slips each. */
static void draw_rows(pl_contact_rows *rows, int64_t count)
{
    pl_contact_row *row = calloc((size_t)count, sizeof *row);
    double give[VERTICES];
    for (int i = 0; i < VERTICES; i++)
        give[i] = 0.6 + 0.4 * draw();
    for (int64_t r = 0; r < count; r++)
        row[r] = (pl_contact_row){.pair = draw_pair((int)r), .distance = 0.01, .friction = 0.4};
    ck_assert_int_eq(pl_contact_rows_init(rows, VERTICES), PL_OK);
    ck_assert_int_eq(pl_contact_rows_set(rows, row, count, give), PL_OK);
    for (int64_t r = 0; r < count; r++) {
        pl_contact_row *a = &rows->row[r];
        ck_assert_double_gt(a->stiffness, 0);
        a->force = r % 7 ? a->stiffness * (1 + draw()) : 0;
        a->bound = r % 5 ? a->friction * a->force * (r % 3 ? 1 : 8) : 0;
        double u[3];
        draw_unit(u);
        double along = dot(u, a->pair.normal), size = fabs(draw()) * a->bound;
        for (int c = 0; c < 3; c++) {
            a->grip[c] = size * (u[c] - along * a->pair.normal[c]);
            a->start[c] = 0.3 * draw();
        }
    }
}

/* ---- by the formulas ---- */

typedef struct formula {
    long double energy, r[3], t, q[3], abs;
    int state;
} formula;

static formula formula_of(const pl_contact_row *row, const double *x)
{
    formula f = {0};
    const long double k = row->stiffness, b = row->bound;
    long double gap = 0, along = 0, grip = 0;
    for (int a = 0; a < 4 && row->pair.vertex[a] >= 0; a++)
        for (int c = 0; c < 3; c++)
            f.r[c] += (long double)row->pair.weight[a] * x[3 * row->pair.vertex[a] + c];
    for (int c = 0; c < 3; c++) {
        gap += row->pair.normal[c] * f.r[c];
        along += row->pair.normal[c] * (f.r[c] - row->start[c]);
    }
    for (int c = 0; c < 3; c++) {
        f.q[c] = row->grip[c] + k * (f.r[c] - row->start[c] - along * row->pair.normal[c]);
        f.abs += f.q[c] * f.q[c];
        grip += (long double)row->grip[c] * row->grip[c];
    }
    f.abs = sqrtl(f.abs);
    f.t = fmaxl(row->force - k * (gap - row->distance), 0);
    f.energy = (f.t * f.t - (long double)row->force * row->force) / (2 * k);
    if (b > 0)
        f.energy += (f.abs <= b ? f.abs * f.abs / (2 * k) : (b * f.abs - b * b / 2) / k) -
                    grip / (2 * k);
    f.state = b == 0 || f.t == 0 ? OPEN : f.abs <= b ? STICKS : SLIPS;
    return f;
}

START_TEST(energies_are_those_of_the_formulas)
{
    int seen[STATES] = {0};
    seed = 1;
    for (int n = 0; n < 50; n++) {
        pl_contact_rows rows;
        double x[3 * VERTICES];
        long double sum = 0;
        draw_rows(&rows, 20);
        draw_positions(x);
        for (int64_t r = 0; r < rows.count; r++) {
            formula f = formula_of(&rows.row[r], x);
            sum += f.energy;
            seen[f.state]++;
        }
        ck_assert_double_eq_tol(pl_contact_rows_evaluate(&rows, x, 1), (double)sum,
                                1e-12 * (1 + fabs((double)sum)));
        pl_contact_rows_clear(&rows);
    }
    for (int k = 0; k < STATES; k++)
        ck_assert_msg(seen[k] > 100, "state %d %d times", k, seen[k]);
}
END_TEST

/* k = HARD / row sums of |C W^-1 C^T|, with HARD = 10. */
START_TEST(penalties_bound_the_matrix)
{
    pl_contact_row *row = calloc(6, sizeof *row);
    double give[VERTICES];
    pl_contact_rows rows;
    seed = 2;
    for (int i = 0; i < VERTICES; i++)
        give[i] = 0.6 + 0.4 * draw();
    for (int r = 0; r < 6; r++)
        row[r].pair = draw_pair(r);
    ck_assert_int_eq(pl_contact_rows_init(&rows, VERTICES), PL_OK);
    ck_assert_int_eq(pl_contact_rows_set(&rows, row, 6, give), PL_OK);
    for (int r = 0; r < 6; r++) {
        double all = 0;
        for (int q = 0; q < 6; q++)
            for (int k = 0; k < 4 && row[r].pair.vertex[k] >= 0; k++)
                for (int l = 0; l < 4 && row[q].pair.vertex[l] >= 0; l++)
                    if (row[r].pair.vertex[k] == row[q].pair.vertex[l])
                        all += fabs(row[r].pair.weight[k] * row[q].pair.weight[l]) *
                               give[row[r].pair.vertex[k]];
        ck_assert_double_eq_tol(row[r].stiffness, 10 / all, 1e-12 / all);
    }
    pl_contact_rows_clear(&rows);
}
END_TEST

/* ---- differences ---- */

static double gradient_at(const pl_contact_rows *rows, int v, int c)
{
    double f[3] = {0};
    pl_contact_rows_add(rows, v, f);
    return f[c];
}

START_TEST(the_gradient_is_that_of_the_energy)
{
    const double h = 1e-6;
    seed = 3;
    for (int n = 0; n < 10; n++) {
        pl_contact_rows rows;
        double x[3 * VERTICES];
        draw_rows(&rows, 20);
        draw_positions(x);
        for (int i = 0; i < 3 * VERTICES; i++) {
            const double was = x[i];
            x[i] = was + h;
            double more = pl_contact_rows_evaluate(&rows, x, 1);
            x[i] = was - h;
            double less = pl_contact_rows_evaluate(&rows, x, 1);
            x[i] = was;
            pl_contact_rows_evaluate(&rows, x, 1);
            ck_assert_double_eq_tol(gradient_at(&rows, i / 3, i % 3), (more - less) / (2 * h),
                                    1e-4);
        }
        pl_contact_rows_clear(&rows);
    }
}
END_TEST

/* The pull of a row, by differences of r alone: its first vertex moves, with weight w. */
START_TEST(the_hessian_is_that_of_the_gradient)
{
    const double h = 1e-7;
    int seen[STATES] = {0};
    seed = 4;
    for (int n = 0; n < 200; n++) {
        pl_contact_rows rows;
        double x[3 * VERTICES], K[3][3], pull[2][3];
        draw_rows(&rows, 1 + n % 7);
        draw_positions(x);
        pl_contact_row *row = &rows.row[rows.count - 1];
        seen[formula_of(row, x).state]++;
        bool any = pl_contact_row_hessian(row, x, K), nonzero = false;
        for (int c = 0; c < 3; c++) {
            double *at = &x[3 * row->pair.vertex[0] + c], was = *at;
            for (int k = 0; k < 2; k++) {
                *at = was + (k ? h : -h) / row->pair.weight[0];
                pl_contact_rows_evaluate(&rows, x, 1);
                memcpy(pull[k], rows.pull + 3 * (rows.count - 1), sizeof pull[k]);
            }
            *at = was;
            for (int i = 0; i < 3; i++) {
                double due = (pull[1][i] - pull[0][i]) / (2 * h);
                nonzero = nonzero || K[i][c] != 0;
                ck_assert_double_eq_tol(K[i][c], due, 1e-5 * row->stiffness);
                ck_assert_double_eq_tol(K[i][c], K[c][i], 1e-12 * row->stiffness);
            }
        }
        ck_assert(any == nonzero);
        pl_contact_rows_clear(&rows);
    }
    for (int k = 0; k < STATES; k++)
        ck_assert_msg(seen[k] > 20, "state %d %d times", k, seen[k]);
}
END_TEST

START_TEST(the_diagonal_is_that_of_the_hessian)
{
    pl_contact_rows rows;
    double x[3 * VERTICES], due[3 * VERTICES] = {0}, K[3][3];
    seed = 5;
    draw_rows(&rows, 30);
    draw_positions(x);
    for (int64_t r = 0; r < rows.count; r++) {
        pl_contact_row_hessian(&rows.row[r], x, K);
        for (int k = 0; k < 4 && rows.row[r].pair.vertex[k] >= 0; k++)
            for (int c = 0; c < 3; c++)
                due[3 * rows.row[r].pair.vertex[k] + c] += pow(rows.row[r].pair.weight[k], 2) *
                                                           K[c][c];
    }
    pl_contact_rows_diagonal(&rows, x);
    for (int i = 0; i < 3 * VERTICES; i++)
        ck_assert_double_eq_tol(gradient_at(&rows, i / 3, i % 3), due[i], 1e-12);
    pl_contact_rows_clear(&rows);
}
END_TEST

/* ---- Newton's third law ---- */

/* Weights add up to 0, so forces do. Their moment is that of the pull at the offset r; a normal force at
 * an offset along it has none. */
START_TEST(forces_of_a_row_are_in_balance)
{
    seed = 6;
    for (int n = 0; n < 200; n++) {
        pl_contact_rows rows;
        double x[3 * VERTICES], force[3] = {0}, moment[3] = {0};
        draw_rows(&rows, 1);
        draw_positions(x);
        pl_contact_row *row = rows.row;
        formula f = formula_of(row, x);
        if (n % 2) { /* frictionless, as measured: the normal is along r */
            for (int c = 0; c < 3; c++) {
                row->pair.normal[c] =
                    (double)f.r[c] /
                    sqrt((double)(f.r[0] * f.r[0] + f.r[1] * f.r[1] + f.r[2] * f.r[2]));
                row->grip[c] = 0;
            }
            row->bound = 0;
            row->force = 100 * row->stiffness;
        }
        pl_contact_rows_evaluate(&rows, x, 1);
        const double *p = rows.pull;
        for (int v = 0; v < VERTICES; v++)
            for (int c = 0; c < 3; c++) {
                int i = (c + 1) % 3, j = (c + 2) % 3;
                force[c] += gradient_at(&rows, v, c);
                moment[c] += x[3 * v + i] * gradient_at(&rows, v, j) -
                             x[3 * v + j] * gradient_at(&rows, v, i);
            }
        const double size = 1 + sqrt(dot(p, p));
        for (int c = 0; c < 3; c++) {
            int i = (c + 1) % 3, j = (c + 2) % 3;
            double due = n % 2 ? 0 : (double)f.r[i] * p[j] - (double)f.r[j] * p[i];
            ck_assert_double_eq_tol(force[c], 0, 1e-14 * size);
            ck_assert_double_eq_tol(moment[c], due, 1e-13 * size);
        }
        pl_contact_rows_clear(&rows);
    }
}
END_TEST

/* ---- renewing ---- */

START_TEST(multipliers_become_the_forces)
{
    seed = 7;
    for (int n = 0; n < 50; n++) {
        pl_contact_rows rows;
        double x[3 * VERTICES], lacks = 0;
        draw_rows(&rows, 20);
        draw_positions(x);
        for (int64_t r = 0; r < rows.count; r++) { /* bounds are of the forces there */
            formula f = formula_of(&rows.row[r], x);
            rows.row[r].bound = rows.row[r].friction * (double)f.t;
            lacks = fmax(lacks, (double)(f.t - rows.row[r].force) /
                                    (rows.row[r].stiffness * rows.row[r].distance));
        }
        pl_contact_rows_evaluate(&rows, x, 1);
        const pl_contact_renewal renewal = pl_contact_rows_renew(&rows, x);
        ck_assert_double_eq_tol(renewal.lack, lacks, 1e-10 * (1 + lacks));
        ck_assert(renewal.changed);
        for (int64_t r = 0; r < rows.count; r++) {
            const pl_contact_row *a = &rows.row[r];
            ck_assert_double_ge(a->force, 0);
            ck_assert_double_eq(a->bound, a->friction * a->force);
            ck_assert_double_le(sqrt(dot(a->grip, a->grip)), a->bound * (1 + 1e-15));
            ck_assert_double_eq_tol(dot(a->grip, a->pair.normal), 0, 1e-12 * a->stiffness);
            for (int c = 0; c < 3; c++)
                ck_assert_double_eq_tol(rows.pull[3 * r + c],
                                        a->grip[c] - a->force * a->pair.normal[c],
                                        1e-12 * a->stiffness);
        }
        pl_contact_rows_clear(&rows);
    }
}
END_TEST

/* A row whose first vertex is at x, and whose second one is held at the origin; n = z. */
static pl_contact_rows one_row(double give, double held)
{
    pl_contact_rows rows;
    pl_contact_row *row = calloc(1, sizeof *row);
    *row = (pl_contact_row){.pair = {.kind = PL_CONTACT_VERTEX_VERTEX,
                                     .vertex = {0, 1, -1, -1},
                                     .weight = {1, -1},
                                     .normal = {0, 0, 1}},
                            .distance = 0.01,
                            .friction = 0.5};
    ck_assert_int_eq(pl_contact_rows_init(&rows, 2), PL_OK);
    ck_assert_int_eq(pl_contact_rows_set(&rows, row, 1, (const double[]){give, held}), PL_OK);
    return rows;
}

/* Where complementarity and Coulomb's law hold, nothing changes. */
START_TEST(a_fixed_point_stays)
{
    static const struct {
        double force, grip, x, z;
    } points[] = {{0, 0, 0.3, 0.02}, {2, 0.5, 0, 0.01}, {2, 1, 0, 0.01}, {2, 1, 0.3, 0.01}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        pl_contact_rows rows = one_row(1, 0);
        const double x[6] = {points[i].x, 0, points[i].z};
        rows.row->force = points[i].force;
        rows.row->bound = 0.5 * points[i].force;
        rows.row->grip[0] = points[i].grip;
        const pl_contact_renewal renewal = pl_contact_rows_renew(&rows, x);
        ck_assert_double_eq_tol(renewal.lack, 0, 1e-12);
        ck_assert(!renewal.changed || points[i].force > 0);
        ck_assert_double_eq_tol(rows.row->force, points[i].force, 1e-12);
        ck_assert_double_eq_tol(rows.row->grip[0], points[i].grip, 1e-12);
        ck_assert_double_eq_tol(rows.row->bound, 0.5 * points[i].force, 1e-12);
        pl_contact_rows_clear(&rows);
    }
}
END_TEST

/* The vertex hangs on a spring of 3 N/m and is pressed down by 2 N, and sideways by `side`: rounds of solving and
 * renewing end when the spring's force and contact are in balance under Coulomb's law. */
START_TEST(rounds_end_in_coulombs_law)
{
    static const double sides[] = {0, 0.9, 0.99, 1.2, 3};
    const double spring = 3, down = 2;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        pl_contact_rows rows = one_row(1 / spring, 0);
        double x[6] = {0, 0, 0.01};
        for (int round = 0; round < 200; round++) {
            for (int newton = 0; newton < 20; newton++) {
                double K[3][3],
                    f[3] = {spring * x[0] - sides[i], spring * x[1], spring * (x[2] - 0.01) + down};
                pl_contact_rows_evaluate(&rows, x, 1);
                pl_contact_rows_add(&rows, 0, f);
                pl_contact_row_hessian(rows.row, x, K);
                for (int c = 0; c < 3; c++) /* the Hessian is diagonal here, up to rounding */
                    x[c] -= f[c] / (spring + K[c][c]);
            }
            pl_contact_rows_renew(&rows, x);
        }
        const double due = fmin(sides[i], 0.5 * down);
        ck_assert_double_eq_tol(x[2], 0.01, 1e-10);
        ck_assert_double_eq_tol(rows.row->force, down, 1e-9);
        ck_assert_double_eq_tol(rows.row->grip[0], due, 1e-9);
        ck_assert_double_eq_tol(x[0], (sides[i] - due) / spring, 1e-9);
        pl_contact_rows_clear(&rows);
    }
}
END_TEST

/* Twice the penalty for each meeting after the first, up to ten. */
START_TEST(who_meets_again_is_pushed_harder)
{
    static const int MEETINGS[] = {0, 1, 2, 5, 11, 60};
    static const double FACTOR[] = {1, 1, 2, 16, 1024, 1024};
    pl_contact_rows rows = one_row(0.5, 0);
    const double once = rows.row->stiffness, give[2] = {0.5, 0};
    for (int i = 0; i < 6; i++) {
        pl_contact_row *row = malloc(sizeof *row);
        *row = *rows.row;
        row->meetings = MEETINGS[i];
        ck_assert_int_eq(pl_contact_rows_set(&rows, row, 1, give), PL_OK);
        ck_assert_double_eq(rows.row->stiffness, FACTOR[i] * once);
    }
    pl_contact_rows_clear(&rows);
}
END_TEST

START_TEST(rows_of_held_vertices_do_nothing)
{
    pl_contact_rows rows = one_row(0, 0);
    const double x[6] = {0.1, 0, -0.5};
    double K[3][3], f[3] = {0};
    rows.row->force = 5;
    rows.row->bound = 2;
    rows.row->grip[0] = 1;
    ck_assert_double_eq(rows.row->stiffness, 0);
    ck_assert_double_eq(pl_contact_rows_evaluate(&rows, x, 1), 0);
    pl_contact_rows_add(&rows, 0, f);
    ck_assert(f[0] == 0 && f[1] == 0 && f[2] == 0);
    ck_assert(!pl_contact_row_hessian(rows.row, x, K));
    const pl_contact_renewal renewal = pl_contact_rows_renew(&rows, x);
    ck_assert(renewal.lack == 0 && !renewal.changed);
    ck_assert_double_eq(rows.row->force, 5);
    pl_contact_rows_clear(&rows);
}
END_TEST

/* ---- lists ---- */

START_TEST(threads_change_no_bit)
{
    pl_contact_rows rows;
    double x[3 * VERTICES], energy = 0;
    double *gradient = NULL;
    seed = 8;
    draw_rows(&rows, 2000);
    draw_positions(x);
    for (int threads = 1; threads <= 3; threads++) {
        double got = pl_contact_rows_evaluate(&rows, x, threads);
        size_t bytes = 3 * (size_t)rows.touched * sizeof *gradient;
        if (threads == 1) {
            energy = got;
            gradient = malloc(bytes);
            memcpy(gradient, rows.gradient, bytes);
        }
        ck_assert_mem_eq(&got, &energy, sizeof got);
        ck_assert_mem_eq(gradient, rows.gradient, bytes);
    }
    free(gradient);
    pl_contact_rows_clear(&rows);
}
END_TEST

START_TEST(a_list_replaces_the_one_before)
{
    pl_contact_rows rows;
    double x[3 * VERTICES], give[VERTICES];
    seed = 9;
    for (int i = 0; i < VERTICES; i++)
        give[i] = 1;
    draw_rows(&rows, 40);
    draw_positions(x);
    for (int64_t count = 3; count >= 0; count--) {
        pl_contact_row *row = calloc((size_t)count + 1, sizeof *row);
        bool used[VERTICES] = {0};
        for (int64_t r = 0; r < count; r++) {
            row[r] = (pl_contact_row){.pair = draw_pair((int)r), .distance = 0.01, .force = 1};
            for (int k = 0; k < 4 && row[r].pair.vertex[k] >= 0; k++)
                used[row[r].pair.vertex[k]] = true;
        }
        ck_assert_int_eq(pl_contact_rows_set(&rows, row, count, give), PL_OK);
        double energy = pl_contact_rows_evaluate(&rows, x, 1);
        ck_assert(count > 0 || energy == 0);
        for (int v = 0; v < VERTICES; v++) {
            ck_assert((rows.place[v] >= 0) == used[v]);
            for (int c = 0; c < 3; c++)
                ck_assert(used[v] || gradient_at(&rows, v, c) == 0);
        }
    }
    pl_contact_rows_clear(&rows);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("rows");
    tcase_add_test(t, energies_are_those_of_the_formulas);
    tcase_add_test(t, penalties_bound_the_matrix);
    tcase_add_test(t, the_gradient_is_that_of_the_energy);
    tcase_add_test(t, the_hessian_is_that_of_the_gradient);
    tcase_add_test(t, the_diagonal_is_that_of_the_hessian);
    tcase_add_test(t, forces_of_a_row_are_in_balance);
    tcase_add_test(t, multipliers_become_the_forces);
    tcase_add_test(t, a_fixed_point_stays);
    tcase_add_test(t, rounds_end_in_coulombs_law);
    tcase_add_test(t, who_meets_again_is_pushed_harder);
    tcase_add_test(t, rows_of_held_vertices_do_nothing);
    tcase_add_test(t, threads_change_no_bit);
    tcase_add_test(t, a_list_replaces_the_one_before);
    return run_cases("contact_rows", t);
}
