/* How much elements are deformed, against deformations whose stretches are known. */
#include "protocol/export/strain.h"

#include "tests/support/suite.h"

#include <check.h>
#include <math.h>

enum { TETS = 37 }; /* no multiple of any block */

static uint32_t seed = 1;
static double random_number(void) /* from -1 to 1 */
{
    seed = seed * 1664525 + 1013904223;
    return (double)seed / 2147483648.0 - 1;
}

/* A rotation by an angle about a random axis (Rodrigues). */
static void make_rotation(double R[3][3])
{
    double k[3] = {random_number(), random_number(), 1.1 + random_number()},
           t = 3 * random_number();
    double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]), c = cos(t), s = sin(t);
    for (int i = 0; i < 3; i++)
        k[i] /= length;
    const double K[3][3] = {{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[i][j] = (i == j ? c : 0) + s * K[i][j] + (1 - c) * k[i] * k[j];
}

/* x = R diag(stretch) Q X + (1, 2, 3) */
static void deform(const double stretch[3], const float *rest, int vertices, float *x)
{
    double R[3][3], Q[3][3];
    make_rotation(R);
    make_rotation(Q);
    for (int v = 0; v < vertices; v++)
        for (int i = 0; i < 3; i++) {
            double sum = i + 1;
            for (int k = 0; k < 3; k++)
                for (int j = 0; j < 3; j++)
                    sum += R[i][k] * stretch[k] * Q[k][j] * (double)rest[3 * v + j];
            x[3 * v + i] = (float)sum;
        }
}

START_TEST(test_tets)
{
    static const double stretches[][3] = {{1, 1, 1},          {2, 1, 0.5},    {3, 3, 1}, {3, 1, 1},
                                          {0.01, 0.01, 0.01}, {1.0001, 1, 1}, {2, 1, -1}};
    for (size_t k = 0; k < sizeof stretches / sizeof *stretches; k++) {
        float rest[12 * TETS], x[12 * TETS], ratio[TETS], stretch[TETS];
        int32_t corner[4 * TETS];
        for (int i = 0; i < 4 * TETS; i++) {
            corner[i] = i;
            for (int c = 0; c < 3; c++) /* with corners that are far apart */
                rest[3 * i + c] = (float)(0.1 * random_number() + (i % 4 == c + 1));
        }
        for (int i = 0; i < TETS; i++)
            deform(stretches[k], rest + 12 * i, 4, x + 12 * i);
        pl_strain_of_cells(4, TETS, corner, x, rest, ratio, stretch);
        double volume = stretches[k][0] * stretches[k][1] * stretches[k][2];
        for (int i = 0; i < TETS; i++) {
            ck_assert_double_eq_tol((double)ratio[i], volume, 1e-5 * (1 + fabs(volume)));
            ck_assert_double_eq_tol((double)stretch[i], stretches[k][0],
                                    1e-5 * stretches[k][0] + 1e-6);
        }
    }
}
END_TEST

START_TEST(test_triangles_and_edges)
{
    const float rest[] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, x[] = {5, 0, 0, 5, 0, 2, 5, 0.5f, 0};
    const int32_t corner[] = {0, 1, 2};
    float ratio, stretch;
    pl_strain_of_cells(3, 1, corner, x, rest, &ratio, &stretch);
    ck_assert_double_eq_tol((double)ratio, 1, 1e-6);
    ck_assert_double_eq_tol((double)stretch, 2, 1e-6);
    pl_strain_of_cells(2, 1, corner, x, rest, &ratio, &stretch);
    ck_assert_double_eq_tol((double)ratio, 2, 1e-6);
    ck_assert_double_eq_tol((double)stretch, 2, 1e-6);
}
END_TEST

/* What has no size has no deformation; its neighbours in a block have theirs. */
START_TEST(test_flat)
{
    const float rest[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0};
    const int32_t corner[] = {0, 1, 2, 3, 0, 1, 2, 4, 3, 0, 1, 2};
    float ratio[3], stretch[3];
    pl_strain_of_cells(4, 3, corner, rest, rest, ratio, stretch);
    ck_assert(isnan(ratio[1]) && isnan(stretch[1]));
    ck_assert_double_eq_tol((double)ratio[0], 1, 1e-6);
    ck_assert_double_eq_tol((double)stretch[2], 1, 1e-6);
    const int32_t same[] = {1, 1, 2};
    pl_strain_of_cells(3, 1, same, rest, rest, ratio, stretch);
    ck_assert(isnan(ratio[0]) && isnan(stretch[0]));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("export_strain");
    TCase *t = tcase_create("strain");
    tcase_add_test(t, test_tets);
    tcase_add_test(t, test_triangles_and_edges);
    tcase_add_test(t, test_flat);
    suite_add_tcase(s, t);
    return run_suite(s);
}
