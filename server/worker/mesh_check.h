/* mesh_check.h - judge one uploaded mesh file and say what is in it, as one JSON line:
 *
 *   {"format", "vertices", "tets", "triangles", "edges", "box": [lo, hi], "volume", "area", "length",
 *    "quality": {"worst", "mean"},
 *    "tags": [{"tag", "dimension", "name"}, ...],
 *    "fields": [{"name", "components"}, ...], "repaired": n, "unused": n, "components": n,
 *    "faults": [{"pointer", "code", "got", "expected", "hint"}], "faults_total": n}
 *
 * What does not apply is null. A TetGen mesh is two files: of a .node file only its nodes are
 * judged and counted, of an .ele file its tetrahedra; what the two say together is judged with the
 * scene that joins them.
 */
#ifndef PLIANT_SERVER_WORKER_MESH_CHECK_H
#define PLIANT_SERVER_WORKER_MESH_CHECK_H

/* Check the file at `path`; format: auto, tetgen_node, tetgen_ele, or one of a scene. Prints the line
 * to standard output. Returns 0 for a good mesh, 1 with faults, 2 where the format is unknown or
 * the file can not be read (message on stderr). With `write`, a good mesh is printed in that format
 * (mesh_write.h) in place of the line. Takes over the process: sandbox and limits. */
int pl_mesh_check_file(const char *path, const char *format, const char *write);

#endif
