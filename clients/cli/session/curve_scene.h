/* curve_scene.h - a material whose curve is drawn, and the scene that measures it.
 *
 * The scene is a cube of 1 m between two faces whose vertices are held along x only; the other coordinates are free
 * except on two planes of symmetry. Linear tetrahedra represent the exact solution: a homogeneous stretch whose sides
 * are free of stress. So the force on a face is the nominal stress (force per rest area, Wang 2016, figure 11).
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_CURVE_SCENE_H
#define PLIANT_CLIENTS_CLI_SESSION_CURVE_SCENE_H

#include "clients/cli/base/command.h"

enum { PL_CURVES_MAX = 12 };

typedef struct pl_curve_material {
    char label[96];
    char *json; /* the material's object; malloc'ed */
} pl_curve_material;

/* `word` is a model's name, a file with a material's object, a scene file (all of its materials), or SCENE.json:NAME.
 * Appends to list. Returns an exit status, after printing what is wrong. */
int pl_curve_materials_read(pl_cli *cli, const char *word, pl_curve_material list[PL_CURVES_MAX],
                            int32_t *count);
void pl_curve_materials_clear(pl_curve_material *list, int32_t count);

/* A scene that goes from stretch 1 to `stretch` in `steps` steps; malloc'ed, NULL: out of memory. */
char *pl_curve_scene(const pl_curve_material *material, double stretch, int64_t steps);

#endif
