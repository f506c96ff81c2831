/* A mesh from a file of any format. */
#include "engine/mesh/readers.h"

pl_status pl_mesh_read(pl_mesh_format format, const pl_blob *blobs, const pl_mesh_limits *limits,
                       const char *pointer, pl_mesh *out, pl_faults *faults)
{
    *out = (pl_mesh){0};
    pl_draft draft;
    pl_draft_init(&draft, limits, pointer, faults);
    typedef pl_status reader(const pl_blob *, pl_draft *, pl_mesh *);
    static reader *const readers[PL_MESH_FORMATS] = {
        [PL_MESH_GMSH] = pl_gmsh_read,     [PL_MESH_MEDIT] = pl_medit_read,
        [PL_MESH_OBJ] = pl_obj_read,       [PL_MESH_VTK] = pl_vtk_read,
        [PL_MESH_VTU] = pl_vtu_read,       [PL_MESH_VEGA] = pl_vega_read,
        [PL_MESH_ABAQUS] = pl_abaqus_read, [PL_MESH_STL] = pl_stl_read,
        [PL_MESH_PLY] = pl_ply_read};
    pl_status status = format == PL_MESH_TETGEN ? pl_tetgen_read(&blobs[0], &blobs[1], &draft, out)
                                                : readers[format](&blobs[0], &draft, out);
    pl_draft_clear(&draft);
    return status;
}
