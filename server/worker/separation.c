#include "server/worker/separation.h"

#include "engine/vectors.h"

#include <math.h>

static double length_of(const double v[3])
{
    return sqrt(pl_vector_dot(v, v));
}

/* Sum of the edge lengths of elements with so many corners; adds their number to *count. */
static double sum_of_edges(const double *x, const int32_t *elements, int64_t n, int corners,
                           int64_t *count)
{
    double sum = 0;
    for (int64_t e = 0; e < n; e++)
        for (int i = 0; i < corners; i++)
            for (int j = 0; j < i; j++) {
                double d[3];
                const int32_t *v = elements + corners * e;
                pl_vector_subtract(x + 3 * (int64_t)v[i], x + 3 * (int64_t)v[j], d);
                sum += length_of(d);
                ++*count;
            }
    return sum;
}

static double mean_edge(const pl_placed_body *p)
{
    int64_t count = 0;
    double sum = sum_of_edges(p->x, p->mesh->tets, p->mesh->tet_count, 4, &count) +
                 sum_of_edges(p->x, p->mesh->triangles, p->mesh->triangle_count, 3, &count) +
                 sum_of_edges(p->x, p->mesh->edges, p->mesh->edge_count, 2, &count);
    return count > 0 ? sum / (double)count : 0;
}

/* Multiple of the distance that contact keeps at which it has no effect. */
static const double SPARE = 1.05;

/* The distance that contact keeps from a body. */
static double clearance(const pl_scene *scene, const pl_placed_body *p)
{
    double sheet = p->mesh->triangle_count > 0 ? scene->materials[p->body->material].thickness : 0;
    double kept = scene->contact.has_thickness ? scene->contact.thickness : 0.01 * mean_edge(p);
    return fmax(kept, sheet);
}

/* The largest coordinate of the vertices along a direction. */
static double furthest(const pl_placed_body *p, const double n[3])
{
    double most = -INFINITY;
    for (int64_t i = 0; i < p->mesh->vertex_count; i++)
        most = fmax(most, pl_vector_dot(n, p->x + 3 * i));
    return most;
}

/* Rounded up to two digits. */
static double rounded_up(double length)
{
    double unit = pow(10, floor(log10(length)) - 1);
    return ceil(length / unit - 1e-9) * unit;
}

/* How far b moves along the unit vector n until all of it is beyond a. */
static double way_out(const pl_placed_body *a, const pl_placed_body *b, const double n[3])
{
    const double back[3] = {-n[0], -n[1], -n[2]};
    return furthest(a, n) + furthest(b, back);
}

/* Candidates: along axes first, then diagonals, then from centre to centre. */
enum { DIRECTIONS = 27 };
static void make_directions(const pl_placed_body *a, const pl_placed_body *b,
                            double n[DIRECTIONS][3])
{
    int count = 0;
    for (int axes = 1; axes <= 3; axes++)
        for (int k = 0; k < 27; k++) {
            const int v[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            int length = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
            for (int c = 0; length == axes && c < 3; c++)
                n[count][c] = v[c] / sqrt(length);
            count += length == axes;
        }
    pl_vector_subtract(b->middle, a->middle, n[count]);
    double length = length_of(n[count]);
    for (int c = 0; c < 3; c++)
        n[count][c] = length > 0 ? n[count][c] / length : n[0][c];
}

void pl_bodies_separate(const pl_scene *scene, const pl_placed_body *a, const pl_placed_body *b,
                        double move[3])
{
    double n[DIRECTIONS][3], least = INFINITY;
    int best = 0;
    make_directions(a, b, n);
    for (int k = 0; k < DIRECTIONS; k++) {
        bool down = scene->obstacle_count > 0 && pl_vector_dot(n[k], scene->gravity) > 0;
        double way = way_out(a, b, n[k]);
        if (!down && way < least) {
            least = way;
            best = k;
        }
    }
    double far = rounded_up(least + SPARE * fmax(clearance(scene, a), clearance(scene, b)));
    for (int c = 0; c < 3; c++)
        move[c] = fabs(n[best][c]) < 1e-6 ? 0 : far * n[best][c];
}
