#include "engine/model/groups/terms.h"

#include "engine/isa.h"
#include "engine/model/hash.h"
#include "engine/scene/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TABLE(name)                                                                                \
    PL_ISA_DECLARE(const pl_group_ops, pl_##name##_ops);                                           \
    static const pl_group_ops *const name[PL_ISA_COUNT] = PL_ISA_TABLE(pl_##name##_ops);

TABLE(link_2)
TABLE(link_4)
TABLE(link_5)
TABLE(hard_link_2)
TABLE(hard_link_4)
TABLE(held_link_2)
TABLE(triangles)
TABLE(triangle_limits)
TABLE(tet_limits)
TABLE(damping_edges)
TABLE(damping_triangles)
TABLE(damping_tets)
TABLE(damping_creased)
TABLE(damped_tets)
TABLE(damping_bends)
TABLE(damping_hinges)

static const pl_group_ops *const *const TABLES[PL_TERMS_KINDS] = {
    [PL_TERMS_LINK_2] = link_2,
    [PL_TERMS_LINK_4] = link_4,
    [PL_TERMS_LINK_5] = link_5,
    [PL_TERMS_HARD_LINK_2] = hard_link_2,
    [PL_TERMS_HARD_LINK_4] = hard_link_4,
    [PL_TERMS_HELD_LINK_2] = held_link_2,
    [PL_TERMS_TRIANGLES] = triangles,
    [PL_TERMS_TRIANGLE_LIMITS] = triangle_limits,
    [PL_TERMS_TET_LIMITS] = tet_limits,
    [PL_TERMS_DAMPING_EDGES] = damping_edges,
    [PL_TERMS_DAMPING_TRIANGLES] = damping_triangles,
    [PL_TERMS_DAMPING_TETS] = damping_tets,
    [PL_TERMS_DAMPING_CREASED] = damping_creased,
    [PL_TERMS_DAMPED_TETS] = damped_tets,
    [PL_TERMS_DAMPING_BENDS] = damping_bends,
    [PL_TERMS_DAMPING_HINGES] = damping_hinges,
};

const pl_group_ops *pl_terms_ops(pl_terms_kind kind)
{
    return TABLES[kind][pl_isa_current()];
}

void pl_terms_list_init(pl_terms_list *list, const pl_group_ops *ops, int32_t constants)
{
    *list = (pl_terms_list){.ops = ops, .constants = constants};
}

void pl_terms_list_clear(pl_terms_list *list)
{
    free(list->corner);
    free(list->element);
    free(list->shape);
    free(list->offset);
    free(list->constant);
    free(list->weight);
    free(list->motion);
    *list = (pl_terms_list){0};
}

static bool grow(void *array, int64_t count, size_t size)
{
    void *bigger = realloc(*(void **)array, (size_t)count * size);
    if (bigger)
        *(void **)array = bigger;
    return bigger != NULL;
}

static pl_status make_room(pl_terms_list *list)
{
    if (list->count < list->room)
        return PL_OK;
    int64_t room = 2 * list->room + 64;
    int32_t corners = list->ops->corners, rows = list->ops->rows;
    if (!grow(&list->corner, room * corners, sizeof *list->corner) ||
        !grow(&list->element, room, sizeof *list->element) ||
        !grow(&list->shape, room * corners * rows / 3, sizeof *list->shape) ||
        !grow(&list->offset, room * rows, sizeof *list->offset) ||
        !grow(&list->constant, room * list->constants, sizeof *list->constant) ||
        !grow(&list->weight, room, sizeof *list->weight))
        return PL_NO_MEMORY;
    if (list->motion && !grow(&list->motion, room, sizeof *list->motion))
        return PL_NO_MEMORY;
    list->room = room;
    return PL_OK;
}

/* Most lists have no motions: the column is created with the first, "not present" before it. */
static pl_status add_motion(pl_terms_list *list, int64_t k, const pl_motion *motion)
{
    if (motion && !list->motion) {
        list->motion = calloc((size_t)list->room, sizeof *list->motion);
        if (!list->motion)
            return PL_NO_MEMORY;
    }
    if (list->motion)
        list->motion[k] = motion ? *motion : (pl_motion){0};
    return PL_OK;
}

/* If the coefficients of a column sum to zero up to rounding, a shift of all corners must change no bit of it: the
 * first is set to minus the sum of the others, in the order in which terms_template.h adds them. */
static void settle(double *shape, int32_t corners, int32_t columns)
{
    for (int32_t j = 0; j < columns; j++) {
        double sum = 0, size = fabs(shape[j]);
        for (int32_t c = 1; c < corners; c++) {
            sum += shape[c * columns + j];
            size = fmax(size, fabs(shape[c * columns + j]));
        }
        if (fabs(sum + shape[j]) <= 1e-12 * size)
            shape[j] = -sum;
    }
}

pl_status pl_terms_list_add(pl_terms_list *list, const pl_term *term)
{
    if (make_room(list) != PL_OK || add_motion(list, list->count, term->motion) != PL_OK)
        return PL_NO_MEMORY;
    int32_t corners = list->ops->corners, rows = list->ops->rows, columns = rows / 3;
    int64_t k = list->count++;
    double *shape = list->shape + k * corners * columns;
    for (int32_t c = 0; c < corners; c++) {
        bool given = c < term->corners; /* an unused corner has coefficient 0 */
        list->corner[k * corners + c] = term->corner[given ? c : 0];
        for (int32_t j = 0; j < columns; j++)
            shape[c * columns + j] = given ? term->shape[c * columns + j] : 0;
    }
    settle(shape, corners, columns);
    for (int32_t r = 0; r < rows; r++)
        list->offset[k * rows + r] = term->offset ? term->offset[r] : 0;
    memcpy(list->constant + k * list->constants, term->constant,
           (size_t)list->constants * sizeof *term->constant);
    list->weight[k] = term->weight;
    list->element[k] = term->element;
    return PL_OK;
}

void pl_terms_destroy(pl_group *g)
{
    pl_terms *t = g->data;
    if (t) {
        free(t->shape);
        free(t->offset);
        free(t->place);
        free(t->motion);
        free(t->constant);
        if (g->ops->held)
            free(((pl_held_terms *)t)->bounds);
        free(t->element);
        free(t->frozen);
        free((void *)t->damping);
        free(t);
    }
    free(g->corner);
    free(g->weight);
    *g = (pl_group){0};
}

/* to[block][rows][L] from from[count][rows]; padding copies the block's first. */
static void spread(double *to, const double *from, int64_t count, int64_t blocks, int32_t rows)
{
    for (int64_t i = 0; i < blocks * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, lane = i % PL_BLOCK, k = i < count ? i : b * PL_BLOCK;
        for (int32_t r = 0; r < rows; r++)
            to[(b * rows + r) * PL_BLOCK + lane] = from[k * rows + r];
    }
}

/* o of every moving term, from its motion at `time`. */
static void carry(const pl_terms *t, double time, int64_t b0, int64_t b1)
{
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        int64_t first = i / PL_BLOCK * 3 * PL_BLOCK + i % PL_BLOCK;
        if (!t->motion[i].present && !t->motion[i].drive)
            continue;
        double own[3], now[3];
        pl_pose pose = pl_motion_pose(&t->motion[i], time);
        for (int c = 0; c < 3; c++)
            own[c] = t->place[first + c * PL_BLOCK];
        pl_pose_apply(&pose, own, now);
        for (int c = 0; c < 3; c++)
            t->offset[first + c * PL_BLOCK] = now[c];
    }
}

void pl_terms_freeze(const pl_group *g, const pl_stage *stage, int64_t b0, int64_t b1)
{
    const pl_terms *t = g->data;
    if (t->motion)
        carry(t, stage->scalars.time_end, b0, b1);
}

/* The list's motions, and its offsets as positions in their frames. */
static pl_status take_motions(pl_terms *t, const pl_terms_list *list, int64_t blocks)
{
    t->place = pl_block_alloc(blocks * 3 * PL_BLOCK, sizeof *t->place);
    t->motion = pl_block_alloc(blocks * PL_BLOCK, sizeof *t->motion);
    if (!t->place || !t->motion)
        return PL_NO_MEMORY;
    spread(t->place, list->offset, list->count, blocks, 3);
    for (int64_t i = 0; i < blocks * PL_BLOCK; i++)
        t->motion[i] = list->motion[i < list->count ? i : i - i % PL_BLOCK];
    carry(t, 0, 0, blocks);
    return PL_OK;
}

/* Keeps a copy of a held group's constants, from which `hold` computes those in use. */
static pl_status take_bounds(pl_group *g)
{
    pl_held_terms *held = g->data;
    const int64_t count = g->blocks * held->terms.constants * PL_BLOCK;
    held->bounds = pl_block_alloc(count, sizeof *held->bounds);
    if (!held->bounds)
        return PL_NO_MEMORY;
    memcpy(held->bounds, held->terms.constant, (size_t)count * sizeof *held->bounds);
    g->ops->held->hold(g, NULL, 0, g->blocks);
    return PL_OK;
}

pl_status pl_terms_create(const pl_terms_list *list, const pl_stretch_ops *material,
                          const double *shared, pl_group *out)
{
    const pl_group_ops *ops = list->ops;
    int64_t count = list->count, blocks = (count + PL_BLOCK - 1) / PL_BLOCK;
    int32_t corners = ops->corners, rows = ops->rows, entries = corners * rows / 3;
    bool shifted = list->motion != NULL;
    for (int64_t i = 0; i < count * rows; i++)
        shifted = shifted || list->offset[i] != 0;
    pl_group g = {.ops = ops, .terms = count, .blocks = blocks};
    pl_terms *t = calloc(1, ops->held ? sizeof(pl_held_terms) : sizeof *t);
    if (!t)
        return PL_NO_MEMORY;
    *t = (pl_terms){.constants = list->constants, .material = material, .shared = shared};
    g.data = t;
    g.corner = pl_block_alloc(blocks * corners * PL_BLOCK, sizeof *g.corner);
    g.weight = pl_block_alloc(blocks * PL_BLOCK, sizeof *g.weight);
    t->shape = pl_block_alloc(blocks * entries * PL_BLOCK, sizeof *t->shape);
    t->offset = shifted ? pl_block_alloc(blocks * rows * PL_BLOCK, sizeof *t->offset) : NULL;
    t->constant = pl_block_alloc(blocks * t->constants * PL_BLOCK, sizeof *t->constant);
    t->element = pl_block_alloc(blocks * PL_BLOCK, sizeof *t->element);
    if (!g.corner || !g.weight || !t->shape || (shifted && !t->offset) || !t->constant ||
        !t->element) {
        pl_terms_destroy(&g);
        return PL_NO_MEMORY;
    }
    spread(t->shape, list->shape, count, blocks, entries);
    spread(t->constant, list->constant, count, blocks, t->constants);
    if (shifted)
        spread(t->offset, list->offset, count, blocks, rows);
    if (list->motion && take_motions(t, list, blocks) != PL_OK) {
        pl_terms_destroy(&g);
        return PL_NO_MEMORY;
    }
    for (int64_t i = 0; i < blocks * PL_BLOCK; i++) {
        int64_t b = i / PL_BLOCK, lane = i % PL_BLOCK, k = i < count ? i : b * PL_BLOCK;
        for (int32_t c = 0; c < corners; c++)
            g.corner[(b * corners + c) * PL_BLOCK + lane] = list->corner[k * corners + c];
        t->element[i] = list->element[k];
        g.weight[i] = i < count ? list->weight[i] : 0;
        if (i >= count)
            t->constant[b * t->constants * PL_BLOCK + lane] = 0;
    }
    if (ops->held && take_bounds(&g) != PL_OK) {
        pl_terms_destroy(&g);
        return PL_NO_MEMORY;
    }
    *out = g;
    return PL_OK;
}

/* K_cd = w^2 sum_j G_cj G_dj */
void pl_terms_stiffness(const pl_group *g, int64_t block, int32_t lane, double *K)
{
    const pl_terms *t = g->data;
    int32_t corners = g->ops->corners, columns = g->ops->rows / 3;
    const double *G = t->shape + block * corners * columns * PL_BLOCK + lane;
    double w2 = g->weight[block * PL_BLOCK + lane];
    for (int32_t c = 0; c < corners; c++)
        for (int32_t d = 0; d < corners; d++) {
            double sum = 0;
            for (int32_t j = 0; j < columns; j++)
                sum += G[(c * columns + j) * PL_BLOCK] * G[(d * columns + j) * PL_BLOCK];
            K[c * corners + d] = w2 * sum;
        }
}

uint64_t pl_terms_hash_numbers(const pl_group *g, uint64_t hash)
{
    const pl_terms *t = g->data;
    size_t line = (size_t)g->blocks * PL_BLOCK * sizeof(double);
    size_t corners = (size_t)g->ops->corners, rows = (size_t)g->ops->rows;
    hash = pl_hash(hash, g->corner, (size_t)g->blocks * PL_BLOCK * corners * sizeof *g->corner);
    hash = pl_hash(hash, t->shape, line * corners * rows / 3);
    const bool held = g->ops->held;
    hash = pl_hash(hash, held ? ((const pl_held_terms *)t)->bounds : t->constant,
                   line * (size_t)t->constants);
    if (t->offset) /* the moving ones */
        hash = pl_hash(hash, t->motion ? t->place : t->offset, line * rows);
    for (int64_t i = 0; t->motion && i < g->terms; i++)
        hash = pl_hash_motion(hash, &t->motion[i]);
    return hash;
}

uint64_t pl_terms_hash_material(const pl_group *g, uint64_t hash)
{
    const pl_terms *t = g->data;
    return t->material ? pl_hash(hash, t->material->name, strlen(t->material->name)) : hash;
}

uint64_t pl_terms_hash(const pl_group *g, uint64_t hash)
{
    return pl_terms_hash_material(g, pl_terms_hash_numbers(g, hash));
}

/* ---- copies around vertices ---- */

void pl_terms_local_release(pl_group *copy)
{
    pl_terms *t = copy->data;
    if (t)
        t->damping = NULL; /* the original's */
    pl_terms_destroy(copy);
}

pl_status pl_terms_local_copy(const pl_group *g, const pl_places *places, pl_group *out)
{
    const pl_terms *from = g->data;
    const int32_t corners = g->ops->corners, rows = g->ops->rows, frozen = from->frozen_rows;
    pl_group copy = {.ops = g->ops, .blocks = places->blocks};
    pl_terms *t = copy.data = calloc(1, sizeof *t);
    if (!t)
        return PL_NO_MEMORY;
    *t = (pl_terms){.constants = from->constants,
                    .material = from->material,
                    .shared = from->shared,
                    .damping = from->damping,
                    .frozen_rows = frozen};
    copy.corner = pl_local_copy_corners(g->corner, corners, places);
    t->shape = pl_local_copy_rows(from->shape, corners * rows / 3, places);
    t->offset = from->offset ? pl_local_copy_rows(from->offset, rows, places) : NULL;
    t->constant = pl_local_copy_rows(from->constant, from->constants, places);
    t->frozen = from->frozen ? pl_local_copy_rows(from->frozen, frozen, places) : NULL;
    if (!copy.corner || !t->shape || (from->offset && !t->offset) || !t->constant ||
        (from->frozen && !t->frozen)) {
        pl_terms_local_release(&copy);
        return PL_NO_MEMORY;
    }
    pl_local_clear_padding(places, t->constants, t->constant);
    *out = copy;
    return PL_OK;
}

void pl_terms_local_refreeze(const pl_group *g, const pl_places *places, pl_group *copy, int64_t b0,
                             int64_t b1)
{
    const pl_terms *from = g->data;
    pl_terms *t = copy->data;
    if (from->motion)
        pl_local_fill_rows(from->offset, g->ops->rows, places, t->offset, b0, b1);
    if (from->frozen)
        pl_local_fill_rows(from->frozen, from->frozen_rows, places, t->frozen, b0, b1);
}
