#include "tests/support/check_metrics.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void *copy(const void *from, size_t size)
{
    void *to = calloc(1, size + 1);
    if (from)
        memcpy(to, from, size);
    return to;
}

pl_metrics pl_metrics_keep(const pl_metrics *metrics, const pl_scene *scene)
{
    pl_metrics kept = *metrics;
    kept.pins = copy(kept.pins, (size_t)scene->pin_count * sizeof *kept.pins);
    kept.obstacles = copy(kept.obstacles, (size_t)scene->obstacle_count * sizeof *kept.obstacles);
    kept.penetration = copy(kept.penetration,
                            (size_t)scene->obstacle_count * sizeof *kept.penetration);
    kept.obstacle_contacts = copy(kept.obstacle_contacts,
                                  (size_t)scene->obstacle_count * sizeof *kept.obstacle_contacts);
    kept.contact.forces = copy(kept.contact.forces,
                               (size_t)kept.contact.force_count * sizeof *kept.contact.forces);
    kept.detail = copy(kept.detail, (size_t)kept.detail_count * sizeof *kept.detail);
    return kept;
}

void pl_metrics_drop(pl_metrics *kept)
{
    free((void *)(uintptr_t)kept->pins);
    free((void *)(uintptr_t)kept->obstacles);
    free((void *)(uintptr_t)kept->penetration);
    free((void *)(uintptr_t)kept->obstacle_contacts);
    free((void *)(uintptr_t)kept->contact.forces);
    free((void *)(uintptr_t)kept->detail);
}

static void same(const void *a, const void *b, size_t size, const char *what, int64_t frame)
{
    ck_assert_msg(memcmp(a, b, size) == 0, "%s of frame %lld differs", what, (long long)frame);
}

#define SAME(field) same(&a->field, &b->field, sizeof a->field, #field, a->frame)

static void same_row(const pl_iteration *a, const pl_iteration *b, int64_t frame)
{
    same(a, b, offsetof(pl_iteration, ms), "a row of detail", frame);
}

/* Field by field: there are gaps between them. */
static void same_contact(const pl_contact_metrics *a, const pl_contact_metrics *b, int64_t frame)
{
    ck_assert_msg(a->on == b->on, "contact of frame %lld is on or off", (long long)frame);
    if (!a->on)
        return;
    ck_assert_msg(a->pairs == b->pairs && a->rounds == b->rounds &&
                      a->force_count == b->force_count,
                  "contact of frame %lld differs", (long long)frame);
    same(&a->gap, &b->gap, sizeof a->gap, "the gap", frame);
    same(&a->friction_work, &b->friction_work, sizeof a->friction_work, "friction's work", frame);
    same(a->forces, b->forces, (size_t)a->force_count * sizeof *a->forces, "forces of bodies",
         frame);
}

void pl_check_metrics(const pl_scene *scene, const pl_metrics *a, const pl_metrics *b)
{
    SAME(frame);
    SAME(time);
    SAME(steps);
    SAME(iterations);
    SAME(unconverged);
    SAME(halved);
    SAME(by_euler);
    SAME(objective);
    SAME(primal_residual);
    SAME(dual_residual);
    SAME(gradient_norm);
    SAME(decrement);
    SAME(kinetic);
    SAME(elastic);
    SAME(gravity);
    SAME(dissipated);
    SAME(linear);
    SAME(angular);
    SAME(inverted);
    SAME(contacts);
    SAME(max_stretch);
    SAME(detail_count);
    if (scene->pin_count > 0)
        same(a->pins, b->pins, (size_t)scene->pin_count * sizeof *a->pins, "pins", a->frame);
    if (scene->obstacle_count > 0)
        same(a->obstacles, b->obstacles, (size_t)scene->obstacle_count * sizeof *a->obstacles,
             "obstacles", a->frame);
    if (scene->obstacle_count > 0)
        same(a->obstacle_contacts, b->obstacle_contacts,
             (size_t)scene->obstacle_count * sizeof *a->obstacle_contacts, "obstacle_contacts",
             a->frame);
    if (a->penetration && b->penetration)
        same(a->penetration, b->penetration, (size_t)scene->obstacle_count * sizeof *a->penetration,
             "penetration", a->frame);
    same_contact(&a->contact, &b->contact, a->frame);
    for (int64_t k = 0; k < a->detail_count; k++)
        same_row(&a->detail[k], &b->detail[k], a->frame);
}
