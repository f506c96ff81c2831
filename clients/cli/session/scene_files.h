/* scene_files.h - a scene file and the mesh files that its bodies and obstacles name: {"file":
 * "bunny.msh"} becomes {"upload": "sha256:...", "format": "gmsh"}, all else in the scene stays as it
 * is.
 *
 * Paths count from the scene file's folder. The format follows the ending unless "format" says it. A .node has its .ele beside it under the same name unless "ele"
 * names it.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_SCENE_FILES_H
#define PLIANT_CLIENTS_CLI_SESSION_SCENE_FILES_H

#include "engine/scene/fault.h"

#include <stdint.h>

typedef struct pl_scene_file {
    char *path;
    char hash[65]; /* SHA-256 of its bytes, 64 hex digits */
    uint64_t size;
    const char *kind; /* "tetgen_node", "tetgen_ele", or the scene's format */
} pl_scene_file;

typedef struct pl_scene_files {
    char *text; /* the scene, to be posted; malloc'ed, NUL-terminated */
    size_t length;
    int32_t count;
    pl_scene_file *files; /* malloc'ed; a file named twice stands once */
} pl_scene_files;

/* Read the scene at `path` ("-": standard input). PL_IO with errno where it cannot be read;
 * PL_INVALID with faults for each mesh file that cannot be. A text that is no JSON object is left
 * as it is, for the judge of scenes to say so. */
pl_status pl_scene_files_read(const char *path, pl_scene_files *out, pl_faults *faults);
/* Its two halves. The text as it stands and the folder that paths count from, both malloc'ed: PL_IO
 * with errno, PL_NO_MEMORY. */
pl_status pl_scene_files_text(const char *path, char **text, size_t *length, char **folder);
/* A text with its files named. */
pl_status pl_scene_files_rewrite(const char *text, size_t length, const char *folder,
                                 pl_scene_files *out, pl_faults *faults);
/* The scene's word for the format that the name's ending tells; NULL where it tells none. */
const char *pl_mesh_format_of(const char *name);
void pl_scene_files_clear(pl_scene_files *s);

#endif
