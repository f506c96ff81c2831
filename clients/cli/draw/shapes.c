#include "clients/cli/draw/shapes.h"

#include "clients/cli/draw/vec.h"

#include "engine/scene/transform.h"

#include <stdlib.h>
#include <string.h>

enum { SECTORS = 96, ARC = 24, PROFILE = 2 * ARC + 6 };

static pl_vec vector_at(const pl_json *value, const char *key, pl_vec standard)
{
    const pl_json *list = pl_json_at(value, key);
    if (pl_json_count(list) != 3)
        return standard;
    return vec((float)pl_json_number(pl_json_item(list, 0), "", 0),
               (float)pl_json_number(pl_json_item(list, 1), "", 0),
               (float)pl_json_number(pl_json_item(list, 2), "", 0));
}

static float number_at(const pl_json *value, const char *key, double standard)
{
    return (float)pl_json_number(value, key, standard);
}

static bool make_room(pl_picture_obstacle *o, int64_t triangles)
{
    o->corner = malloc((size_t)(9 * triangles + 1) * sizeof *o->corner);
    o->normal_at = malloc((size_t)(9 * triangles + 1) * sizeof *o->normal_at);
    return o->corner && o->normal_at;
}

static void put(float *list, int64_t at, pl_vec v)
{
    list[3 * at] = v.x;
    list[3 * at + 1] = v.y;
    list[3 * at + 2] = v.z;
}

static void put_triangle(pl_picture_obstacle *o, const pl_vec *corner, const pl_vec *normal)
{
    pl_vec flat = vec_unit(vec_cross(vec_sub(corner[1], corner[0]), vec_sub(corner[2], corner[0])));
    for (int i = 0; i < 3; i++) {
        put(o->corner, 3 * o->triangles + i, corner[i]);
        put(o->normal_at, 3 * o->triangles + i, normal ? normal[i] : flat);
    }
    o->triangles++;
}

/* A profile to be turned about an axis: distance from it, place along it, and normal there. Two
 * points in one place make an edge. */
typedef struct profile {
    int count;
    float rho[PROFILE], y[PROFILE], n_rho[PROFILE], n_y[PROFILE];
} profile;

static void add_point(profile *p, float rho, float y, float n_rho, float n_y)
{
    p->rho[p->count] = rho;
    p->y[p->count] = y;
    p->n_rho[p->count] = n_rho;
    p->n_y[p->count++] = n_y;
}

/* An arc about (rho, y), angles from the outward direction towards the axis's end, degrees. */
static void add_arc(profile *p, float rho, float y, float radius, float from, float to)
{
    for (int i = 0; i <= ARC; i++) {
        float a = (from + (to - from) * (float)i / ARC) * (float)M_PI / 180;
        add_point(p, rho + radius * cosf(a), y + radius * sinf(a), cosf(a), sinf(a));
    }
}

static pl_status revolve(const profile *p, pl_vec centre, pl_vec axis, pl_picture_obstacle *o)
{
    pl_vec side = fabsf(axis.x) < 0.6f ? vec(1, 0, 0) : vec(0, 1, 0);
    pl_vec u = vec_unit(vec_cross(side, axis)), w = vec_cross(axis, u);
    if (!make_room(o, 2 * (int64_t)SECTORS * (p->count - 1)))
        return PL_NO_MEMORY;
    for (int i = 0; i + 1 < p->count; i++)
        for (int j = 0; j < SECTORS; j++) {
            pl_vec x[4], n[4];
            for (int k = 0; k < 4; k++) {
                int at = i + k / 2;
                float a = 2 * (float)M_PI * (float)((j + k % 2) % SECTORS) / SECTORS;
                pl_vec out = vec_add(vec_scale(u, cosf(a)), vec_scale(w, sinf(a)));
                x[k] = vec_add(centre,
                               vec_add(vec_scale(out, p->rho[at]), vec_scale(axis, p->y[at])));
                n[k] = vec_add(vec_scale(out, p->n_rho[at]), vec_scale(axis, p->n_y[at]));
            }
            put_triangle(o, (pl_vec[]){x[0], x[1], x[2]}, (pl_vec[]){n[0], n[1], n[2]});
            put_triangle(o, (pl_vec[]){x[1], x[3], x[2]}, (pl_vec[]){n[1], n[3], n[2]});
        }
    return PL_OK;
}

static pl_status make_round(const pl_json *shape, const char *kind, pl_picture_obstacle *o)
{
    profile p = {0};
    float radius = number_at(shape, "radius", 0.5), tube = number_at(shape, "tube", 0.2);
    bool capsule = strcmp(kind, "capsule") == 0;
    float height = number_at(shape, "height", capsule ? 1 : 100 * radius) / 2;
    if (strcmp(kind, "torus") == 0) {
        add_arc(&p, radius, 0, tube, -180, 0);
        add_arc(&p, radius, 0, tube, 0, 180);
    } else if (capsule) {
        add_arc(&p, 0, -height, radius, -90, 0);
        add_arc(&p, 0, height, radius, 0, 90);
    } else {
        add_point(&p, 0, -height, 0, -1);
        add_point(&p, radius, -height, 0, -1);
        add_point(&p, radius, -height, 1, 0);
        add_point(&p, radius, height, 1, 0);
        add_point(&p, radius, height, 0, 1);
        add_point(&p, 0, height, 0, 1);
    }
    pl_vec axis = vec_unit(vector_at(shape, "axis", vec(0, 1, 0)));
    return revolve(&p, vec_of(o->point), axis, o);
}

/* How a shape is placed: turned about the origin, then brought to its centre. */
static pl_transform place_of(const pl_json *shape, pl_vec centre)
{
    const pl_json *rotate = pl_json_at(shape, "rotate");
    pl_vec axis = vec_unit(vector_at(rotate, "axis", vec(0, 0, 1)));
    return (pl_transform){.scale = {1, 1, 1},
                          .rotate_axis = {axis.x, axis.y, axis.z},
                          .rotate_degrees = pl_json_number(rotate, "degrees", 0),
                          .translate = {centre.x, centre.y, centre.z}};
}

static pl_vec placed(const pl_transform *place, pl_vec v)
{
    double x[3] = {v.x, v.y, v.z};
    pl_transform_points(place, x, 1, x);
    return vec((float)x[0], (float)x[1], (float)x[2]);
}

static pl_status make_box(const pl_json *shape, pl_picture_obstacle *o)
{
    static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                     {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                     {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    pl_vec size = vector_at(shape, "size", vec(1, 1, 1)), corner[8];
    pl_transform place = place_of(shape, vec_of(o->point));
    for (int i = 0; i < 8; i++)
        corner[i] = placed(&place,
                           vec((i & 1 ? 0.5f : -0.5f) * size.x, (i & 2 ? 0.5f : -0.5f) * size.y,
                               (i & 4 ? 0.5f : -0.5f) * size.z));
    if (!make_room(o, 12))
        return PL_NO_MEMORY;
    for (int f = 0; f < 12; f++)
        put_triangle(o, (pl_vec[]){corner[faces[f][0]], corner[faces[f][1]], corner[faces[f][2]]},
                     NULL);
    return PL_OK;
}

static pl_vec sample(const pl_json *heights, float spacing, size_t r, size_t c)
{
    const pl_json *row = pl_json_item(heights, r);
    float x = ((float)c - 0.5f * (float)(pl_json_count(row) - 1)) * spacing;
    float z = ((float)r - 0.5f * (float)(pl_json_count(heights) - 1)) * spacing;
    return vec(x, (float)pl_json_number(pl_json_item(row, c), "", 0), z);
}

static pl_status make_heightfield(const pl_json *shape, pl_picture_obstacle *o)
{
    const pl_json *heights = pl_json_at(shape, "heights");
    size_t rows = pl_json_count(heights), columns = pl_json_count(pl_json_item(heights, 0));
    if (rows < 2 || columns < 2)
        return PL_INVALID;
    if (!make_room(o, 2 * (int64_t)((rows - 1) * (columns - 1))))
        return PL_NO_MEMORY;
    pl_transform place = place_of(shape, vec_of(o->point));
    float spacing = number_at(shape, "spacing", 1);
    for (size_t r = 0; r + 1 < rows; r++)
        for (size_t c = 0; c + 1 < columns; c++) {
            pl_vec x[4];
            for (size_t k = 0; k < 4; k++)
                x[k] = placed(&place, sample(heights, spacing, r + k / 2, c + k % 2));
            put_triangle(o, (pl_vec[]){x[0], x[2], x[1]}, NULL);
            put_triangle(o, (pl_vec[]){x[1], x[2], x[3]}, NULL);
        }
    return PL_OK;
}

/* Vertices and triangles are flat lists in the topology document. */
static pl_status make_mesh(const pl_json *shape, pl_picture_obstacle *o)
{
    const pl_json *vertices = pl_json_at(shape, "vertices");
    const pl_json *triangles = pl_json_at(shape, "triangles");
    const pl_json *transform = pl_json_at(shape, "transform");
    size_t count = pl_json_count(vertices) / 3;
    pl_vec scale = vector_at(transform, "scale", vec(1, 1, 1));
    pl_transform place = place_of(transform, vector_at(transform, "translate", vec(0, 0, 0)));
    pl_vec lo = vec(INFINITY, INFINITY, INFINITY), hi = vec(-INFINITY, -INFINITY, -INFINITY);
    pl_vec *at = malloc((count + 1) * sizeof *at);
    if (!at || !make_room(o, (int64_t)pl_json_count(triangles) / 3)) {
        free(at);
        return PL_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        float v[3];
        for (size_t c = 0; c < 3; c++)
            v[c] = (float)pl_json_number(pl_json_item(vertices, 3 * i + c), "", 0);
        at[i] = placed(&place, vec_times(vec_of(v), scale));
        lo = vec(fminf(lo.x, at[i].x), fminf(lo.y, at[i].y), fminf(lo.z, at[i].z));
        hi = vec(fmaxf(hi.x, at[i].x), fmaxf(hi.y, at[i].y), fmaxf(hi.z, at[i].z));
    }
    for (size_t t = 0; t + 2 < pl_json_count(triangles); t += 3) {
        pl_vec x[3];
        bool good = true;
        for (size_t k = 0; k < 3; k++) {
            int64_t v = pl_json_integer(pl_json_item(triangles, t + k), "", -1);
            good = good && v >= 0 && v < (int64_t)count;
            x[k] = good ? at[v] : vec(0, 0, 0);
        }
        if (good)
            put_triangle(o, x, NULL);
    }
    free(at);
    pl_vec middle = vec_scale(vec_add(lo, hi), 0.5f);
    memcpy(o->point, &middle, sizeof o->point);
    return PL_OK;
}

pl_status pl_shape_triangles(const pl_json *entry, pl_picture_obstacle *o)
{
    static const char *const rounds[] = {"cylinder", "capsule", "torus"};
    const pl_json *shape = pl_json_at(entry, "box");
    for (int k = 0; k < 3; k++) {
        const pl_json *one = pl_json_at(entry, rounds[k]);
        if (one) {
            pl_vec centre = vector_at(one, "center", vec(0, 0, 0));
            memcpy(o->point, &centre, sizeof o->point);
            return make_round(one, rounds[k], o);
        }
    }
    const pl_json *field = pl_json_at(entry, "heightfield"), *mesh = pl_json_at(entry, "mesh");
    pl_vec centre = vector_at(shape ? shape : field, "center", vec(0, 0, 0));
    memcpy(o->point, &centre, sizeof o->point);
    if (shape)
        return make_box(shape, o);
    return field ? make_heightfield(field, o) : mesh ? make_mesh(mesh, o) : PL_INVALID;
}
