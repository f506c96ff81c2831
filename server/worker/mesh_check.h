/* mesh_check.h - checks one uploaded mesh file and describes it in one JSON line:
 *
 *   {"format", "vertices", "tets", "triangles", "edges", "box": [lo, hi], "volume", "area", "length",
 *    "quality": {"worst", "mean"},
 *    "tags": [{"tag", "dimension", "name"}, ...],
 *    "fields": [{"name", "components"}, ...], "repaired": n, "unused": n, "components": n,
 *    "faults": [{"pointer", "code", "got", "expected", "hint"}], "faults_total": n}
 *
 * and, on request, "shapes" (mesh_quality.h), also for a mesh with faults if it could be read. Members that do not
 * apply are null. A TetGen mesh is two files. For a .node file alone, only its nodes are checked and counted; for an
 * .ele file alone, its tetrahedra. Two uploads are checked together with the scene that joins them.
 */
#ifndef PLIANT_SERVER_WORKER_MESH_CHECK_H
#define PLIANT_SERVER_WORKER_MESH_CHECK_H

#include <stdbool.h>

typedef struct pl_mesh_check_request {
    const char *path, *format; /* auto, tetgen_node, tetgen_ele, or a scene's format */
    const char *ele; /* of a TetGen mesh (format tetgen) whose .node is `path`; else NULL */
    /* print a good mesh in this format (mesh_write.h) instead of the line; or NULL */
    const char *write;
    bool shapes;
} pl_mesh_check_request;

/* Check the file and print the line on standard output. Returns 0 for a good mesh, 1 with faults, 2 if the format is
 * unknown or a file cannot be read (message on stderr). Takes over the process: sandbox and limits. */
int pl_mesh_check_file(const pl_mesh_check_request *request);

#endif
