/* mesh_check.h - judge one uploaded mesh file and say what is in it, as one JSON line:
 *
 *   {"format", "vertices", "tets", "triangles", "edges", "box": [lo, hi], "volume", "area", "length",
 *    "quality": {"worst", "mean"},
 *    "tags": [{"tag", "dimension", "name"}, ...],
 *    "fields": [{"name", "components"}, ...], "repaired": n, "unused": n, "components": n,
 *    "faults": [{"pointer", "code", "got", "expected", "hint"}], "faults_total": n}
 *
 * and, where it is asked for, "shapes" (mesh_quality.h), of a mesh with faults too if it could be read.
 * What does not apply is null. A TetGen mesh is two files: of a .node file alone only its nodes are
 * judged and counted, of an .ele file alone its tetrahedra; what two uploads say together is judged
 * with the scene that joins them.
 */
#ifndef PLIANT_SERVER_WORKER_MESH_CHECK_H
#define PLIANT_SERVER_WORKER_MESH_CHECK_H

#include <stdbool.h>

typedef struct pl_mesh_check_request {
    const char *path, *format; /* auto, tetgen_node, tetgen_ele, or one of a scene */
    const char *ele;   /* of a TetGen mesh (format tetgen), `path` being the .node; else NULL */
    const char *write; /* print a good mesh in that format (mesh_write.h), not the line; or NULL */
    bool shapes;
} pl_mesh_check_request;

/* Check the file and print the line to standard output. Returns 0 for a good mesh, 1 with faults, 2 where
 * the format is unknown or a file cannot be read (message on stderr). Takes over the process: sandbox
 * and limits. */
int pl_mesh_check_file(const pl_mesh_check_request *request);

#endif
