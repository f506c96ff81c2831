/* Edges as drawn in pictures: rods whose thickness is a small fraction of the scene's size. */
#include "clients/cli/draw/solid.h"

/* Of the diagonal of the box around all vertices. */
#define ROD_RADIUS 0.004f

static float extent(const pl_geometry *p)
{
    pl_vec lo = vec(INFINITY, INFINITY, INFINITY), hi = vec(-INFINITY, -INFINITY, -INFINITY);
    for (int64_t v = 0; v < p->vertices; v++) {
        pl_vec x = vec_of(p->positions + 3 * v);
        lo = vec(fminf(lo.x, x.x), fminf(lo.y, x.y), fminf(lo.z, x.z));
        hi = vec(fmaxf(hi.x, x.x), fmaxf(hi.y, x.y), fmaxf(hi.z, x.z));
    }
    return vec_length(vec_sub(hi, lo));
}

/* The sides of a prism around the axis from a to b, with radial normals and without ends. */
static void add_rod(pl_vec a, pl_vec b, float radius, int32_t body, pl_solid *s)
{
    pl_vec u, v, around[PL_ROD_SIDES];
    vec_frame(vec_unit(vec_sub(b, a)), &u, &v);
    for (int k = 0; k < PL_ROD_SIDES; k++) {
        float angle = 2 * (float)M_PI * (float)k / PL_ROD_SIDES;
        around[k] = vec_add(vec_scale(u, cosf(angle)), vec_scale(v, sinf(angle)));
    }
    for (int k = 0; k < PL_ROD_SIDES; k++) {
        pl_vec n0 = around[k], n1 = around[(k + 1) % PL_ROD_SIDES];
        const pl_vec ends[4] = {a, a, b, b}, normals[4] = {n0, n1, n1, n0};
        static const int halves[2][3] = {{0, 1, 2}, {0, 2, 3}};
        for (int h = 0; h < 2; h++) {
            int64_t m = s->triangles++;
            s->body[m] = body;
            for (int i = 0; i < 3; i++) {
                int c = halves[h][i];
                s->normal[3 * m + i] = normals[c];
                s->corner[3 * m + i] = vec_add(ends[c], vec_scale(normals[c], radius));
            }
        }
    }
}

void pl_solid_add_rods(const pl_geometry *p, pl_solid *s)
{
    float radius = ROD_RADIUS * extent(p);
    for (int64_t e = 0; e < p->edges; e++) {
        const int32_t *end = p->edge + 2 * e;
        add_rod(vec_of(p->positions + 3 * (int64_t)end[0]),
                vec_of(p->positions + 3 * (int64_t)end[1]), radius, p->body ? p->body[end[0]] : 0,
                s);
        for (int k = 0; p->colour && k < 3 * PL_ROD_TRIANGLES; k++)
            s->colour[3 * (s->triangles - PL_ROD_TRIANGLES) + k] =
                vec_of(p->colour + 3 * (int64_t)end[0]);
    }
}
