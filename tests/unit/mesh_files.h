/* mesh_files.h - shared by the mesh tests: files as exact blocks, so that the address sanitizer detects a read past the
 * end, and one-line reads. */
#ifndef PLIANT_TESTS_UNIT_MESH_FILES_H
#define PLIANT_TESTS_UNIT_MESH_FILES_H

#include "engine/mesh/mesh.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN      "tests/unit/meshes/"
#define MESHES   OWN "public/"
#define FIXTURES MESHES "fixtures/"
/* Scans that are not ours to ship. */
#define SCANS "../shared/meshes/"

static inline int has_scans(void)
{
    return access(SCANS "README.md", R_OK) == 0;
}

/* The file, malloc'ed to its exact size. */
static inline pl_blob load(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *data = malloc(size > 0 ? (size_t)size : 1);
    ck_assert(data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    return (pl_blob){data, (size_t)size};
}

/* `size` bytes of `data` as a block of exactly that size. */
static inline pl_blob exact(const void *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    ck_assert(copy != NULL);
    memcpy(copy, data, size);
    return (pl_blob){copy, size};
}

static inline pl_status read_blobs(pl_mesh_format format, const pl_blob *blobs, pl_mesh *mesh,
                                   pl_faults *faults)
{
    const pl_mesh_limits limits = {1000000, 1000000};
    return pl_mesh_read(format, blobs, &limits, "/bodies/0/mesh", mesh, faults);
}

/* Read texts; NULL b for one-file formats. */
static inline pl_status read_texts(pl_mesh_format format, const char *a, const char *b,
                                   pl_mesh *mesh, pl_faults *faults)
{
    pl_blob blobs[2] = {exact(a, strlen(a)), exact(b ? b : "", b ? strlen(b) : 0)};
    pl_status status = read_blobs(format, blobs, mesh, faults);
    free((void *)blobs[0].data);
    free((void *)blobs[1].data);
    return status;
}

static inline void ck_assert_no_faults(const pl_faults *faults)
{
    ck_assert_msg(faults->total == 0, "%zu faults, the first: %s", faults->total,
                  faults->count ? faults->items[0].got : "");
}

/* How good a mesh is that has no faults. */
static inline pl_mesh_quality quality_of(pl_mesh *mesh)
{
    pl_faults faults = {0};
    pl_mesh_quality quality;
    ck_assert_int_eq(pl_mesh_check(mesh, PL_MESH_ORIENTATION_REFUSE, "", &faults), PL_OK);
    ck_assert_no_faults(&faults);
    ck_assert_int_eq(pl_mesh_measure(mesh, &quality), PL_OK);
    return quality;
}

/* The mesh of a text, or of a file, without a fault. */
static inline pl_mesh read_good(pl_mesh_format format, const char *text)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    pl_status status = read_texts(format, text, NULL, &mesh, &faults);
    ck_assert_no_faults(&faults);
    ck_assert_int_eq(status, PL_OK);
    return mesh;
}

static inline pl_mesh read_good_file(pl_mesh_format format, const char *path)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    pl_blob blob = load(path);
    pl_status status = read_blobs(format, &blob, &mesh, &faults);
    ck_assert_msg(status == PL_OK && faults.total == 0, "%s: %s", path,
                  faults.count ? faults.items[0].got : "no fault");
    free((void *)blob.data);
    return mesh;
}

/* Fault i has this code, and its `got` starts so. */
static inline void ck_assert_fault(const pl_faults *faults, size_t i, const char *code,
                                   const char *got)
{
    ck_assert_msg(i < faults->count, "only %zu faults, '%s' expected", faults->count, got);
    const pl_fault *f = &faults->items[i];
    ck_assert_msg(strcmp(f->code, code) == 0 && strncmp(f->got, got, strlen(got)) == 0,
                  "'%s: %s' where '%s: %s' was expected", f->code, f->got, code, got);
    ck_assert_str_eq(f->pointer, "/bodies/0/mesh");
}

/* These texts are rejected with exactly this one fault. */
static inline void refused(pl_mesh_format format, const char *a, const char *b, const char *code,
                           const char *got)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(read_texts(format, a, b, &mesh, &faults), PL_INVALID);
    ck_assert_fault(&faults, 0, code, got);
    ck_assert_msg(faults.total == 1, "%zu faults, the second: %s", faults.total,
                  faults.count > 1 ? faults.items[1].got : "");
    ck_assert_int_eq(mesh.tet_count, 0);
    ck_assert_ptr_null(mesh.vertices);
    pl_faults_clear(&faults);
}

/* The files of a format are read, pass the check and have these counts and this volume (< 0: any).
 */
static inline void accepted(pl_mesh_format format, const char *a, const char *b, int64_t vertices,
                            int64_t tets, double volume)
{
    pl_blob blobs[2] = {load(a), b ? load(b) : (pl_blob){0}};
    pl_mesh mesh;
    pl_faults faults = {0};
    pl_status status = read_blobs(format, blobs, &mesh, &faults);
    ck_assert_no_faults(&faults);
    ck_assert_int_eq(status, PL_OK);
    ck_assert_int_eq(pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REPAIR, "", &faults), PL_OK);
    ck_assert_no_faults(&faults);
    pl_mesh_quality quality;
    ck_assert_int_eq(pl_mesh_measure(&mesh, &quality), PL_OK);
    ck_assert_msg(mesh.vertex_count + mesh.unused == vertices && mesh.tet_count == tets,
                  "%s: %lld + %lld vertices, %lld tets", a, (long long)mesh.vertex_count,
                  (long long)mesh.unused, (long long)mesh.tet_count);
    if (volume >= 0)
        ck_assert_double_eq_tol(quality.volume, volume, 1e-5 * volume);
    ck_assert_double_gt(quality.worst_quality, 0);
    pl_mesh_clear(&mesh);
    free((void *)blobs[0].data);
    free((void *)blobs[1].data);
}

#endif
