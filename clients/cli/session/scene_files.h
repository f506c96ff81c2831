/* scene_files.h - a scene file and the mesh files that its bodies and obstacles name: {"file": "bunny.msh"} becomes
 * {"upload": "sha256:...", "format": "gmsh"}; the rest of the scene is unchanged.
 *
 * Paths are relative to the scene file's folder. The format follows from the ending unless "format" gives it. A .node
 * file's .ele has the same name beside it unless "ele" names it.
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
    pl_scene_file *files; /* malloc'ed; a file named twice is listed once */
} pl_scene_files;

/* Read the scene at `path` ("-": standard input). PL_IO with errno if it cannot be read; PL_INVALID with a fault for
 * each mesh file that cannot be read. Text that is not a JSON object is left as it is; the check of the scene reports
 * it. */
pl_status pl_scene_files_read(const char *path, pl_scene_files *out, pl_faults *faults);
/* The first half: the text as it is and the folder that paths are relative to, both malloc'ed. PL_IO with errno,
 * PL_NO_MEMORY. */
pl_status pl_scene_files_text(const char *path, char **text, size_t *length, char **folder);
/* The second half: replace the file names in a text. */
pl_status pl_scene_files_rewrite(const char *text, size_t length, const char *folder,
                                 pl_scene_files *out, pl_faults *faults);
/* The scene's name for the format of a file with this ending; NULL if unknown. */
const char *pl_mesh_format_of(const char *name);
void pl_scene_files_clear(pl_scene_files *s);

#endif
