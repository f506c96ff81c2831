#include "clients/cli/draw/solid.h"

#include <stdlib.h>

/* Faces that meet at a larger angle than this keep their own normals: a box has edges. */
#define CREASE_COSINE 0.64f /* 50 degrees */

enum { SPHERE_RINGS = 64, SPHERE_SECTORS = 128 };

static int64_t sphere_count(const pl_picture *p)
{
    int64_t spheres = 0;
    for (int32_t k = 0; k < p->obstacles; k++)
        spheres += p->obstacle[k].sphere;
    return spheres;
}

static int64_t shape_count(const pl_picture *p)
{
    int64_t triangles = 0;
    for (int32_t k = 0; k < p->obstacles; k++)
        triangles += p->obstacle[k].triangles;
    return triangles;
}

static void add_shape(const pl_picture_obstacle *o, pl_solid *s)
{
    for (int64_t i = 0; i < 3 * o->triangles; i++) {
        s->corner[3 * s->triangles + i] = vec_of(o->corner + 3 * i);
        s->normal[3 * s->triangles + i] = vec_of(o->normal_at + 3 * i);
    }
    for (int64_t t = 0; t < o->triangles; t++)
        s->body[s->triangles++] = PL_SOLID_OBSTACLE;
}

static pl_vec sphere_point(int ring, int sector)
{
    float polar = (float)M_PI * (float)ring / SPHERE_RINGS;
    float turn = 2 * (float)M_PI * (float)(sector % SPHERE_SECTORS) / SPHERE_SECTORS;
    return vec(sinf(polar) * cosf(turn), cosf(polar), -sinf(polar) * sinf(turn));
}

static void add_sphere(const pl_picture_obstacle *o, pl_solid *s)
{
    static const int offsets[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
    for (int ring = 0; ring < SPHERE_RINGS; ring++)
        for (int sector = 0; sector < SPHERE_SECTORS; sector++)
            for (int half = 0; half < 2; half++) {
                int64_t m = s->triangles++;
                s->body[m] = PL_SOLID_OBSTACLE;
                for (int i = 0; i < 3; i++) {
                    pl_vec n = sphere_point(ring + offsets[half][i][0],
                                            sector + offsets[half][i][1]);
                    s->normal[3 * m + i] = n;
                    s->corner[3 * m + i] = vec_add(vec_of(o->point), vec_scale(n, o->radius));
                }
            }
}

/* Twice the area times the unit normal: summed, larger faces weigh more. */
static pl_vec face_normal(const pl_vec *corner)
{
    return vec_cross(vec_sub(corner[1], corner[0]), vec_sub(corner[2], corner[0]));
}

/* The faces about each vertex as lists in one array: start[v] .. start[v + 1]. */
static bool faces_of_vertices(const pl_picture *p, int64_t **start_out, int32_t **faces_out)
{
    int64_t *start = calloc((size_t)p->vertices + 2, sizeof *start);
    int32_t *faces = malloc(((size_t)p->triangles * 3 + 1) * sizeof *faces);
    if (!start || !faces) {
        free(start);
        free(faces);
        return false;
    }
    for (int64_t i = 0; i < 3 * p->triangles; i++)
        start[p->triangle[i] + 2]++;
    for (int64_t v = 0; v < p->vertices; v++)
        start[v + 2] += start[v + 1];
    for (int64_t i = 0; i < 3 * p->triangles; i++)
        faces[start[p->triangle[i] + 1]++] = (int32_t)(i / 3);
    *start_out = start;
    *faces_out = faces;
    return true;
}

static pl_status add_bodies(const pl_picture *p, pl_solid *s)
{
    int64_t *start;
    int32_t *faces;
    if (!faces_of_vertices(p, &start, &faces))
        return PL_NO_MEMORY;
    for (int64_t m = 0; m < p->triangles; m++) {
        s->body[m] = p->body ? p->body[p->triangle[3 * m]] : 0;
        for (int i = 0; i < 3; i++)
            s->corner[3 * m + i] = vec_of(p->positions + 3 * (int64_t)p->triangle[3 * m + i]);
    }
    for (int64_t m = 0; m < p->triangles; m++) {
        pl_vec own = vec_unit(face_normal(s->corner + 3 * m));
        for (int i = 0; i < 3; i++) {
            int32_t v = p->triangle[3 * m + i];
            pl_vec sum = vec(0, 0, 0);
            for (int64_t j = start[v]; j < start[v + 1]; j++) {
                pl_vec other = face_normal(s->corner + 3 * (int64_t)faces[j]);
                if (vec_dot(own, vec_unit(other)) >= CREASE_COSINE)
                    sum = vec_add(sum, other);
            }
            s->normal[3 * m + i] = vec_dot(sum, sum) > 0 ? vec_unit(sum) : own;
        }
    }
    s->triangles = p->triangles;
    pl_solid_add_rods(p, s);
    s->body_triangles = s->triangles;
    free(start);
    free(faces);
    return PL_OK;
}

pl_status pl_solid_create(const pl_picture *picture, pl_solid *out)
{
    *out = (pl_solid){0};
    size_t count = (size_t)(picture->triangles + PL_ROD_TRIANGLES * picture->edges +
                            shape_count(picture) +
                            sphere_count(picture) * SPHERE_RINGS * SPHERE_SECTORS * 2);
    out->corner = malloc((3 * count + 1) * sizeof *out->corner);
    out->normal = malloc((3 * count + 1) * sizeof *out->normal);
    out->body = malloc((count + 1) * sizeof *out->body);
    if (!out->corner || !out->normal || !out->body || count > INT32_MAX ||
        add_bodies(picture, out) != PL_OK) {
        pl_solid_clear(out);
        return PL_NO_MEMORY;
    }
    for (int32_t k = 0; k < picture->obstacles; k++)
        if (picture->obstacle[k].sphere)
            add_sphere(&picture->obstacle[k], out);
        else
            add_shape(&picture->obstacle[k], out);
    return PL_OK;
}

void pl_solid_clear(pl_solid *s)
{
    free(s->corner);
    free(s->normal);
    free(s->body);
    *s = (pl_solid){0};
}
