/* words.h - wording shared by the readers of mesh files; private to engine/mesh. */
#ifndef PLIANT_ENGINE_MESH_WORDS_H
#define PLIANT_ENGINE_MESH_WORDS_H

/* Hints. */
#define PL_HINT_COMPLETE            "Is the file complete?"
#define PL_HINT_COMPLETE_OR_REWRITE "Is the file complete? Write it again if not."
#define PL_HINT_COMPLETE_UNCHANGED  "Is the file complete, and not changed by hand?"
#define PL_HINT_LINE                "Correct the line, or write the file again."
#define PL_HINT_FILE                "Correct the file, or write it again."
#define PL_HINT_ORDER_1             "Mesh the volume again with tetrahedra of order 1."
#define PL_HINT_COARSER             "Use a coarser mesh."

/* Expectations. */
#define PL_EXPECTED_LINEAR  "linear tetrahedra, triangles, lines and points"
#define PL_EXPECTED_OFFSETS "offsets that grow, to the number of corners"

#endif
