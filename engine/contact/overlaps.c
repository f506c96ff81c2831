#include "engine/contact/overlaps.h"

#include "engine/contact/crossings.h"
#include "engine/contact/pairs.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the mean edge of a body's surface. */
static const double DRAWN_IN = 1e-3;
/* Relative to a body's mean edge: sheets and ropes this close to each other have an unknown side. */
static const double ON_ANOTHER = 1e-6;
/* Relative to 4 pi: the solid angle of a closed surface is all of it from inside, about half from on it, 0 from
 * outside. */
static const double INSIDE = 0.75;
/* A point is in a triangle's plane if its volume with the triangle is below this fraction of the product of its
 * distances. */
static const double IN_PLANE = 1e-9;
/* Number of vertices tested on a piece of a surface: all of them may be on the other's surface. */
enum { SAMPLES = 16 };
static const double PI = 3.14159265358979323846;

typedef struct look {
    const pl_contact_surface *s;
    const double *x;
    double *drawn;    /* [scene vertices][3]: surfaces of solids, shrunk */
    double *edge;     /* [bodies]: mean edge, m */
    double (*box)[6]; /* [bodies]: lowest corner, highest corner */
    int32_t *size,
        *seen;      /* [vertices]: for a piece, by its first vertex: number of vertices, and of
                       tested ones */
    int32_t *piece; /* [vertices]: the first vertex of the surface to which edges join it */
    int32_t bodies;
} look;

static void clear_look(look *l)
{
    free(l->drawn);
    free(l->edge);
    free(l->box);
    free(l->piece);
    free(l->size);
}

static void measure_edges(look *l)
{
    int32_t e = 0; /* edges are ordered by their vertices, and so by bodies */
    for (int32_t b = 0; b < l->bodies; b++) {
        double sum = 0;
        int32_t before = e;
        for (; e < l->s->edges && l->s->edge_body[e] == b; e++) {
            double d[3];
            const int32_t *end = l->s->edge + 2 * (int64_t)e;
            pl_vector_subtract(l->x + 3 * (int64_t)end[0], l->x + 3 * (int64_t)end[1], d);
            sum += sqrt(pl_vector_dot(d, d));
        }
        l->edge[b] = e > before ? sum / (e - before) : 0;
    }
}

static void measure_boxes(look *l)
{
    for (int32_t b = 0; b < l->bodies; b++)
        for (int c = 0; c < 3; c++) {
            l->box[b][c] = INFINITY;
            l->box[b][3 + c] = -INFINITY;
        }
    for (int32_t i = 0; i < l->s->vertices; i++)
        for (int c = 0; c < 3; c++) {
            double *box = l->box[l->s->vertex_body[i]], at = l->x[3 * (int64_t)l->s->vertex[i] + c];
            box[c] = fmin(box[c], at);
            box[3 + c] = fmax(box[3 + c], at);
        }
}

/* Moves vertices of solids against the mean of their triangles' normals. */
static void draw_in(look *l)
{
    const pl_contact_surface *s = l->s;
    memset(l->drawn, 0, 3 * (size_t)s->scene_vertices * sizeof *l->drawn);
    for (int32_t t = 0; t < s->triangles; t++) {
        const int32_t *v = s->triangle + 3 * (int64_t)t;
        double e[3], h[3], normal[3];
        if (!s->solid[s->triangle_body[t]])
            continue;
        pl_vector_subtract(l->x + 3 * (int64_t)v[1], l->x + 3 * (int64_t)v[0], e);
        pl_vector_subtract(l->x + 3 * (int64_t)v[2], l->x + 3 * (int64_t)v[0], h);
        pl_vector_cross(e, h, normal);
        for (int k = 0; k < 9; k++)
            l->drawn[3 * (int64_t)v[k / 3] + k % 3] += s->turned[t] ? -normal[k % 3]
                                                                    : normal[k % 3];
    }
    for (int32_t i = 0; i < s->vertices; i++) {
        double *to = l->drawn + 3 * (int64_t)s->vertex[i];
        double length = sqrt(pl_vector_dot(to, to));
        double by = length > 0 ? DRAWN_IN * l->edge[s->vertex_body[i]] / length : 0;
        for (int c = 0; c < 3; c++)
            to[c] = l->x[3 * (int64_t)s->vertex[i] + c] - by * to[c];
    }
}

static int32_t root_of(int32_t *piece, int32_t i)
{
    while (piece[i] != i)
        i = piece[i] = piece[piece[i]];
    return i;
}

static void find_pieces(look *l)
{
    for (int32_t i = 0; i < l->s->vertices; i++)
        l->piece[i] = i;
    for (int32_t e = 0; e < l->s->edges; e++) {
        const int32_t *end = l->s->edge + 2 * (int64_t)e;
        int32_t a = root_of(l->piece, l->s->place[end[0]]),
                b = root_of(l->piece, l->s->place[end[1]]);
        l->piece[a > b ? a : b] = a < b ? a : b;
    }
    for (int32_t i = 0; i < l->s->vertices; i++)
        l->size[l->piece[i] = root_of(l->piece, i)]++;
}

static bool begin(look *l, const pl_contact_surface *s, const double *x, int32_t bodies)
{
    *l = (look){.s = s, .x = x, .bodies = bodies};
    l->drawn = malloc((3 * (size_t)s->scene_vertices + 1) * sizeof *l->drawn);
    l->edge = malloc(((size_t)bodies + 1) * sizeof *l->edge);
    l->box = malloc(((size_t)bodies + 1) * sizeof *l->box);
    l->piece = malloc(((size_t)s->vertices + 1) * sizeof *l->piece);
    l->size = calloc(2 * (size_t)s->vertices + 1, sizeof *l->size);
    if (!l->drawn || !l->edge || !l->box || !l->piece || !l->size)
        return false;
    l->seen = l->size + s->vertices;
    measure_edges(l);
    measure_boxes(l);
    draw_in(l);
    find_pieces(l);
    return true;
}

static void set(const look *l, int32_t a, int32_t b, uint8_t *mark)
{
    mark[(int64_t)a * l->bodies + b] = mark[(int64_t)b * l->bodies + a] = 1;
}

/* ---- one inside the other ---- */

/* The solid angle of a triangle from the origin, oriented (van Oosterom, Strackee 1983). 0 in its plane, where it
 * jumps from one half of the sphere to the other. */
static double solid_angle(double r[3][3])
{
    double n[3], length[3];
    for (int k = 0; k < 3; k++)
        length[k] = sqrt(pl_vector_dot(r[k], r[k]));
    pl_vector_cross(r[1], r[2], n);
    double volume = pl_vector_dot(r[0], n);
    if (fabs(volume) <= IN_PLANE * length[0] * length[1] * length[2])
        return 0;
    double below = length[0] * length[1] * length[2] + pl_vector_dot(r[0], r[1]) * length[2] +
                   pl_vector_dot(r[1], r[2]) * length[0] + pl_vector_dot(r[2], r[0]) * length[1];
    return 2 * atan2(volume, below);
}

/* The solid angle of a body's closed surface from a point, relative to 4 pi. */
static double seen(const look *l, int32_t body, const double *p)
{
    double sum = 0;
    for (int32_t t = 0; t < l->s->triangles; t++) {
        double r[3][3];
        if (l->s->triangle_body[t] != body)
            continue;
        for (int k = 0; k < 3; k++)
            pl_vector_subtract(l->x + 3 * (int64_t)l->s->triangle[3 * (int64_t)t + k], p, r[k]);
        sum += l->s->turned[t] ? -solid_angle(r) : solid_angle(r);
    }
    return sum / (4 * PI);
}

static bool boxes_meet(const look *l, int32_t a, int32_t b)
{
    bool meet = true;
    for (int c = 0; c < 3; c++)
        meet = meet && l->box[a][c] <= l->box[b][3 + c] && l->box[b][c] <= l->box[a][3 + c];
    return meet;
}

/* Marks the bodies that contain a point. */
static void mark_around(const look *l, int32_t inner, const double *p, uint8_t *mark)
{
    for (int32_t outer = 0; outer < l->s->bodies; outer++)
        if (outer != inner && l->s->solid[outer] && !mark[(int64_t)inner * l->bodies + outer] &&
            boxes_meet(l, inner, outer) && seen(l, outer, p) > INSIDE)
            set(l, inner, outer, mark);
}

/* True if this point of a piece is one of the about `count` that are tested. */
static bool is_sample(const look *l, int32_t vertex, int32_t count)
{
    const int32_t root = l->piece[vertex];
    return l->seen[root]++ % (1 + count / SAMPLES) == 0;
}

static void add_middle(const double *x, const int32_t *vertex, int count, double p[3])
{
    for (int k = 0; k < 3 * count; k++)
        p[k % 3] += x[3 * (int64_t)vertex[k / 3] + k % 3] / count;
}

/* Surfaces do not cross, so each piece of one is inside the other, outside of it, or on its surface. For sheets and
 * ropes with all vertices on it, the middles of triangles and segments decide. */
static void mark_inside(const look *l, uint8_t *mark)
{
    const pl_contact_surface *s = l->s;
    for (int32_t i = 0; i < s->vertices; i++)
        if (is_sample(l, i, l->size[l->piece[i]]))
            mark_around(l, s->vertex_body[i], l->drawn + 3 * (int64_t)s->vertex[i], mark);
    memset(l->seen, 0, (size_t)s->vertices * sizeof *l->seen);
    for (int32_t t = 0; t < s->triangles; t++) {
        const int32_t *v = s->triangle + 3 * (int64_t)t, first = s->place[v[0]];
        double p[3] = {0};
        if (s->solid[s->triangle_body[t]] || !is_sample(l, first, 2 * l->size[l->piece[first]]))
            continue;
        add_middle(l->x, v, 3, p);
        mark_around(l, s->triangle_body[t], p, mark);
    }
    for (int32_t r = 0; r < s->ropes; r++) {
        const int32_t *v = s->edge + 2 * (int64_t)s->rope[r], first = s->place[v[0]];
        double p[3] = {0};
        if (!is_sample(l, first, l->size[l->piece[first]]))
            continue;
        add_middle(l->x, v, 2, p);
        mark_around(l, s->edge_body[s->rope[r]], p, mark);
    }
}

/* ---- sheets and ropes that touch ---- */

static pl_status mark_touching(const look *l, pl_contact_trees *trees, uint8_t *mark)
{
    const pl_contact_surface *s = l->s;
    const pl_contact_filter filter = {l->bodies, mark};
    double reach = 0;
    for (int32_t b = 0; b < l->bodies; b++)
        reach = fmax(reach, ON_ANOTHER * l->edge[b]);
    const pl_contact_rules rules = {.reach = reach, .widen = 1, .filter = &filter};
    pl_contact_pairs found = {0};
    pl_status status = pl_contact_trees_update(trees, l->x, l->x, reach, 1);
    if (status == PL_OK)
        status = pl_contact_pairs_find(trees, l->x, &rules, 1, &found);
    for (int64_t k = 0; status == PL_OK && k < found.count; k++) {
        const int32_t *vertex = found.pair[k].vertex;
        const int last = found.pair[k].kind == PL_CONTACT_EDGE_EDGE ? 2 : 1;
        const int32_t a = s->vertex_body[s->place[vertex[0]]],
                      b = s->vertex_body[s->place[vertex[last]]];
        if (!s->solid[a] && !s->solid[b])
            set(l, a, b, mark);
    }
    pl_contact_pairs_clear(&found);
    return status;
}

pl_status pl_contact_overlaps_mark(pl_contact_trees *trees, const double *x, int32_t bodies,
                                   uint8_t *mark)
{
    look l;
    const pl_contact_filter filter = {bodies, mark};
    pl_contact_crossings found = {0};
    pl_status status = begin(&l, trees->surface, x, bodies) ? PL_OK : PL_NO_MEMORY;
    if (status == PL_OK)
        status = pl_contact_trees_update(trees, x, l.drawn, 0, 1);
    if (status == PL_OK)
        status = pl_contact_crossings_find(trees, x, l.drawn, &filter, 1, &found);
    for (int64_t k = 0; status == PL_OK && k < found.count; k++)
        set(&l, trees->surface->edge_body[found.crossing[k].edge],
            trees->surface->triangle_body[found.crossing[k].triangle], mark);
    if (status == PL_OK)
        status = mark_touching(&l, trees, mark);
    if (status == PL_OK)
        mark_inside(&l, mark);
    pl_contact_crossings_clear(&found);
    clear_look(&l);
    return status;
}
