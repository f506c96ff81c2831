/* A mesh file: its format's letter in the first line ("g" Gmsh, "t" TetGen, "m" Medit, "o" Wavefront, "k" VTK,
 * "x" VTU, "v" Vega, "a" Abaqus, "s" STL, "p" PLY), then the file; TetGen's .node and .ele have a line "%%" between
 * them. Read, checked, measured, its surface taken. */
#include "tests/fuzz/fuzz.h"

#include "engine/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char separator[] = "\n%%\n";

static void check_fault_list(const pl_faults *faults)
{
    FUZZ_REQUIRE(faults->total > 0, "refused without a fault");
    for (size_t i = 0; i < faults->count; i++)
        FUZZ_REQUIRE(strncmp(faults->items[i].code, "mesh_", 5) == 0, "code %s of a mesh's fault",
                     faults->items[i].code);
}

static void check_indices(const pl_mesh *mesh)
{
    for (int64_t i = 0; i < 4 * mesh->tet_count; i++)
        FUZZ_REQUIRE(mesh->tets[i] >= 0 && mesh->tets[i] < mesh->vertex_count, "corner %lld",
                     (long long)i);
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        FUZZ_REQUIRE(mesh->triangles[i] >= 0 && mesh->triangles[i] < mesh->vertex_count,
                     "triangle's corner %lld", (long long)i);
    for (int64_t i = 0; i < 2 * mesh->edge_count; i++)
        FUZZ_REQUIRE(mesh->edges[i] >= 0 && mesh->edges[i] < mesh->vertex_count,
                     "end of an edge %lld", (long long)i);
    for (int64_t i = 0; i < 3 * mesh->face_count; i++)
        FUZZ_REQUIRE(mesh->faces[i] >= 0 && mesh->faces[i] < mesh->vertex_count, "face corner %lld",
                     (long long)i);
    for (int64_t i = 0; i < mesh->point_count; i++)
        FUZZ_REQUIRE(mesh->points[i] >= 0 && mesh->points[i] < mesh->vertex_count, "point %lld",
                     (long long)i);
}

/* Every element has a value, if only NAN; names are unique. */
static void check_fields(const pl_mesh *mesh)
{
    for (int32_t i = 0; i < mesh->field_count; i++) {
        const pl_mesh_field *f = &mesh->fields[i];
        int64_t infinite = 0;
        FUZZ_REQUIRE(pl_mesh_find_field(mesh, f->name) == f, "field %s twice", f->name);
        FUZZ_REQUIRE(f->components == 1 || f->components == 3, "%d components", f->components);
        for (int64_t k = 0; k < pl_mesh_element_count(mesh) * f->components; k++)
            infinite += isinf(f->values[k]) != 0;
        FUZZ_REQUIRE(infinite == 0, "infinite values");
    }
}

/* What stays to be done with a mesh that was accepted. */
static void use(const pl_mesh *mesh)
{
    pl_mesh_quality quality;
    int32_t *triangles = NULL;
    int64_t count = 0;
    check_indices(mesh);
    check_fields(mesh);
    FUZZ_REQUIRE(pl_mesh_measure(mesh, &quality) == PL_OK, "cannot be measured");
    FUZZ_REQUIRE((quality.volume > 0) == (mesh->tet_count > 0) &&
                     (quality.area > 0) == (mesh->triangle_count > 0) &&
                     (quality.length > 0) == (mesh->edge_count > 0) && quality.components >= 1,
                 "volume %g, area %g, length %g of %lld pieces", quality.volume, quality.area,
                 quality.length, (long long)quality.components);
    FUZZ_REQUIRE(quality.worst_quality >= 0 && quality.mean_quality <= 1 + 1e-9 &&
                     quality.worst_quality <= quality.mean_quality + 1e-9,
                 "quality %g, mean %g", quality.worst_quality, quality.mean_quality);
    FUZZ_REQUIRE(pl_mesh_surface(mesh, &triangles, &count) == PL_OK, "has no surface");
    FUZZ_REQUIRE(count >= 0 && count <= 4 * mesh->tet_count + mesh->triangle_count,
                 "%lld triangles", (long long)count);
    for (int64_t i = 0; i < 3 * count; i++)
        FUZZ_REQUIRE(triangles[i] >= 0 && triangles[i] < mesh->vertex_count, "triangle corner");
    free(triangles);
}

static void read_and_use(pl_mesh_format format, const pl_blob *blobs)
{
    static const pl_mesh_limits limits = {100000, 100000};
    pl_mesh mesh = {0};
    pl_faults faults = {0};
    pl_status status = pl_mesh_read(format, blobs, &limits, "/mesh", &mesh, &faults);
    if (status == PL_OK) {
        FUZZ_REQUIRE(faults.total == 0, "read with a fault");
        check_indices(&mesh);
        /* An odd number of tetrahedra is as good a coin as any. */
        pl_mesh_orientation rule = mesh.tet_count % 2 ? PL_MESH_ORIENTATION_REPAIR
                                                      : PL_MESH_ORIENTATION_REFUSE;
        status = pl_mesh_check(&mesh, rule, "/mesh", &faults);
        if (status == PL_OK)
            use(&mesh);
    }
    FUZZ_REQUIRE(status == PL_OK || status == PL_INVALID, "status %d", status);
    if (status == PL_INVALID)
        check_fault_list(&faults);
    pl_mesh_clear(&mesh);
    pl_faults_clear(&faults);
}

static const char letters[] = "gtmokxvasp";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const pl_mesh_format formats[] = {
        PL_MESH_GMSH, PL_MESH_TETGEN, PL_MESH_MEDIT,  PL_MESH_OBJ, PL_MESH_VTK,
        PL_MESH_VTU,  PL_MESH_VEGA,   PL_MESH_ABAQUS, PL_MESH_STL, PL_MESH_PLY};
    const char *letter = size < 2 || data[1] != '\n' || !data[0] ? NULL : strchr(letters, data[0]);
    if (!letter)
        return -1;
    pl_mesh_format format = formats[letter - letters];
    const uint8_t *file = data + 2, *second = NULL;
    size_t first_size = size - 2, second_size = 0;
    if (format == PL_MESH_TETGEN && (second = memmem(file, first_size, separator, 4))) {
        second_size = first_size - (size_t)(second - file) - 4;
        first_size = (size_t)(second - file) + 1;
    }
    pl_blob blobs[2] = {{fuzz_exact(file, first_size), first_size},
                        {fuzz_exact(second ? second + 4 : file, second_size), second_size}};
    read_and_use(format, blobs);
    free((void *)blobs[0].data);
    free((void *)blobs[1].data);
    return 0;
}
