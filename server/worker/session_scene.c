#include "server/worker/session_scene.h"

#include "protocol/scene/scene_json.h"
#include "protocol/log/session_dir.h"
#include "protocol/log/session_file.h"
#include "protocol/text/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Vertex indices are 32-bit, and a tetrahedron has 12 unknowns' worth of work data: far above what one machine can
 * simulate, far below overflow. */
const pl_mesh_limits pl_worker_mesh_limits = {.max_vertices = 16 << 20, .max_tets = 64 << 20};

pl_status pl_session_scene_read(int directory, pl_session_scene *out, pl_faults *faults)
{
    char *text = NULL;
    size_t size = 0;
    pl_status status = pl_file_read(directory, "scene.json", PL_SCENE_FILE_MAX, &text, &size);
    if (status == PL_IO && errno == EFBIG) {
        pl_faults_addf(faults, "", "too_large", "a scene of at most 32 MiB",
                       "Upload large meshes and refer to them by hash.", "a larger scene.json");
        return PL_INVALID;
    }
    if (status != PL_OK)
        return status;
    out->sum = pl_file_sum_of(text, size);
    pl_decode_outcome outcome = pl_scene_decode(text, size, &out->scene, faults);
    free(text);
    if (outcome == PL_DECODE_NO_MEMORY)
        return PL_NO_MEMORY;
    return outcome == PL_DECODE_OK ? PL_OK : PL_INVALID;
}

bool pl_session_scene_accepted(int directory, const pl_session_scene *s)
{
    return !s->sum.known || pl_session_file_fits(directory, PL_FILE_SCENE, &s->sum);
}

/* "meshes/HASH" from "sha256:HASH". The scene's decoder also checks the digits, but they become a path here, so they
 * are checked here too. */
static bool mesh_path(const char *upload, char path[80])
{
    static const char prefix[] = "sha256:";
    if (!upload || strncmp(upload, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *hash = upload + sizeof prefix - 1;
    if (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64)
        return false;
    snprintf(path, 80, "meshes/%s", hash);
    return true;
}

/* Read upload k of a source; `owner` is the path of the object with the mesh. */
static pl_status read_upload(int directory, const pl_mesh_source *source, const char *owner,
                             int32_t k, pl_blob *blob, pl_faults *faults)
{
    static const char *const parts[2] = {"/node", "/ele"};
    char pointer[96], path[80];
    snprintf(pointer, sizeof pointer, "%s/upload%s", owner,
             source->upload_count == 2 ? parts[k] : "");
    const char *upload = source->upload[k];
    if (!mesh_path(upload, path)) {
        pl_faults_add(faults, pointer, "mesh_reference", upload, "sha256:<64 hex digits>", "");
        return PL_INVALID;
    }
    char *data = NULL;
    size_t size = 0;
    pl_status status = pl_file_read(directory, path, PL_MESH_FILE_MAX, &data, &size);
    if (status == PL_OK) {
        char actual[65];
        pl_sha256_hex(data, size, actual);
        if (strcmp(actual, path + sizeof "meshes/" - 1) == 0) {
            *blob = (pl_blob){.data = data, .size = size};
            return PL_OK;
        }
        free(data);
        pl_faults_addf(faults, pointer, "mesh_damaged", upload,
                       "The stored file has changed: upload it again.", "a file of SHA-256 %s",
                       actual);
        return PL_INVALID;
    }
    if (status == PL_NO_MEMORY)
        return status;
    if (status == PL_IO && errno == ENOENT)
        pl_faults_add(faults, pointer, "mesh_missing", upload, "the hash of an uploaded mesh",
                      "Upload the file first: PUT /v1/meshes/{sha256}.");
    else if (status == PL_IO && errno == EFBIG)
        pl_faults_add(faults, pointer, "mesh_too_large", upload, "a file of at most 1 GiB", "");
    else
        pl_faults_addf(faults, pointer, "mesh_unreadable", "a readable mesh file", "", "%s: %s",
                       upload, status == PL_IO ? strerror(errno) : "not a regular file");
    return PL_INVALID;
}

static pl_status read_uploads(int directory, const pl_mesh_source *source, const char *owner,
                              pl_blob blobs[2], pl_faults *faults)
{
    int32_t uploads = source->kind == PL_SOURCE_UPLOAD ? source->upload_count : 0;
    pl_status status = PL_OK;
    for (int32_t k = 0; k < uploads; k++) {
        pl_status read = read_upload(directory, source, owner, k, &blobs[k], faults);
        if (read != PL_OK)
            status = read;
    }
    return status;
}

static void free_blobs(pl_blob blobs[2])
{
    for (int k = 0; k < 2; k++)
        free((void *)blobs[k].data);
}

/* The mesh of body b. Uploads are read and released body by body: the peak is one file's bytes. */
static pl_status load_body(int directory, pl_session_scene *s, int32_t b, pl_faults *faults)
{
    pl_blob blobs[2] = {{0}, {0}};
    char owner[64];
    snprintf(owner, sizeof owner, "/bodies/%d/mesh", b);
    pl_status status = read_uploads(directory, &s->scene.bodies[b].mesh, owner, blobs, faults);
    if (status == PL_OK)
        status = pl_body_load(&s->scene, b, blobs, &pl_worker_mesh_limits, &s->meshes[b], faults);
    free_blobs(blobs);
    return status;
}

/* Load the surface of obstacle o if it is in a file. */
static pl_status load_obstacle(int directory, pl_scene *scene, int32_t o, pl_faults *faults)
{
    const pl_obstacle *obstacle = &scene->obstacles[o];
    pl_blob blobs[2] = {{0}, {0}};
    char owner[64];
    if (obstacle->kind != PL_OBSTACLE_MESH || obstacle->mesh.source.kind != PL_SOURCE_UPLOAD)
        return PL_OK;
    snprintf(owner, sizeof owner, "/obstacles/%d/mesh", o);
    pl_status status = read_uploads(directory, &obstacle->mesh.source, owner, blobs, faults);
    if (status == PL_OK)
        status = pl_obstacle_load(scene, o, blobs, &pl_worker_mesh_limits, faults);
    free_blobs(blobs);
    return status;
}

pl_status pl_session_scene_load_obstacles(int directory, pl_scene *scene, pl_faults *faults)
{
    pl_status worst = PL_OK;
    for (int32_t o = 0; o < scene->obstacle_count && worst != PL_NO_MEMORY; o++) {
        pl_status status = load_obstacle(directory, scene, o, faults);
        if (status != PL_OK)
            worst = status;
    }
    return worst;
}

pl_status pl_session_scene_load_bodies(int directory, pl_session_scene *s, pl_faults *faults)
{
    int32_t bodies = s->scene.body_count;
    s->meshes = calloc(bodies > 0 ? (size_t)bodies : 1, sizeof *s->meshes);
    if (!s->meshes)
        return PL_NO_MEMORY;
    pl_status worst = PL_OK;
    for (int32_t b = 0; b < bodies && worst != PL_NO_MEMORY; b++) {
        pl_status status = load_body(directory, s, b, faults);
        if (status != PL_OK)
            worst = status;
    }
    return worst;
}

pl_status pl_session_scene_load(int directory, pl_session_scene *s, pl_faults *faults)
{
    pl_status worst = pl_session_scene_load_bodies(directory, s, faults);
    if (worst == PL_NO_MEMORY)
        return worst;
    pl_status obstacles = pl_session_scene_load_obstacles(directory, &s->scene, faults);
    return obstacles != PL_OK ? obstacles : worst;
}

void pl_session_scene_free_meshes(pl_session_scene *s)
{
    for (int32_t b = 0; s->meshes && b < s->scene.body_count; b++)
        pl_mesh_clear(&s->meshes[b]);
    free(s->meshes);
    s->meshes = NULL;
}

void pl_session_scene_clear(pl_session_scene *s)
{
    pl_session_scene_free_meshes(s);
    pl_scene_clear(&s->scene);
}
