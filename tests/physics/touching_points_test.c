/* Where bodies push each other, and how: the points of a frame against its metrics and against the scene. */
#include "engine/contact/points.h"
#include "engine/model/hash.h"
#include "engine/step/state.h"
#include "tests/support/suite.h"
#include "tests/support/touching_surface.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONTACTS "'output': {'fields': ['position', 'contacts']}"

/* A sheet falls in a fold on itself and on a block, on which a ball of another body lands, too. */
static pl_run *heap_by(const char *method, int threads, const char *integrator, bool touches,
                       const char *more)
{
    return pl_run_openf(
        threads,
        "{'pliant': 1, 'time': {'step': 0.01, 'duration': 2, 'integrator': '%s'},"
        " 'solver': {'method': '%s', 'iterations': 400, 'tolerance': 1e-3},"
        " 'contact': {'friction': 0.4%s},"
        " 'materials': {'m': {'young': 2e5}, 'c': {'young': 1e5, 'density': 300,"
        "    'thickness': 0.004}},"
        " 'bodies': [{'mesh': {'cloth': {'size': [0.5, 0.5], 'cells': [4, 4]}}, 'material': 'c',"
        "   'transform': {'rotate': {'axis': [1, 0, 0], 'degrees': 80},"
        "     'translate': [0, 0.26, 0]}, 'initial': {'velocity': [0, -1, 0]}},"
        "  {'mesh': {'box': {'size': [0.6, 0.2, 0.6], 'cells': [2, 1, 2]}},"
        "   'transform': {'translate': [0, 0.1, 0]}, 'material': 'm'},"
        "  {'mesh': {'sphere': {'radius': 0.12, 'cells': 2}}, 'material': 'm',"
        "   'transform': {'translate': [0.05, 0.42, 0]}, 'initial': {'velocity': [0, -2, 0]}}],"
        " 'pins': [{'body': 'body-1', 'select': {'side': '-y'}}]%s}",
        integrator, method, touches ? "" : ", 'enabled': false", more);
}

static pl_run *heap(int threads, const char *integrator, bool touches, const char *more)
{
    return heap_by("auto", threads, integrator, touches, more);
}

static void check_point(const pl_run *r, const pl_contact_point *p)
{
    const pl_contact_bodies *t = r->model->touching;
    const double d = t->distance[pl_contact_bodies_at(t, p->body[0], p->body[1])];
    ck_assert_int_le(p->body[0], p->body[1]);
    ck_assert(p->gap > 0 && p->gap < 1.2 * d);
    ck_assert(p->place[1] > -0.01 && p->place[1] < 0.7);
}

/* The points of two bodies add up to the metrics' force of the first on the second, however many they are. */
static void check_forces(const pl_run *r, int64_t *own)
{
    int64_t count, between = 0;
    const pl_contact_point *point = pl_state_contacts(r->state, &count);
    const pl_contact_metrics *m = &r->metrics.contact;
    ck_assert_int_eq(count, m->pairs);
    for (int32_t f = 0; f < m->force_count; f++) {
        double sum[3] = {0}, scale = 0;
        for (int64_t i = 0; i < count; i++) {
            const int32_t *body = point[i].body;
            if (body[0] != m->forces[f].body[0] || body[1] != m->forces[f].body[1])
                continue;
            between++;
            for (int c = 0; c < 3; c++) {
                sum[c] += point[i].newton[c];
                scale += fabs(point[i].newton[c]);
            }
        }
        ck_assert_double_gt(scale, 0);
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(sum[c], m->forces[f].newton[c], 1e-14 * scale);
    }
    for (int64_t i = 0; i < count; i++)
        *own += point[i].body[0] == point[i].body[1];
    ck_assert_int_eq(between + (m->force_count ? 0 : count), count);
}

static void check_sums(const pl_run *r, int64_t *own)
{
    int64_t count;
    const pl_contact_point *point = pl_state_contacts(r->state, &count);
    check_forces(r, own);
    for (int64_t i = 0; i < count; i++)
        check_point(r, &point[i]);
}

static const char *const INTEGRATORS[] = {"backward_euler", "bdf2"};

START_TEST(points_add_up_to_the_forces)
{
    static const char *const METHODS[] = {"auto", "admm"};
    pl_run *r = heap_by(METHODS[_i / 2], 1, INTEGRATORS[_i % 2], true, ", " CONTACTS);
    int64_t own = 0, touched = 0;
    for (int k = 0; k < 25; k++) {
        pl_run_frames(r, 1);
        check_sums(r, &own);
        touched += r->metrics.contact.force_count;
    }
    ck_assert_int_gt(touched, 10);
    ck_assert_int_eq(own, 0);
    pl_run_close(r);
}
END_TEST

/* Two cubes meet and part. */
START_TEST(no_points_stay_when_bodies_part)
{
    pl_run *r =
        pl_run_openf(1,
                     "{'pliant': 1, 'time': {'step': 0.01, 'duration': 2, 'integrator': '%s'},"
                     " 'gravity': [0, 0, 0], 'materials': {'m': {'young': 1e5}}, 'bodies': ["
                     "  {'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [4, 4, 4]}}, "
                     "'transform': {'translate': [-0.25, 0, 0]},"
                     "   'initial': {'velocity': [2, 0, 0]}},"
                     "  {'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [4, 4, 4]}}, "
                     "'transform': {'translate': [0.25, 0.02, 0]}"
                     "  }], " CONTACTS "}",
                     INTEGRATORS[_i]);
    int64_t own = 0, touched = 0, count;
    for (int k = 0; k < 60; k++) {
        pl_run_frames(r, 1);
        check_forces(r, &own);
        touched += r->metrics.contact.force_count;
    }
    ck_assert_int_gt(touched, 2);
    pl_state_contacts(r->state, &count);
    ck_assert_int_eq(count, 0);
    pl_run_close(r);
}
END_TEST

/* A rope falls into a heap: its contact points are with itself, as close as it is thick. */
START_TEST(a_body_touches_itself)
{
    pl_run *r = pl_run_open(
        1, "{'pliant': 1, 'time': {'step': 0.01, 'duration': 2},"
           " 'solver': {'iterations': 500, 'tolerance': 1e-3},"
           " 'materials': {'r': {'young': 1e6, 'area': 1e-4, 'bending': {}}}, 'bodies': [{"
           "   'mesh': {'rope': {'length': 1, 'segments': 20}}, 'material': 'r', 'transform':"
           "   {'rotate': {'axis': [0, 0, 1], 'degrees': 88}, 'translate': [0, 0.6, 0]}}],"
           " 'obstacles': [{'plane': {}, 'friction': 0.5}], " CONTACTS "}");
    int64_t own = 0;
    for (int k = 0; k < 60; k++) {
        pl_run_frames(r, 1);
        check_sums(r, &own);
        ck_assert_int_eq(r->metrics.contact.force_count, 0);
    }
    ck_assert_int_gt(own, 20);
    pl_run_close(r);
}
END_TEST

/* The ball lies on the block: points are on the block's upper face under it, half a gap above, and push it down. */
START_TEST(points_lie_where_bodies_touch)
{
    pl_run *r = pl_run_open(
        1, "{'pliant': 1, 'time': {'step': 0.01, 'duration': 2}, 'materials': {'m': {}},"
           " 'contact': {'thickness': 0.01},"
           " 'bodies': [{'name': 'ball', 'mesh': {'box': {'size': [0.1, 0.1, 0.1]}},"
           "    'transform': {'translate': [0.3, 0.265, 0.1]}},"
           "  {'name': 'block', 'mesh': {'box': {'size': [1, 0.4, 1]}}}],"
           " 'pins': [{'body': 'block', 'select': 'all'}], " CONTACTS "}");
    int64_t count;
    pl_run_frames(r, 40);
    const pl_contact_point *point = pl_state_contacts(r->state, &count);
    ck_assert_int_gt(count, 0);
    for (int64_t i = 0; i < count; i++) {
        ck_assert(point[i].body[0] == 0 && point[i].body[1] == 1);
        ck_assert_double_lt(point[i].newton[1], 0);
        ck_assert_double_eq_tol(point[i].gap, 0.01, 5e-4);
        ck_assert_double_eq_tol(point[i].place[1], 0.2 + point[i].gap / 2, 1e-6);
        ck_assert_double_eq_tol(point[i].place[0], 0.3, 0.06);
        ck_assert_double_eq_tol(point[i].place[2], 0.1, 0.06);
    }
    pl_run_close(r);
}
END_TEST

START_TEST(nothing_is_listed_that_was_not_asked_for)
{
    pl_run *r = heap(1, "backward_euler", _i == 0, _i == 0 ? "" : ", " CONTACTS);
    int64_t count;
    pl_state_contacts(r->state, &count);
    ck_assert_int_eq(count, 0);
    pl_run_frames(r, 15);
    ck_assert_int_eq(r->metrics.contact.pairs > 0, _i == 0);
    pl_state_contacts(r->state, &count);
    ck_assert_int_eq(count, 0);
    pl_run_close(r);
}
END_TEST

/* ---- the same bits ---- */

static void check_same(const pl_run *a, const pl_run *b)
{
    int64_t count, other;
    const pl_contact_point *p = pl_state_contacts(a->state, &count),
                           *q = pl_state_contacts(b->state, &other);
    ck_assert_int_gt(count, 0);
    ck_assert_int_eq(other, count);
    ck_assert_mem_eq(p, q, (size_t)count * sizeof *p);
}

START_TEST(threads_change_no_bit)
{
    pl_run *r = heap(1, "backward_euler", true, ", " CONTACTS);
    pl_run_frames(r, 12);
    for (int threads = 2; threads <= 3; threads++) {
        pl_run *other = heap(threads, "backward_euler", true, ", " CONTACTS);
        pl_run_frames(other, 12);
        check_same(r, other);
        pl_run_close(other);
    }
    pl_run_close(r);
}
END_TEST

/* The saved state has the points, so that a frame written after a restart has them. */
START_TEST(a_restored_state_has_its_points)
{
    pl_run *r = heap(1, "backward_euler", true, ", " CONTACTS),
           *other = heap(2, "backward_euler", true, ", " CONTACTS);
    void *bytes;
    size_t size;
    pl_run_frames(r, 12);
    ck_assert_int_eq(pl_state_save(r->state, &bytes, &size), PL_OK);
    ck_assert_int_eq(pl_state_restore(other->state, bytes, size), PL_OK);
    check_same(r, other);
    pl_run_frames(r, 3);
    pl_run_frames(other, 3);
    check_same(r, other);
    free(bytes);
    pl_run_close(other);
    pl_run_close(r);
}
END_TEST

/* A branch begins with the contacts of the frame that it begins at, as far as its scene lists them. */
START_TEST(a_state_that_follows_has_its_points)
{
    pl_run *r = heap(1, INTEGRATORS[_i], true, ", " CONTACTS),
           *other = heap(1, INTEGRATORS[_i], true, ", " CONTACTS),
           *without = heap(1, INTEGRATORS[_i], true, "");
    int64_t count;
    pl_run_frames(r, 12);
    ck_assert_int_eq(pl_state_follow(other->state, r->state), PL_OK);
    check_same(r, other);
    pl_state_measure(other->model, other->state, &other->metrics);
    ck_assert_int_eq(other->metrics.contact.pairs, r->metrics.contact.pairs);
    ck_assert_double_eq(other->metrics.contact.friction_work, r->metrics.contact.friction_work);
    check_forces(other, &(int64_t){0});
    ck_assert_int_eq(pl_state_follow(without->state, r->state), PL_OK);
    pl_state_contacts(without->state, &count);
    ck_assert_int_eq(count, 0);
    pl_run_frames(r, 2);
    pl_run_frames(other, 2);
    check_same(r, other);
    pl_run_close(without);
    pl_run_close(other);
    pl_run_close(r);
}
END_TEST

/* A state of format 2 has no points; everything else in it is read. */
START_TEST(a_state_without_points_is_read)
{
    enum { HEADER = 40 };
    pl_run *r = heap(1, "backward_euler", true, ""), *other = heap(1, "backward_euler", true, "");
    void *saved;
    size_t size;
    pl_bytes_out rest = {0};
    pl_run_frames(r, 12);
    ck_assert_int_eq(pl_state_save(r->state, &saved, &size), PL_OK);
    pl_stepper_save(&r->state->whole, &rest);
    unsigned char *bytes = saved;
    const size_t tail = rest.size + sizeof(int64_t);
    memmove(bytes + size - tail - sizeof(int64_t), bytes + size - tail, tail);
    const uint64_t old = size - sizeof(int64_t), format = 2;
    memcpy(bytes + 8, &format, sizeof format);
    memcpy(bytes + 24, &old, sizeof old);
    uint64_t hash = pl_hash(pl_hash(PL_HASH_START, bytes, 32), bytes + HEADER, old - HEADER);
    memcpy(bytes + 32, &hash, sizeof hash);
    ck_assert_int_eq(pl_state_restore(other->state, bytes, old), PL_OK);
    pl_run_frames(r, 1);
    pl_run_frames(other, 1);
    ck_assert_uint_eq(pl_run_hash(other), pl_run_hash(r));
    free(saved);
    free(rest.data);
    pl_run_close(other);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("points");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, points_add_up_to_the_forces, 0, 4);
    tcase_add_loop_test(t, no_points_stay_when_bodies_part, 0, 2);
    tcase_add_test(t, a_body_touches_itself);
    tcase_add_test(t, points_lie_where_bodies_touch);
    tcase_add_loop_test(t, nothing_is_listed_that_was_not_asked_for, 0, 2);
    tcase_add_test(t, threads_change_no_bit);
    tcase_add_test(t, a_restored_state_has_its_points);
    tcase_add_loop_test(t, a_state_that_follows_has_its_points, 0, 2);
    tcase_add_test(t, a_state_without_points_is_read);
    return run_cases("touching_points", t);
}
