#include "engine/backends/device/device_model.h"

#include "engine/backends/device/reading.h"
#include "engine/scene/material_kind.h"
#include "engine/model/groups/contact_springs.h"
#include "engine/model/groups/contacts.h"
#include "engine/model/damping/damping.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(pl_stretch_model) == 12, "laid out as kernels read it");

enum { PIECE = 1 << 14 };

void PL_NAMED(pl_device_put_numbers)(pl_device_queue *queue, pl_number *to, const double *from,
                                     int64_t count)
{
    pl_number piece[PIECE];
    for (int64_t i = 0; i < count; i += PIECE) {
        int64_t n = count - i < PIECE ? count - i : PIECE;
        for (int64_t k = 0; k < n; k++)
            piece[k] = (pl_number)from[i + k];
        pl_device_put(queue, to + i, piece, (size_t)n * sizeof *piece);
    }
}

void PL_NAMED(pl_device_get_numbers)(pl_device_queue *queue, double *to, const pl_number *from,
                                     int64_t count)
{
    const int64_t most = PL_DEVICE_READ / (int64_t)sizeof *from;
    for (int64_t i = 0; i < count; i += most) {
        int64_t n = count - i < most ? count - i : most;
        const pl_number *piece = pl_device_read(queue, from + i, (size_t)n * sizeof *piece);
        for (int64_t k = 0; k < n; k++)
            to[i + k] = piece[k];
    }
}

/* ---- memory of the model ---- */

static void *take(pl_device_model *m, size_t bytes)
{
    if (m->memory_count == m->memory_room) {
        int64_t room = 2 * m->memory_room + 64;
        void **bigger = realloc(m->memory, (size_t)room * sizeof *bigger);
        if (!bigger)
            return NULL;
        m->memory = bigger;
        m->memory_room = room;
    }
    void *memory = pl_device_alloc(m->queue, bytes > 0 ? bytes : 1);
    if (memory)
        m->memory[m->memory_count++] = memory;
    return memory;
}

static pl_number *take_numbers(pl_device_model *m, const void *doubles, int64_t count)
{
    pl_number *to = take(m, (size_t)count * sizeof *to);
    if (to && doubles)
        PL_NAMED(pl_device_put_numbers)(m->queue, to, doubles, count);
    return to;
}

static void *take_bytes(pl_device_model *m, const void *from, size_t bytes)
{
    void *to = take(m, bytes);
    if (to)
        pl_device_put(m->queue, to, from, bytes);
    return to;
}

/* Converts a slot of gather.h to an index of whole corners: [block][corner][3][L] is [block][corner][L] there. */
static int64_t corner_of(int64_t slot)
{
    return slot / (3 * PL_BLOCK) * PL_BLOCK + slot % (3 * PL_BLOCK);
}

/* 64-bit offsets as 32-bit ones; the model is small enough (pl_device_refuses). */
static int32_t *take_offsets(pl_device_model *m, const int64_t *from, int64_t count, bool slots)
{
    int32_t *narrow = malloc((size_t)(count + 1) * sizeof *narrow), *to = NULL;
    for (int64_t i = 0; narrow && i < count; i++)
        narrow[i] = (int32_t)(slots ? corner_of(from[i]) : from[i]);
    if (narrow)
        to = take_bytes(m, narrow, (size_t)count * sizeof *narrow);
    free(narrow);
    return to;
}

void PL_NAMED(pl_device_model_destroy)(pl_device_model *m)
{
    for (int64_t i = 0; i < m->memory_count; i++)
        pl_device_release(m->queue, m->memory[i]);
    free(m->memory);
    free(m->groups);
    free(m->pin_vertex);
    *m = (pl_device_model){0};
}

/* ---- groups ---- */

/* clang-format off */
#define KINDS(DO)                                                                                  \
    DO(tets_neo_hookean) DO(tets_corotated) DO(tets_arap) DO(tets_stretch)                         \
    DO(link_2) DO(link_4) DO(link_5) DO(hard_link_2) DO(hard_link_4) DO(triangles) DO(hinges)      \
    DO(triangle_limits) DO(tet_limits) DO(contacts) DO(obstacles) DO(touching)                                  \
    DO(damping_edges) DO(damping_triangles) DO(damping_tets)
/* clang-format on */
#define DO(kind) extern const pl_term_kernels PL_NAMED(pl_device_##kind);
KINDS(DO)
#undef DO

static const pl_term_kernels *kernels_of(const pl_group *g)
{
    static const pl_term_kernels *const all[] = {
#define DO(kind) &PL_NAMED(pl_device_##kind),
        KINDS(DO)
#undef DO
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (g->ops->hard == all[k]->hard && strcmp(g->ops->name, all[k]->name) == 0 &&
            g->ops->corners == all[k]->corners && g->ops->rows == all[k]->rows)
            return all[k];
    return NULL;
}

bool PL_NAMED(pl_device_is_touching)(const pl_group *g)
{
    return strcmp(g->ops->name, PL_NAMED(pl_device_touching).name) == 0;
}

const char *PL_NAMED(pl_device_refuses)(const pl_model *model)
{
    if (model->contributions / 3 > INT32_MAX)
        return "the model has more elements than its 32-bit offsets reach";
    for (int32_t g = 0; g < model->group_count; g++) {
        if (!kernels_of(&model->groups[g]))
            return "it has terms that the GPU does not support";
    }
    return NULL;
}

/* By name: a plug-in's tables are not those to which the model points. */
static pl_stretch_model stretch_of(const pl_stretch_ops *ops)
{
    static const char *const names[PL_MATERIAL_KINDS] = {
#define DO(kind, model) [PL_MATERIAL_##kind] = #model,
        PL_STRETCH_EACH_KIND(DO)
#undef DO
    };
    pl_stretch_model out = {0};
    for (int kind = 0; ops && kind < PL_MATERIAL_KINDS; kind++)
        if (strcmp(names[kind], ops->name) == 0)
            out = (pl_stretch_model){ops->constants, kind, ops->domain};
    return out;
}

/* The groups' structs point to doubles here, whatever their declared type. */
static bool create_tets(pl_device_model *m, const pl_group *from, pl_term_arguments *to)
{
    const pl_tets *t = from->data;
    int64_t lanes = from->blocks * PL_BLOCK;
    int64_t constants = t->stretch->constants;
    to->stretch = stretch_of(t->stretch);
    to->tets.shape = take_numbers(m, t->shape, 9 * lanes);
    to->tets.volume = take_numbers(m, t->volume, lanes);
    to->tets.constants = take_numbers(m, t->constants, constants * lanes);
    if (t->shared)
        to->tets.shared = take_numbers(m, t->shared, PL_SPLINE_SHARED);
    if (t->blend)
        to->tets.blend = take_numbers(m, t->blend, 2 * lanes);
    if (t->around) {
        to->tets.least = take_numbers(m, t->least, lanes);
        to->tets.around_start = take_bytes(m, t->around_start,
                                           t->around_vertices * sizeof(int32_t));
        to->tets.around = take_bytes(m, t->around, 4 * (size_t)from->terms * sizeof(int32_t));
    }
    return to->tets.shape && to->tets.volume && to->tets.constants &&
           (to->tets.shared || !t->shared) && (to->tets.blend || !t->blend) &&
           (!t->around || (to->tets.least && to->tets.around_start && to->tets.around));
}

static bool create_terms(pl_device_model *m, const pl_group *from, pl_term_arguments *to)
{
    const pl_terms *t = from->data;
    int64_t lanes = from->blocks * PL_BLOCK, columns = from->ops->rows / 3;
    to->stretch = stretch_of(t->material);
    to->terms.constants = t->constants;
    to->terms.shape = take_numbers(m, t->shape, from->ops->corners * columns * lanes);
    to->terms.constant = take_numbers(m, t->constant, t->constants * lanes);
    if (t->offset)
        to->terms.offset = take_numbers(m, t->offset, 3 * columns * lanes);
    if (t->shared)
        to->terms.shared = take_numbers(m, t->shared, PL_SPLINE_SHARED);
    return to->terms.shape && to->terms.constant && (to->terms.offset || !t->offset) &&
           (to->terms.shared || !t->shared);
}

/* For dissipation, whose frozen rows every stage recomputes. */
static bool create_damping(pl_device_model *m, const pl_group *from, pl_term_arguments *to)
{
    const pl_terms *t = from->data;
    to->terms.damping = take_bytes(m, t->damping, sizeof *t->damping);
    to->terms.frozen_rows = t->frozen_rows;
    to->terms.frozen = take_numbers(m, NULL, t->frozen_rows * from->blocks * PL_BLOCK);
    return create_terms(m, from, to) && to->terms.damping && to->terms.frozen;
}

static bool create_hinges(pl_device_model *m, const pl_group *from, pl_term_arguments *to)
{
    const pl_hinges *h = from->data;
    size_t bytes = (size_t)(from->blocks * PL_BLOCK) * sizeof *h->stiffness;
    to->hinges.stiffness = take_bytes(m, h->stiffness, bytes);
    to->hinges.angle = take_bytes(m, h->angle, bytes);
    return to->hinges.stiffness && to->hinges.angle;
}

static pl_closed_mesh *take_solid(pl_device_model *m, const pl_closed_mesh *from)
{
    size_t three = 3 * sizeof(double), count = (size_t)from->count, n = (size_t)from->vertices;
    pl_closed_mesh to = *from;
    to.vertex = take_bytes(m, from->vertex, n * three);
    to.triangle = take_bytes(m, from->triangle, 3 * count * sizeof *from->triangle);
    to.face_normal = take_bytes(m, from->face_normal, count * three);
    to.edge_normal = take_bytes(m, from->edge_normal, 3 * count * three);
    to.corner_normal = take_bytes(m, from->corner_normal, n * three);
    to.nodes = take_bytes(m, from->nodes, (size_t)from->node_count * sizeof *from->nodes);
    bool good = to.vertex && to.triangle && to.face_normal && to.edge_normal && to.corner_normal &&
                to.nodes;
    return good ? take_bytes(m, &to, sizeof to) : NULL;
}

/* The shape in the device's memory, or NULL. */
static pl_shape *take_shape(pl_device_model *m, const pl_shape *from)
{
    pl_shape shape = *from;
    if (shape.solid)
        shape.solid = take_solid(m, shape.solid);
    return from->solid && !shape.solid ? NULL : take_bytes(m, &shape, sizeof shape);
}

/* Factors on friction, one per lane; true if none. */
static bool take_shares(pl_device_model *m, const pl_group *from, const double *share, double **to)
{
    if (share)
        *to = take_bytes(m, share, (size_t)(from->blocks * PL_BLOCK) * sizeof *share);
    return *to || !share;
}

static bool create_obstacle(pl_device_model *m, const pl_group *from, pl_term_arguments *to)
{
    const pl_contacts *k = from->data;
    to->obstacle.shape = take_shape(m, k->shape);
    to->obstacle.friction = k->friction;
    double *share = NULL;
    bool good = take_shares(m, from, k->share, &share);
    to->obstacle.share = share;
    return to->obstacle.shape && good;
}

static bool create_contacts(pl_device_model *m, const pl_group *from, pl_term_arguments *to)
{
    const pl_contact_springs *s = from->data;
    size_t lanes = (size_t)(from->blocks * PL_BLOCK);
    to->contact.shape = take_shape(m, s->law.shape);
    to->contact.friction = s->law.friction;
    to->contact.stiffness = take_bytes(m, s->law.stiffness, lanes * sizeof *s->law.stiffness);
    to->contact.anchors = take(m, lanes * sizeof *s->law.anchors);
    to->contact.extrapolation = 1;
    return take_shares(m, from, s->law.share, &to->contact.share) && to->contact.shape &&
           to->contact.stiffness && to->contact.anchors;
}

/* The group's own data. */
static bool create_own(pl_device_model *m, const pl_group *from, pl_term_arguments *to)
{
    if (from->ops->push)
        return create_contacts(m, from, to);
    if (from->ops->depth)
        return create_obstacle(m, from, to);
    if (from->ops->dissipate)
        return create_damping(m, from, to);
    if (PL_NAMED(pl_device_is_touching)(from))
        return (to->way = take_numbers(m, NULL, 3 * from->blocks * PL_BLOCK)) != NULL;
    if (from->ops->hard)
        return create_terms(m, from, to);
    switch (from->ops->rows) {
    case 0:
        return create_hinges(m, from, to);
    case 9:
        return create_tets(m, from, to);
    default:
        return create_terms(m, from, to);
    }
}

static bool create_group(pl_device_model *m, const pl_group *from, pl_device_group *to)
{
    int64_t lanes = from->blocks * PL_BLOCK;
    pl_term_arguments *a = &to->arguments;
    to->kernels = kernels_of(from);
    to->threads = lanes;
    to->first = m->threads;
    m->threads += lanes;
    a->group.terms = from->terms;
    a->group.blocks = from->blocks;
    a->group.contribution = from->contribution;
    size_t corners = (size_t)(from->ops->corners * lanes);
    a->group.corner = take_bytes(m, from->corner, corners * sizeof *from->corner);
    a->group.weight = take_numbers(m, from->weight, lanes);
    return a->group.corner && a->group.weight && create_own(m, from, a);
}

/* ---- the model ---- */

static bool create_vertices(pl_device_model *m, const pl_model *from)
{
    pl_device_vertices *v = &m->vertices;
    size_t n = (size_t)from->vertices, f = (size_t)from->free_vertices;
    v->count = from->vertices;
    v->free = from->free_vertices;
    v->free_vertex = take_bytes(m, from->free_vertex, f * sizeof *v->free_vertex);
    v->free_row = take_bytes(m, from->free_row, n * sizeof *v->free_row);
    v->held = take_bytes(m, from->held, n);
    v->mass = take_numbers(m, from->mass, from->vertices);
    v->diagonal = take_numbers(m, from->diagonal, from->free_vertices);
    v->start = take_offsets(m, from->gather.start, from->vertices + 1, false);
    v->slot = take_offsets(m, from->gather.slot, from->gather.start[from->vertices], true);
    m->x0 = take_bytes(m, from->x0, 3 * n * sizeof *m->x0);
    return v->free_vertex && v->free_row && v->held && v->mass && v->diagonal && v->start &&
           v->slot && m->x0;
}

pl_status PL_NAMED(pl_device_model_create)(pl_device_queue *queue, const pl_model *model,
                                           pl_device_model *out)
{
    *out = (pl_device_model){.queue = queue};
    out->groups = calloc((size_t)model->group_count + 1, sizeof *out->groups);
    out->pin_vertex = calloc((size_t)model->pin_count + 1, sizeof *out->pin_vertex);
    bool good = out->groups && out->pin_vertex && create_vertices(out, model);
    for (int32_t g = 0; good && g < model->group_count; g++)
        good = create_group(out, &model->groups[g], &out->groups[g]);
    for (int32_t p = 0; good && p < model->pin_count; p++) {
        const pl_pin_model *pin = &model->pins[p];
        out->pin_vertex[p] = take_bytes(out, pin->vertex, (size_t)pin->count * sizeof *pin->vertex);
        good = out->pin_vertex[p] != NULL;
    }
    if (good) {
        out->contributions = take(out,
                                  (size_t)(model->contributions / 3) * sizeof *out->contributions);
        out->energy = take_numbers(out, NULL, out->threads);
        out->stretch = take_numbers(out, NULL, out->threads);
        out->inverted = take_numbers(out, NULL, out->threads);
        good = out->contributions && out->energy && out->stretch && out->inverted;
    }
    return good ? PL_OK : PL_NO_MEMORY;
}
