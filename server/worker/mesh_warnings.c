#include "server/worker/mesh_warnings.h"

#include "engine/step/pliant.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdio.h>

/* Poisson's ratio at which linear tetrahedra begin to lock: nearly incompressible bodies become too stiff. */
static const double LOCKING = 0.49;
/* Ratio of largest to smallest thickness of bodies that are meant to bend. A body that is not held slides or falls and
 * needs a larger ratio. */
static const double SLENDER = 4, SLENDER_FREE = 8;
/* Warn of deflections below this fraction of the true one. */
static const double TOLD = 2.0 / 3;

/* The constant c in 1 / (1 + c / n^2), the fraction of its true deflection to which a bar of n cells across bends.
 * Fitted to bars ten times as long as thick, for n from 1 to 6 and Poisson's ratios from 0 to 0.49, to within a tenth
 * (clients/docs/troubleshooting.md). */
static double locking_constant(double poisson)
{
    return 2.4 + 0.73 / (1 - 2 * poisson);
}

typedef struct moments {
    double volume, middle[3];
    double xx, yy, zz, xy, yz, zx; /* second moments of the volume about its middle, m^5 */
} moments;

/* The integral over a tetrahedron of (x - o)(x - o)^T is V / 20 (sum_i a_i a_i^T + s s^T), with a_i its corners
 * from o and s their sum. */
static void add_tet(moments *m, const pl_mesh *mesh, const int32_t *tet, const double o[3])
{
    double a[4][3], e[3][3], s[3] = {0, 0, 0}, n[3];
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++) {
            a[k][c] = mesh->vertices[3 * (size_t)tet[k] + (size_t)c] - o[c];
            s[c] += a[k][c];
        }
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            e[k][c] = a[k + 1][c] - a[0][c];
    pl_vector_cross(e[0], e[1], n);
    double volume = fabs(pl_vector_dot(n, e[2])) / 6;
    double sum[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            sum[i][j] = s[i] * s[j];
            for (int k = 0; k < 4; k++)
                sum[i][j] += a[k][i] * a[k][j];
        }
    for (int c = 0; c < 3; c++)
        m->middle[c] += volume * s[c] / 4;
    m->volume += volume;
    m->xx += volume * sum[0][0] / 20;
    m->yy += volume * sum[1][1] / 20;
    m->zz += volume * sum[2][2] / 20;
    m->xy += volume * sum[0][1] / 20;
    m->yz += volume * sum[1][2] / 20;
    m->zx += volume * sum[2][0] / 20;
}

/* Smallest and largest extent, from the eigenvalues of the second moments divided by the volume: for a box these are
 * the squares of its sides divided by 12. */
static void find_extents(const pl_mesh *mesh, double *least, double *greatest, double *volume)
{
    moments m = {.volume = 0};
    const double *o = mesh->vertices;
    for (int64_t t = 0; t < mesh->tet_count; t++)
        add_tet(&m, mesh, mesh->tets + 4 * t, o);
    double w = 1 / m.volume, c[3];
    for (int k = 0; k < 3; k++)
        c[k] = m.middle[k] * w;
    double xx = m.xx * w - c[0] * c[0], yy = m.yy * w - c[1] * c[1], zz = m.zz * w - c[2] * c[2];
    double xy = m.xy * w - c[0] * c[1], yz = m.yz * w - c[1] * c[2], zx = m.zx * w - c[2] * c[0];
    double mean = (xx + yy + zz) / 3;
    double a = xx - mean, b = yy - mean, d = zz - mean;
    double p = sqrt((a * a + b * b + d * d + 2 * (xy * xy + yz * yz + zx * zx)) / 6);
    double det = a * (b * d - yz * yz) - xy * (xy * d - yz * zx) + zx * (xy * yz - b * zx);
    double r = p > 0 ? det / (2 * p * p * p) : 0;
    double angle = acos(fmax(-1, fmin(1, r))) / 3;
    *greatest = sqrt(12 * fmax(0, mean + 2 * p * cos(angle)));
    *least = sqrt(12 * fmax(0, mean + 2 * p * cos(angle + 2 * M_PI / 3)));
    *volume = m.volume;
}

/* The largest Poisson's ratio of a body's materials. */
static double largest_poisson(const pl_scene *scene, const pl_body *body)
{
    double most = pl_material_poisson(&scene->materials[body->material]);
    for (int32_t k = 0; k < body->tag_material_count; k++)
        most = fmax(most, pl_material_poisson(&scene->materials[body->tag_materials[k].material]));
    return most;
}

static bool is_held(const pl_scene *scene, const pl_body *body)
{
    bool held = false;
    for (int32_t k = 0; k < scene->pin_count; k++)
        held = held || &scene->bodies[scene->pins[k].body] == body;
    for (int32_t k = 0; k < scene->attachment_count; k++)
        held = held || &scene->bodies[scene->attachments[k].body] == body ||
               (scene->attachments[k].has_to && &scene->bodies[scene->attachments[k].to] == body);
    return held;
}

static pl_status warn_of_body(const pl_scene *scene, const pl_body *body, const pl_mesh *mesh,
                              pl_warnings *out)
{
    double slender = is_held(scene, body) ? SLENDER : SLENDER_FREE;
    double least, greatest, volume, poisson = largest_poisson(scene, body);
    char text[512];
    find_extents(mesh, &least, &greatest, &volume);
    double cell = cbrt(6 * volume / (double)mesh->tet_count), across = least / cell;
    double constant = locking_constant(poisson), part = 1 / (1 + constant / (across * across));
    if (volume > 0 && greatest >= slender * least && part < TOLD) {
        snprintf(text, sizeof text,
                 "body '%s' is about %.2g cells across at its thinnest, and its material has a "
                 "Poisson's ratio of %g: it bends about %.2g times as stiffly as it should; use "
                 "%.0f cells across (%.2g times as stiffly)%s",
                 body->name, across, poisson, 1 / part, ceil(sqrt(3 * constant)),
                 1 + constant / pow(ceil(sqrt(3 * constant)), 2),
                 poisson > 0.35 ? ", or a lower ratio" : "");
        return pl_warnings_add(out, PL_WARNING_FEW_ELEMENTS, 1, scene->body_count, text);
    }
    if (poisson < LOCKING)
        return PL_OK;
    snprintf(text, sizeof text,
             "body '%s' has a material with a Poisson's ratio of %g: from about %g on, linear "
             "tetrahedra lock and bend too stiffly; use a lower ratio",
             body->name, poisson, LOCKING);
    return pl_warnings_add(out, PL_WARNING_FEW_ELEMENTS, 1, scene->body_count, text);
}

pl_status pl_mesh_warnings(const pl_scene *scene, const pl_mesh *meshes, pl_warnings *out)
{
    pl_status status = PL_OK;
    for (int32_t b = 0; status == PL_OK && b < scene->body_count; b++)
        if (meshes[b].tet_count > 0)
            status = warn_of_body(scene, &scene->bodies[b], &meshes[b], out);
    return status;
}
