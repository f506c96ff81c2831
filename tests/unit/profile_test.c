/* Profiles: the counts of loops and solves by hand, bounds from them, and the CPU's phases under a clock, which changes
 * no bit. */
#include "engine/backends/backend.h"
#include "engine/backends/profile.h"
#include "engine/linear/solve_shape.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* ---- counts ---- */

/* 10 chunks on at most 4 threads: the busiest has 5 of 10 on two, 3 on four and more; a chain is one chunk. */
START_TEST(a_loop_is_counted_by_its_busiest_thread)
{
    pl_profile_row row = {0};
    pl_profile_loop(&row, 1000, 10, 4);
    static const double expected[PL_PROFILE_WIDTHS] = {500, 300, 300, 300, 300, 300, 100};
    for (int k = 0; k < PL_PROFILE_WIDTHS; k++)
        ck_assert_double_eq(row.longest[k], expected[k]);
    pl_profile_serial(&row, 50);
    ck_assert_double_eq(row.work, 1050);
    ck_assert_double_eq(row.longest[0], 550);
    ck_assert_double_eq(row.longest[PL_PROFILE_CHAIN], 150);
    pl_profile_loop(&row, 1000, 100, 0); /* too small for two threads */
    ck_assert_double_eq(row.longest[5], 350 + 1000);
    ck_assert_double_eq(row.longest[PL_PROFILE_CHAIN], 160);
    pl_profile_loop(&row, 1000, 0, 1); /* nothing */
    ck_assert_double_eq(row.work, 2050);
}
END_TEST

START_TEST(teams_take_turns)
{
    static const int32_t expected[] = {1, 2, 2, 1, 1, 2, 2, 1};
    for (int k = 0; k < 8; k++)
        ck_assert_int_eq(pl_profile_team(k), expected[k]);
    ck_assert_int_eq(pl_profile_threads(0), 2);
    ck_assert_int_eq(pl_profile_threads(PL_PROFILE_CHAIN - 1), 64);
}
END_TEST

/* One frame on each team: 6 s of a loop of 4 chunks, 3 s of detection, 1 s of output and 2 s of the rest on one thread. On
 * two, detection takes 2 s: 2 t2 / t1 - 1 = 1/3 of it is serial. */
START_TEST(bounds_follow_from_counts_and_seconds)
{
    pl_profile p;
    pl_profile_init(&p);
    pl_profile_loop(&p.row[PL_PROFILE_LOCAL_STEP], 8, 4, 100);
    p.row[PL_PROFILE_LOCAL_STEP].current = 6;
    p.row[PL_PROFILE_DETECTION].current = 3;
    p.own = 0.5; /* not a part of the frame */
    pl_profile_end_frame(&p, 12.5, 1);
    p.threads = 2;
    p.row[PL_PROFILE_LOCAL_STEP].current = 3;
    p.row[PL_PROFILE_DETECTION].current = 2;
    pl_profile_end_frame(&p, 8, 1);
    ck_assert_double_eq(pl_profile_seconds(&p, PL_PROFILE_LOCAL_STEP, 1), 6);
    ck_assert_double_eq(pl_profile_seconds(&p, PL_PROFILE_LOCAL_STEP, 2), 3);
    ck_assert_double_eq(pl_profile_seconds(&p, PL_PROFILE_OTHER, 1), 2);
    ck_assert_double_eq(pl_profile_seconds(&p, PL_PROFILE_OTHER, 2), 2);
    ck_assert_double_eq(pl_profile_seconds(&p, PL_PROFILE_OUTPUT, 1), 1);
    ck_assert_double_eq(p.seconds[0], 12);
    ck_assert_double_eq(pl_profile_share(&p, PL_PROFILE_LOCAL_STEP, 0), 0.5);
    ck_assert_double_eq(pl_profile_share(&p, PL_PROFILE_LOCAL_STEP, 3), 0.25);
    ck_assert_double_eq(pl_profile_share(&p, PL_PROFILE_OTHER, 5), 1);
    ck_assert_double_eq_tol(pl_profile_share(&p, PL_PROFILE_DETECTION, 1), 1.0 / 3 + 2.0 / 12,
                            1e-15);
    ck_assert_double_eq_tol(pl_profile_share(&p, PL_PROFILE_DETECTION, PL_PROFILE_CHAIN), 1.0 / 3,
                            1e-15);
    /* four threads: 6 / 4 + 3 / 2 + 1 + 2 of 12 s */
    ck_assert_double_eq_tol(pl_profile_speedup(&p, 1), 12 / 6.0, 1e-12);
    ck_assert_double_eq_tol(pl_profile_speedup(&p, PL_PROFILE_CHAIN), 12 / 5.5, 1e-12);
}
END_TEST

/* Without a frame on two threads nothing that is measured has a gain. */
START_TEST(one_frame_is_no_measurement_of_two_threads)
{
    pl_profile p;
    pl_profile_init(&p);
    p.row[PL_PROFILE_DETECTION].current = 3;
    pl_profile_end_frame(&p, 3, 0);
    ck_assert(isnan(pl_profile_seconds(&p, PL_PROFILE_DETECTION, 2)));
    ck_assert_double_eq(pl_profile_speedup(&p, PL_PROFILE_CHAIN), 1);
}
END_TEST

/* ---- solves ---- */

/* `blocks` dense blocks of `size` rows on the diagonal, all coupled to `common` rows after them. */
static pl_solve_shape shape_of(int64_t blocks, int64_t size, int64_t common)
{
    int64_t count = 0, first = blocks * size, n = first + common;
    pl_entry *entries = malloc((size_t)(n * (size + common)) * sizeof *entries);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k; i < n; i++)
            if (i / size == k / size || i >= first)
                entries[count++] = (pl_entry){(int32_t)i, (int32_t)k, i == k ? 2.0 * (double)n : 1};
    pl_sparse a;
    pl_factor *f;
    ck_assert_int_eq(pl_sparse_assemble(n, entries, count, &a), PL_OK);
    ck_assert_int_eq(pl_factor_create(&a, &f), PL_OK);
    pl_solve_shape s = pl_factor_shape(f);
    ck_assert_double_eq(s.all, (double)pl_factor_nonzeros(f));
    pl_factor_destroy(f);
    pl_sparse_clear(&a);
    free(entries);
    return s;
}

/* Rows without couplings wait for nothing, a dense matrix's for each other, those of 5 blocks for their own, and common
 * rows for the heaviest block. */
START_TEST(the_chain_of_a_solve_is_a_path_of_its_tree)
{
    pl_solve_shape s = shape_of(50, 1, 0);
    ck_assert_double_eq(s.all, 50);
    ck_assert_double_eq(s.chain, 1);
    s = shape_of(1, 30, 0);
    ck_assert_double_eq(s.all, 30 * 31 / 2);
    ck_assert_double_eq(s.chain, s.all);
    ck_assert_double_eq(s.two, s.all);
    s = shape_of(5, 30, 0);
    ck_assert_double_eq(s.chain, s.all / 5);
    ck_assert_double_eq(s.two, s.all); /* too small for two parts */
    s = shape_of(3, 16, 8);
    double block = 16 * 17 / 2 + 8 * 16, common = 8 * 9 / 2;
    ck_assert_double_eq(s.all, 3 * block + common);
    ck_assert_double_eq(s.chain, block + common);
}
END_TEST

/* Four blocks of 600 rows: two parts of two blocks each, and nothing above them. */
START_TEST(two_threads_have_half_of_independent_blocks)
{
    pl_solve_shape s = shape_of(4, 600, 0);
    ck_assert_double_eq(s.two, s.all / 2);
    ck_assert_double_eq(s.chain, s.all / 4);
}
END_TEST

/* ---- phases ---- */

/* Two frames of a cube that stretches beside another, by one method; the hash of its bits. */
static uint64_t run(const char *solver, int32_t threads, pl_profile *profile)
{
    if (profile) {
        pl_profile_init(profile);
        pl_profile_begin(profile);
    }
    pl_run *r = pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.01, 'steps': 2}, 'solver': {%s, 'tolerance': 0},"
        " 'obstacles': [{'plane': {'normal': [0, 1, 0], 'offset': -0.5}}],"
        " 'bodies': [{'mesh': {'box': {'cells': [4, 4, 4]}},"
        "   'initial': {'shape': {'stretched': [1.2, 1, 1]}}},"
        "  {'mesh': {'box': {'cells': [2, 2, 2]}}, 'transform': {'translate': [0, 1.01, 0]}}]}",
        solver);
    for (int k = 0; k < 2; k++) {
        pl_run_frames(r, 1);
        if (profile)
            pl_profile_end_frame(profile, 100, 0);
    }
    uint64_t hash = pl_run_hash(r);
    pl_run_close(r);
    pl_profile_begin(NULL);
    return hash;
}

#define BIT(kind) (1u << PL_PROFILE_##kind)
static const struct {
    const char *solver;
    unsigned phases;
} METHODS[] = {
    {"'method': 'admm', 'iterations': 6", BIT(DETECTION) | BIT(LOCAL_STEP) | BIT(CONTACT_PROX) |
                                              BIT(ACCELERATION) | BIT(GATHER) | BIT(GLOBAL_SOLVE) |
                                              BIT(SUMS) | BIT(OBJECTIVE) | BIT(MEASURES)},
    {"'method': 'quasi_newton', 'iterations': 6",
     BIT(DETECTION) | BIT(GLOBAL_SOLVE) | BIT(LINE_SEARCH) | BIT(HISTORY) | BIT(MEASURES)},
    {"'method': 'newton', 'iterations': 2",
     BIT(DETECTION) | BIT(ASSEMBLY) | BIT(FACTOR) | BIT(GLOBAL_SOLVE) | BIT(LINE_SEARCH)},
    {"'method': 'chebyshev_descent', 'iterations': 10",
     BIT(DETECTION) | BIT(LINE_SEARCH) | BIT(PRECONDITIONER) | BIT(VECTORS)},
};

/* Each phase of a method has calls, seconds and, where it is counted, work of which a thread has a part; the bits are
 * those of a run without a profile. */
START_TEST(phases_are_timed_and_bits_stay)
{
    pl_profile p;
    uint64_t plain = run(METHODS[_i].solver, 1, NULL);
    ck_assert_uint_eq(run(METHODS[_i].solver, 2, &p), plain);
    for (int k = 0; k < PL_PROFILE_PHASES; k++) {
        const pl_profile_row *row = &p.row[k];
        if (!(METHODS[_i].phases & 1u << k))
            continue;
        const char *name = pl_profile_phase_name((pl_profile_phase)k);
        ck_assert_msg(row->calls > 0 && row->seconds[0] > 0, "%s has no calls", name);
        ck_assert_msg(row->counting != PL_PROFILE_COUNTED || row->work > 0, "%s: no work", name);
        for (int w = 0; w < PL_PROFILE_WIDTHS; w++) {
            double share = pl_profile_share(&p, (pl_profile_phase)k, w);
            ck_assert_msg(share > 0 && share <= 1, "%s has a share of %g", name, share);
        }
    }
    ck_assert_int_eq(p.depth, 0);
    ck_assert_int_eq(p.frames[0], 2);
}
END_TEST

/* The counted work of a step: 6 ADMM iterations over 384 + 48 tetrahedra of 4 x 9. `reduce`, for the weights and for the
 * start, counts all groups: the same and 98 + 26 vertices of surfaces, 3 rows each, before the plane and before each
 * other. */
START_TEST(the_work_of_the_local_step)
{
    pl_profile p;
    run(METHODS[0].solver, 1, &p);
    double tets = 36.0 * (384 + 48), vertices = 2 * 3 * (98 + 26), steps = 2;
    ck_assert_double_eq(p.row[PL_PROFILE_LOCAL_STEP].work,
                        steps * (6 * tets + 2 * (tets + vertices)));
}
END_TEST

START_TEST(without_a_profile_the_plain_table_is_used)
{
    ck_assert_ptr_eq(pl_backend_find(PL_DEVICE_CPU), &pl_backend_cpu);
    ck_assert_ptr_null(pl_backend_incomplete(pl_backend_cpu_profiled()));
    pl_profile p;
    pl_profile_init(&p);
    pl_profile_begin(&p);
    ck_assert_ptr_eq(pl_backend_find(PL_DEVICE_CPU), pl_backend_cpu_profiled());
    pl_profile_begin(NULL);
    ck_assert_ptr_eq(pl_backend_find(PL_DEVICE_CPU), &pl_backend_cpu);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("profile");
    tcase_add_test(t, a_loop_is_counted_by_its_busiest_thread);
    tcase_add_test(t, teams_take_turns);
    tcase_add_test(t, bounds_follow_from_counts_and_seconds);
    tcase_add_test(t, one_frame_is_no_measurement_of_two_threads);
    tcase_add_test(t, the_chain_of_a_solve_is_a_path_of_its_tree);
    tcase_add_test(t, two_threads_have_half_of_independent_blocks);
    tcase_add_loop_test(t, phases_are_timed_and_bits_stay, 0, sizeof METHODS / sizeof *METHODS);
    tcase_add_test(t, the_work_of_the_local_step);
    tcase_add_test(t, without_a_profile_the_plain_table_is_used);
    return run_cases("profile", t);
}
