#include "clients/cli/session/drawn_obstacle.h"

#include <stdlib.h>
#include <string.h>

static void read_vector(const pl_json *list, float out[3])
{
    for (size_t i = 0; i < 3 && i < pl_json_count(list); i++)
        out[i] = (float)pl_json_number(pl_json_item(list, i), "", out[i]);
}

static void read_plane(const pl_json *plane, pl_drawn_obstacle *out)
{
    read_vector(pl_json_at(plane, "normal"), out->normal);
    for (int i = 0; i < 3; i++)
        out->point[i] = out->normal[i] * (float)pl_json_number(plane, "offset", 0);
}

static pl_status make_room(int64_t vertices, int64_t triangles, pl_drawn_obstacle *out)
{
    out->positions = malloc((3 * (size_t)vertices + 1) * sizeof *out->positions);
    out->triangle = malloc((3 * (size_t)triangles + 1) * sizeof *out->triangle);
    if (!out->positions || !out->triangle) {
        pl_drawn_obstacle_clear(out);
        return PL_NO_MEMORY;
    }
    out->vertices = vertices;
    out->triangles = triangles;
    return PL_OK;
}

/* Triangles that refer to missing vertices are PL_INVALID. */
static pl_status read_triangles(const pl_json *vertices, const pl_json *triangles,
                                pl_drawn_obstacle *out)
{
    int64_t vertex_count = (int64_t)pl_json_count(vertices) / 3;
    int64_t triangle_count = (int64_t)pl_json_count(triangles) / 3;
    if (triangle_count == 0)
        return PL_INVALID;
    pl_status status = make_room(vertex_count, triangle_count, out);
    for (int64_t i = 0; status == PL_OK && i < 3 * vertex_count; i++)
        out->positions[i] = (float)pl_json_number(pl_json_item(vertices, (size_t)i), "", 0);
    for (int64_t i = 0; status == PL_OK && i < 3 * triangle_count; i++) {
        int64_t v = pl_json_integer(pl_json_item(triangles, (size_t)i), "", -1);
        if (v < 0 || v >= vertex_count)
            status = PL_INVALID;
        out->triangle[i] = (int32_t)v;
    }
    if (status != PL_OK)
        pl_drawn_obstacle_clear(out);
    return status;
}

pl_status pl_drawn_obstacle_read(const pl_json *entry, const pl_json *surface,
                                 pl_drawn_obstacle *out)
{
    const pl_json *plane = pl_json_at(entry, "plane");
    *out = (pl_drawn_obstacle){0};
    if (plane) {
        read_plane(plane, out);
        return PL_OK;
    }
    if (pl_json_boolean(surface, "inside", false))
        return PL_INVALID; /* it would hide the bodies inside it */
    read_vector(pl_json_at(surface, "center"), out->point);
    return read_triangles(pl_json_at(surface, "vertices"), pl_json_at(surface, "triangles"), out);
}

pl_status pl_drawn_obstacle_copy(const pl_drawn_obstacle *from, pl_drawn_obstacle *out)
{
    *out = *from;
    if (make_room(from->vertices, from->triangles, out) != PL_OK)
        return PL_NO_MEMORY;
    if (from->triangles > 0) {
        memcpy(out->positions, from->positions, 3 * (size_t)from->vertices * sizeof(float));
        memcpy(out->triangle, from->triangle, 3 * (size_t)from->triangles * sizeof(int32_t));
    }
    return PL_OK;
}

static void move_point(const pl_pose *pose, const float *from, float *to)
{
    double x[3] = {from[0], from[1], from[2]}, moved[3];
    pl_pose_apply(pose, x, moved);
    for (int c = 0; c < 3; c++)
        to[c] = (float)moved[c];
}

/* A motion that turns about no given point turns about the obstacle's centre. */
void pl_drawn_obstacle_move(const pl_drawn_obstacle *start, const pl_motion *given, double time,
                            pl_drawn_obstacle *out)
{
    pl_motion motion = *given;
    double normal[3], turned[3];
    for (int c = 0; c < 3; c++) {
        normal[c] = start->normal[c];
        if (!motion.has_origin)
            motion.origin[c] = start->point[c];
    }
    pl_pose pose = pl_motion_pose(&motion, time);
    move_point(&pose, start->point, out->point);
    for (int64_t v = 0; v < start->vertices; v++)
        move_point(&pose, start->positions + 3 * v, out->positions + 3 * v);
    pl_pose_rotate(&pose, normal, turned);
    for (int c = 0; c < 3; c++)
        out->normal[c] = (float)turned[c];
}

void pl_drawn_obstacle_clear(pl_drawn_obstacle *o)
{
    free(o->positions);
    free(o->triangle);
    *o = (pl_drawn_obstacle){0};
}
