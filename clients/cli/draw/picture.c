/* Deferred shading: the camera's raster gives the triangle that each sample sees, then every sample is lit separately,
 * in linear light, and 2 x 2 samples are averaged to a pixel. The ground is intersected analytically. */
#include "clients/cli/draw/picture.h"

#include "clients/cli/draw/raster.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 2, SHADOW_SIZE = 2048, SHADOW_TAPS = 16, PALETTE = 6 };

/* sRGB values of the bodies' colours in turn. */
static const unsigned char palette[PALETTE][3] = {{0xee, 0x6c, 0x3a}, {0x1f, 0x8f, 0xa3},
                                                  {0xf0, 0xb6, 0x2e}, {0x7a, 0x62, 0xb8},
                                                  {0x57, 0xa6, 0x5b}, {0xd3, 0x52, 0x84}};
static const unsigned char obstacle_colour[3] = {0x8f, 0x9b, 0xa9};

typedef struct stage {
    const pl_picture *picture;
    pl_solid solid;
    pl_view camera, light;
    pl_raster image, shadow;
    pl_vec centre; /* of the bodies */
    float radius;  /* of a sphere about the bodies */
    float spread;  /* radius of a sphere around everything that casts shadows */
    float spacing; /* of the grid, m */
    float low;     /* of the bodies */
    pl_vec key, fill;
    float tap[SHADOW_TAPS]
             [3]; /* of the shadows' soft edges: a place in the unit disc, its radius */
    pl_drawn_obstacle *planes; /* to be drawn: the scene's, or one below the bodies */
    int32_t plane_count;
} stage;

static float to_linear(float s)
{
    return s <= 0.04045f ? s / 12.92f : powf((s + 0.055f) / 1.055f, 2.4f);
}

static float to_srgb(float l)
{
    l = clampf(l, 0, 1);
    return l <= 0.0031308f ? 12.92f * l : 1.055f * powf(l, 1 / 2.4f) - 0.055f;
}

static pl_vec colour_of(const unsigned char rgb[3])
{
    return vec(to_linear(rgb[0] / 255.0f), to_linear(rgb[1] / 255.0f), to_linear(rgb[2] / 255.0f));
}

/* ---- placement ---- */

static void measure(stage *s)
{
    pl_vec lo = vec(INFINITY, INFINITY, INFINITY), hi = vec(-INFINITY, -INFINITY, -INFINITY);
    for (int64_t i = 0; i < 3 * s->solid.body_triangles; i++) {
        pl_vec p = s->solid.corner[i];
        lo = vec(fminf(lo.x, p.x), fminf(lo.y, p.y), fminf(lo.z, p.z));
        hi = vec(fmaxf(hi.x, p.x), fmaxf(hi.y, p.y), fmaxf(hi.z, p.z));
    }
    const float *box = s->picture->box;
    if (box) {
        lo = vec(box[0], box[1], box[2]);
        hi = vec(box[3], box[4], box[5]);
    }
    s->low = lo.y;
    s->centre = vec_scale(vec_add(lo, hi), 0.5f);
    s->radius = fmaxf(vec_length(vec_sub(hi, lo)) / 2, 1e-6f);
    s->spread = s->radius;
    for (int64_t i = 3 * s->solid.body_triangles; i < 3 * s->solid.triangles; i++)
        s->spread = fmaxf(s->spread, vec_length(vec_sub(s->solid.corner[i], s->centre)));
    s->spread = fminf(s->spread, 3 * s->radius);
    float decade = powf(10, floorf(log10f(s->radius)));
    float lead = s->radius / decade;
    s->spacing = decade * (lead < 2 ? 0.5f : lead < 5 ? 1 : 2);
}

/* The corners that may have to be in view: the solid's, or those of the given box. */
static int64_t corner_count(const stage *s)
{
    return s->picture->box ? 8 : 3 * s->solid.triangles;
}

static pl_vec corner_at(const stage *s, int64_t i)
{
    const float *box = s->picture->box;
    return box ? vec(box[i & 1 ? 3 : 0], box[i & 2 ? 4 : 1], box[i & 4 ? 5 : 2])
               : s->solid.corner[i];
}

/* True if a corner must be in view: all of the bodies' corners, and an obstacle's near them. */
static bool is_framed(const stage *s, int64_t corner)
{
    return s->picture->box || corner < 3 * s->solid.body_triangles ||
           vec_length(vec_sub(s->solid.corner[corner], s->centre)) < 1.6f * s->radius;
}

/* Find the nearest eye on the line along `back` from which all framed corners are inside the picture with a margin;
 * then repeat it around the middle of the visible part. */
static void aim_camera(stage *s)
{
    const pl_picture *p = s->picture;
    float a = p->azimuth * (float)M_PI / 180, e = p->elevation * (float)M_PI / 180;
    pl_view *c = &s->camera;
    pl_view_aim(c, vec(sinf(a) * cosf(e), sinf(e), cosf(a) * cosf(e)));
    float w = (float)(p->width * SAMPLES), h = (float)(p->height * SAMPLES);
    float tangent = 0.27f; /* of half the field of view over the shorter edge */
    c->scale = fminf(w, h) / 2 / tangent;
    c->cx = w / 2;
    c->cy = h / 2;
    pl_vec target = s->centre;
    for (int pass = 0; pass < 4; pass++) {
        float distance = 0;
        for (int64_t i = 0; i < corner_count(s); i++) {
            if (!is_framed(s, i))
                continue;
            pl_vec d = vec_sub(corner_at(s, i), target);
            float x = fabsf(vec_dot(d, c->right)) * c->scale / (0.41f * w);
            float y = fabsf(vec_dot(d, c->up)) * c->scale / (0.37f * h);
            distance = fmaxf(distance, vec_dot(d, c->back) + fmaxf(x, y));
        }
        c->eye = vec_add(target, vec_scale(c->back, fmaxf(distance, 1e-6f)));
        pl_vec lo = vec(w, h, INFINITY), hi = vec(0, 0, 0);
        for (int64_t i = 0; i < corner_count(s); i++) {
            if (!is_framed(s, i))
                continue;
            pl_vec q = pl_view_project(c, corner_at(s, i));
            lo = vec(fminf(lo.x, q.x), fminf(lo.y, q.y), fminf(lo.z, q.z));
            hi = vec(fmaxf(hi.x, q.x), fmaxf(hi.y, q.y), fmaxf(hi.z, q.z));
        }
        float metre = distance / c->scale; /* of a pixel at the target */
        target = vec_add(target, vec_scale(c->right, ((lo.x + hi.x) / 2 - w / 2) * metre));
        target = vec_add(target, vec_scale(c->up, -((lo.y + hi.y) / 2 - h / 2) * metre));
    }
}

static pl_status place_planes(stage *s)
{
    const pl_geometry *g = &s->picture->geometry;
    s->planes = calloc((size_t)g->obstacles + 1, sizeof *s->planes);
    if (!s->planes)
        return PL_NO_MEMORY;
    for (int32_t k = 0; k < g->obstacles; k++)
        if (g->obstacle[k].triangles == 0)
            s->planes[s->plane_count++] = g->obstacle[k];
    if (s->plane_count > 0)
        return PL_OK;
    /* Without a floor in the scene, the grid is a little below everything. */
    float low = s->low;
    for (int64_t i = 0; i < 3 * s->solid.triangles && !s->picture->box; i++)
        low = fminf(low, s->solid.corner[i].y);
    low = fmaxf(low, s->centre.y - 3 * s->radius) - 0.15f * s->radius;
    s->planes[s->plane_count++] = (pl_drawn_obstacle){.normal = {0, 1, 0},
                                                      .point = {s->centre.x, low, s->centre.z}};
    return PL_OK;
}

static void aim_lights(stage *s)
{
    pl_vec flat = vec_unit(vec(s->camera.right.x, 0, s->camera.right.z));
    pl_vec near = vec_cross(flat, vec(0, 1, 0));
    s->key =
        vec_unit(vec_add(vec_add(vec_scale(flat, -0.36f), vec(0, 1, 0)), vec_scale(near, 0.30f)));
    s->fill =
        vec_unit(vec_add(vec_add(vec_scale(flat, 0.9f), vec(0, 0.25f, 0)), vec_scale(near, 0.6f)));
    for (int k = 0; k < SHADOW_TAPS; k++) {
        float r = sqrtf(((float)k + 0.5f) / SHADOW_TAPS), t = (float)k * 2.3999632f;
        s->tap[k][0] = r * cosf(t);
        s->tap[k][1] = r * sinf(t);
        s->tap[k][2] = r;
    }
    s->light = (pl_view){.orthographic = true};
    pl_view_aim(&s->light, s->key);
    s->light.eye = vec_add(s->centre, vec_scale(s->key, 4 * s->spread));
    s->light.scale = SHADOW_SIZE / (2.1f * s->spread);
    s->light.cx = s->light.cy = SHADOW_SIZE / 2.0f;
}

/* ---- light ---- */

/* A hash of the sample's position rotates the taps, so that the shadow's edge is grainy rather than banded; averaging a
 * pixel's 2 x 2 samples then removes the grain. */
static float grain(int32_t x, int32_t y)
{
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    return (float)((h ^ (h >> 13)) & 0xffff) / 65536.0f;
}

/* The fraction of the key light that reaches a point, 0 to 1: taps on a sunflower disc in the light's map, wider for
 * more distant occluders, as with an extended light source. */
static float lit(const stage *s, pl_vec point, pl_vec normal, float turn)
{
    float texel = 1 / s->light.scale, slope = 1 - clampf(vec_dot(normal, s->key), 0, 1);
    point = vec_add(point, vec_scale(normal, texel * (1.5f + 3 * slope)));
    pl_vec q = pl_view_project(&s->light, point);
    float bias = 1.5f * texel, blocked = 0, gap = 0;
    float wide = 0.09f * s->spread * s->light.scale;
    if (q.x < -wide || q.y < -wide || q.x > SHADOW_SIZE + wide || q.y > SHADOW_SIZE + wide)
        return 1;
    float c = cosf(turn * 2 * (float)M_PI), d = sinf(turn * 2 * (float)M_PI);
    for (int pass = 0; pass < 2; pass++) {
        float reach = pass == 0 ? wide : clampf(gap * 0.11f * s->light.scale, 2.0f, wide);
        blocked = 0;
        float sum = 0;
        for (int k = 0; k < SHADOW_TAPS; k++) {
            float dx = reach * (s->tap[k][0] * c - s->tap[k][1] * d);
            float dy = reach * (s->tap[k][0] * d + s->tap[k][1] * c);
            float r = reach * s->tap[k][2];
            int32_t x = (int32_t)floorf(q.x + dx), y = (int32_t)floorf(q.y + dy);
            if (x < 0 || y < 0 || x >= SHADOW_SIZE || y >= SHADOW_SIZE)
                continue;
            float depth = s->shadow.depth[(size_t)y * SHADOW_SIZE + (size_t)x];
            /* The slope of the surface itself must not count as an occluder. */
            if (depth >= q.z - bias - r * texel * 0.8f)
                continue;
            blocked += 1;
            sum += q.z - depth;
        }
        if (blocked < 0.5f)
            return 1;
        gap = sum / blocked;
    }
    return 1 - blocked / SHADOW_TAPS;
}

static pl_vec shade(const stage *s, pl_vec albedo, pl_vec point, pl_vec n, pl_vec to_eye,
                    float gloss, float turn)
{
    float key = fmaxf(vec_dot(n, s->key), 0);
    if (key > 0)
        key *= lit(s, point, n, turn);
    float fill = fmaxf(vec_dot(n, s->fill), 0);
    float sky = 0.5f + 0.5f * n.y;
    pl_vec light = vec_scale(vec(1.0f, 0.96f, 0.90f), 0.80f * key);
    light = vec_add(light, vec_scale(vec(0.80f, 0.90f, 1.0f), 0.14f * fill));
    light = vec_add(light, vec_mix(vec(0.17f, 0.15f, 0.14f), vec(0.34f, 0.38f, 0.44f), sky));
    pl_vec half = vec_unit(vec_add(s->key, to_eye));
    float grazing = 1 - clampf(vec_dot(n, to_eye), 0, 1);
    float fresnel = 0.04f + 0.96f * grazing * grazing * grazing * grazing * grazing;
    float shine = powf(fmaxf(vec_dot(n, half), 0), 40) * 0.22f * (key > 0 ? key : 0);
    float mirror = gloss * (shine + 0.25f * fresnel * sky);
    return vec_add(vec_times(albedo, light), vec(mirror, mirror, mirror));
}

static pl_vec background(const stage *s, pl_vec ray)
{
    float t = smoothstepf(-0.25f, 0.55f, ray.y);
    return vec_mix(vec(0.72f, 0.76f, 0.81f), vec(0.91f, 0.94f, 0.97f), t);
}

/* 1 on a grid line, 0 in between, with edges as wide as a sample. */
static float grid_line(float coordinate, float spacing, float width, float sample)
{
    float distance = fabsf(coordinate / spacing - roundf(coordinate / spacing)) * spacing;
    float cover = clampf((width / 2 + sample / 2 - distance) / fmaxf(sample, 1e-9f), 0, 1);
    /* A line thinner than a sample covers only a fraction of it. */
    return cover * fminf(1, width / fmaxf(sample, 1e-9f));
}

static float grid(const stage *s, float u, float v, float sample_u, float sample_v)
{
    float line = 0, fine = s->spacing / 5;
    float thin = 0.012f * s->spacing, thick = 0.024f * s->spacing;
    float far = fmaxf(sample_u, sample_v);
    float fade = 1 - smoothstepf(0.15f, 0.5f, far / fine);
    line = fmaxf(grid_line(u, fine, thin, sample_u), grid_line(v, fine, thin, sample_v)) * 0.35f *
           fade;
    fade = 1 - smoothstepf(0.15f, 0.5f, far / s->spacing);
    float major = fmaxf(grid_line(u, s->spacing, thick, sample_u),
                        grid_line(v, s->spacing, thick, sample_v));
    return fmaxf(line, major * fade);
}

/* The planes' colour if the ray hits one before `depth`; false if not. */
static bool shade_plane(const stage *s, const pl_drawn_obstacle *o, pl_vec ray, float *distance,
                        float turn, pl_vec *colour)
{
    pl_vec n = vec_of(o->normal), u, v;
    float facing = vec_dot(n, ray);
    if (facing > -1e-4f)
        return false; /* seen from behind, it would hide the bodies */
    float t = vec_dot(n, vec_sub(vec_of(o->point), s->camera.eye)) / facing;
    if (!(t > 0) || t >= *distance)
        return false;
    pl_vec point = vec_add(s->camera.eye, vec_scale(ray, t));
    float away = vec_length(vec_sub(point, s->centre)) / s->radius;
    float fade = smoothstepf(3.0f, 11.0f, away);
    *distance = t;
    if (fade >= 1) {
        *colour = background(s, ray);
        return true;
    }
    vec_frame(n, &u, &v);
    float pixel = t / s->camera.scale;
    float along_u = pixel * (1 + fabsf(vec_dot(ray, u)) / -facing);
    float along_v = pixel * (1 + fabsf(vec_dot(ray, v)) / -facing);
    float line = grid(s, vec_dot(point, u), vec_dot(point, v), along_u, along_v);
    pl_vec albedo = vec_mix(vec(0.62f, 0.65f, 0.69f), vec(0.33f, 0.38f, 0.45f), 0.8f * line);
    pl_vec lit_colour = shade(s, albedo, point, n, vec_scale(ray, -1), 0, turn);
    *colour = vec_mix(lit_colour, background(s, ray), fade);
    return true;
}

/* The mesh's edges, drawn if its triangles are large enough on the screen. */
static float edge_line(const stage *s, int32_t m, const float w[3])
{
    pl_vec p[3];
    for (int i = 0; i < 3; i++)
        p[i] = pl_view_project(&s->camera, s->solid.corner[3 * (int64_t)m + i]);
    float area =
        fabsf((p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (p[1].y - p[0].y));
    float nearest = INFINITY, lowest = INFINITY;
    for (int i = 0; i < 3; i++) {
        pl_vec a = p[(i + 1) % 3], b = p[(i + 2) % 3];
        float height = area / fmaxf(hypotf(b.x - a.x, b.y - a.y), 1e-6f);
        nearest = fminf(nearest, w[i] * height);
        lowest = fminf(lowest, height);
    }
    float fade = smoothstepf(6.0f * SAMPLES, 14.0f * SAMPLES, sqrtf(area));
    return fade * clampf(0.55f * SAMPLES + 0.5f - nearest, 0, 1);
}

static pl_vec shade_solid(const stage *s, size_t at, pl_vec ray, float turn)
{
    int32_t m = s->image.triangle[at];
    float w[3] = {0, s->image.bary[2 * at], s->image.bary[2 * at + 1]};
    w[0] = 1 - w[1] - w[2];
    pl_vec point = vec(0, 0, 0), n = vec(0, 0, 0);
    for (int i = 0; i < 3; i++) {
        point = vec_add(point, vec_scale(s->solid.corner[3 * (int64_t)m + i], w[i]));
        n = vec_add(n, vec_scale(s->solid.normal[3 * (int64_t)m + i], w[i]));
    }
    n = vec_unit(n);
    const pl_vec *c = s->solid.corner + 3 * (int64_t)m;
    if (vec_dot(vec_cross(vec_sub(c[1], c[0]), vec_sub(c[2], c[0])), ray) > 0)
        n = vec_scale(n, -1); /* the back of a sheet; a solid's back is never visible */
    if (vec_dot(n, ray) > 0)
        n = vec_sub(n, vec_scale(ray, 1.001f * vec_dot(n, ray))); /* bend to the silhouette */
    n = vec_unit(n);
    int32_t body = s->solid.body[m];
    pl_vec albedo = colour_of(body < 0 ? obstacle_colour : palette[body % PALETTE]);
    if (body >= 0 && s->solid.colour) {
        albedo = vec(0, 0, 0);
        for (int i = 0; i < 3; i++)
            albedo = vec_add(albedo, vec_scale(s->solid.colour[3 * (int64_t)m + i], w[i]));
    }
    if (body >= 0)
        albedo = vec_scale(albedo, 1 - 0.45f * edge_line(s, m, w));
    return shade(s, albedo, point, n, vec_scale(ray, -1), body < 0 ? 0.5f : 1, turn);
}

static pl_vec sample_colour(const stage *s, int32_t x, int32_t y)
{
    pl_vec ray = pl_view_ray(&s->camera, (float)x + 0.5f, (float)y + 0.5f);
    size_t at = (size_t)y * (size_t)s->image.width + (size_t)x;
    float turn = grain(x, y), distance = INFINITY;
    pl_vec colour;
    if (s->image.triangle[at] >= 0) {
        colour = shade_solid(s, at, ray, turn);
        distance = s->image.depth[at] / -vec_dot(ray, s->camera.back);
    } else {
        colour = background(s, ray);
    }
    for (int32_t k = 0; k < s->plane_count; k++)
        shade_plane(s, &s->planes[k], ray, &distance, turn, &colour);
    return colour;
}

static void resolve(const stage *s, unsigned char *rgb)
{
    const pl_picture *p = s->picture;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t y = 0; y < p->height; y++)
        for (int32_t x = 0; x < p->width; x++) {
            pl_vec sum = vec(0, 0, 0);
            for (int k = 0; k < SAMPLES * SAMPLES; k++) {
                pl_vec c = sample_colour(s, x * SAMPLES + k % SAMPLES, y * SAMPLES + k / SAMPLES);
                sum = vec_add(sum, vec(fminf(c.x, 1), fminf(c.y, 1), fminf(c.z, 1)));
            }
            sum = vec_scale(sum, 1.0f / (SAMPLES * SAMPLES));
            unsigned char *out = rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
            out[0] = (unsigned char)lroundf(255 * to_srgb(sum.x));
            out[1] = (unsigned char)lroundf(255 * to_srgb(sum.y));
            out[2] = (unsigned char)lroundf(255 * to_srgb(sum.z));
        }
}

pl_status pl_picture_render(const pl_picture *picture, unsigned char **rgb)
{
    if (picture->geometry.triangles + picture->geometry.edges < 1 || picture->width < 16 ||
        picture->height < 16 || picture->width > 8192 || picture->height > 8192)
        return PL_INVALID;
    stage s = {.picture = picture};
    unsigned char *out = malloc(3 * (size_t)picture->width * (size_t)picture->height);
    pl_status status = out ? pl_solid_create(&picture->geometry, &s.solid) : PL_NO_MEMORY;
    if (status == PL_OK) {
        measure(&s);
        aim_camera(&s);
        aim_lights(&s);
        status = place_planes(&s);
    }
    if (status == PL_OK)
        status = pl_raster_create(picture->width * SAMPLES, picture->height * SAMPLES, false,
                                  &s.image);
    if (status == PL_OK)
        status = pl_raster_create(SHADOW_SIZE, SHADOW_SIZE, true, &s.shadow);
    if (status == PL_OK) {
        pl_raster_triangles(&s.image, &s.camera, s.solid.corner, s.solid.triangles);
        pl_raster_triangles(&s.shadow, &s.light, s.solid.corner, s.solid.triangles);
        resolve(&s, out);
        *rgb = out;
        out = NULL;
    }
    free(out);
    free(s.planes);
    pl_raster_clear(&s.image);
    pl_raster_clear(&s.shadow);
    pl_solid_clear(&s.solid);
    return status;
}
