/* vec.h - three-component vectors for the picture. */
#ifndef PLIANT_CLIENTS_CLI_DRAW_VEC_H
#define PLIANT_CLIENTS_CLI_DRAW_VEC_H

#include <math.h>

typedef struct pl_vec {
    float x, y, z;
} pl_vec;

static inline pl_vec vec(float x, float y, float z)
{
    return (pl_vec){x, y, z};
}
static inline pl_vec vec_of(const float *p)
{
    return vec(p[0], p[1], p[2]);
}
static inline pl_vec vec_add(pl_vec a, pl_vec b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline pl_vec vec_sub(pl_vec a, pl_vec b)
{
    return vec(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline pl_vec vec_scale(pl_vec a, float s)
{
    return vec(a.x * s, a.y * s, a.z * s);
}
static inline pl_vec vec_times(pl_vec a, pl_vec b)
{
    return vec(a.x * b.x, a.y * b.y, a.z * b.z);
}
static inline float vec_dot(pl_vec a, pl_vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline pl_vec vec_cross(pl_vec a, pl_vec b)
{
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline float vec_length(pl_vec a)
{
    return sqrtf(vec_dot(a, a));
}
static inline pl_vec vec_mix(pl_vec a, pl_vec b, float t)
{
    return vec_add(vec_scale(a, 1 - t), vec_scale(b, t));
}
/* The zero vector is returned unchanged. */
static inline pl_vec vec_unit(pl_vec a)
{
    float length = vec_length(a);
    return length > 0 ? vec_scale(a, 1 / length) : a;
}
/* Two unit vectors that form a right-handed frame with the unit vector n: u x v = n. */
static inline void vec_frame(pl_vec n, pl_vec *u, pl_vec *v)
{
    pl_vec other = fabsf(n.x) < 0.9f ? vec(1, 0, 0) : vec(0, 0, 1);
    *u = vec_unit(vec_sub(other, vec_scale(n, vec_dot(n, other))));
    *v = vec_cross(n, *u);
}
static inline float clampf(float value, float lo, float hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}
static inline float smoothstepf(float lo, float hi, float value)
{
    float t = clampf((value - lo) / (hi - lo), 0, 1);
    return t * t * (3 - 2 * t);
}

#endif
