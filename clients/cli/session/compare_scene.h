/* compare_scene.h - the input of a comparison: a scene or a stored session, and a scene text for each method and each
 * reference.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_COMPARE_SCENE_H
#define PLIANT_CLIENTS_CLI_SESSION_COMPARE_SCENE_H

#include "clients/cli/base/command.h"
#include "clients/cli/session/scene_files.h"

enum { PL_COMPARE_METHODS = 16, PL_COMPARE_REFERENCES = 3 };

typedef struct pl_compare_scene {
    pl_scene_files base; /* the scene as posted, and its mesh files */
    char name[256];
    int64_t step; /* the compared frame's last step */
    bool hard;    /* has obstacles: constraints that the objective may not contain */
    size_t bodies;
    int32_t methods, entries; /* entries = methods + references */
    char *label[PL_COMPARE_METHODS + PL_COMPARE_REFERENCES];
    char *text[PL_COMPARE_METHODS + PL_COMPARE_REFERENCES]; /* scene texts; malloc'ed */
    /* the scene that leads to the compared state */
    char *approach;
} pl_compare_scene;

/* `where` is a scene file, a session directory or a session's id; `methods` is the value of --methods, or NULL for all.
 * Returns an exit status, after printing what is wrong. */
int pl_compare_scene_open(pl_cli *cli, const char *where, const char *methods, int64_t frame,
                          int64_t iterations, pl_compare_scene *out);
void pl_compare_scene_close(pl_compare_scene *s);

#endif
