/* A scene's text: decoded or refused with faults that make a valid problem report; what was decoded
 * is encoded as the effective scene and decoded again to the same. */
#include "tests/fuzz/fuzz.h"

#include "engine/scene.h"
#include "protocol/json.h"
#include "protocol/problem.h"
#include "protocol/scene_json.h"

#include <stdlib.h>
#include <string.h>

static void check_refusal(pl_decode_verdict verdict, const pl_faults *faults)
{
    FUZZ_REQUIRE(verdict != PL_DECODE_NO_MEMORY, "out of memory for a small scene");
    FUZZ_REQUIRE(faults->total > 0, "refused without a fault");
    FUZZ_REQUIRE(verdict != PL_DECODE_SYNTAX || faults->total == 1, "more than one syntax fault");
    for (size_t i = 0; i < faults->count; i++)
        FUZZ_REQUIRE(faults->items[i].code && faults->items[i].code[0], "a fault without code");
    char *text = pl_problem_encode(422, "invalid_scene", "Invalid scene", "", faults);
    char error[160] = "";
    pl_json *report = text ? pl_json_parse(text, strlen(text), error) : NULL;
    FUZZ_REQUIRE(report, "the report is no JSON: %s in %s", error, text ? text : "nothing");
    pl_json_free(report);
    free(text);
}

/* ---- two scenes, member by member
 * ----------------------------------------------------------------- */

static void same_text(const char *a, const char *b, const char *what)
{
    FUZZ_REQUIRE((!a && !b) || (a && b && strcmp(a, b) == 0), "%s '%s' became '%s'", what,
                 a ? a : "", b ? b : "");
}

static void same_bytes(const void *a, const void *b, size_t size, const char *what)
{
    FUZZ_REQUIRE(size == 0 || memcmp(a, b, size) == 0, "%s has changed", what);
}

static void same_body(pl_body a, pl_body b)
{
    same_text(a.name, b.name, "body");
    same_text(a.mesh.upload[0], b.mesh.upload[0], "upload");
    same_text(a.mesh.upload[1], b.mesh.upload[1], "upload");
    FUZZ_REQUIRE(a.mesh.vertex_count == b.mesh.vertex_count && a.mesh.tet_count == b.mesh.tet_count,
                 "another inline mesh");
    same_bytes(a.mesh.vertices, b.mesh.vertices, (size_t)a.mesh.vertex_count * 24, "vertices");
    same_bytes(a.mesh.tets, b.mesh.tets, (size_t)a.mesh.tet_count * 32, "tets");
    same_bytes(&a.transform, &b.transform, sizeof a.transform, "a transform");
    same_bytes(&a.initial, &b.initial, sizeof a.initial, "an initial state");
    FUZZ_REQUIRE(a.material == b.material && a.mesh.kind == b.mesh.kind &&
                     a.mesh.format == b.mesh.format && a.mesh.radius == b.mesh.radius &&
                     a.mesh.sphere_cells == b.mesh.sphere_cells &&
                     a.mesh.refuse_negative == b.mesh.refuse_negative,
                 "a body has changed");
    same_bytes(a.mesh.size, b.mesh.size, sizeof a.mesh.size, "a box");
    same_bytes(a.mesh.cells, b.mesh.cells, sizeof a.mesh.cells, "cells");
}

static void same_keyframes(pl_motion *a, pl_motion *b)
{
    FUZZ_REQUIRE(a->keyframe_count == b->keyframe_count, "other keyframes");
    same_bytes(a->keyframes, b->keyframes, (size_t)a->keyframe_count * sizeof *a->keyframes,
               "keyframes");
    a->keyframes = b->keyframes = NULL;
}

static void same_pin(pl_pin a, pl_pin b)
{
    same_text(a.name, b.name, "pin");
    same_text(a.select.tag, b.select.tag, "tag");
    FUZZ_REQUIRE(a.select.index_count == b.select.index_count, "other indices");
    same_bytes(a.select.indices, b.select.indices, (size_t)a.select.index_count * 8, "indices");
    a.name = b.name = a.select.tag = b.select.tag = NULL;
    a.select.indices = b.select.indices = NULL;
    same_keyframes(&a.motion, &b.motion);
    same_bytes(&a, &b, sizeof a, "a pin");
}

/* Its arrays too, which are taken out of the structs. */
static void same_obstacle_arrays(pl_obstacle *a, pl_obstacle *b)
{
    pl_mesh_source *m = &a->mesh.source, *n = &b->mesh.source;
    same_text(a->name, b->name, "obstacle");
    same_keyframes(&a->motion, &b->motion);
    FUZZ_REQUIRE(a->rows == b->rows && a->columns == b->columns &&
                     m->vertex_count == n->vertex_count && m->triangle_count == n->triangle_count,
                 "other counts");
    same_bytes(a->heights, b->heights, (size_t)a->rows * (size_t)a->columns * 8, "heights");
    same_bytes(m->vertices, n->vertices, (size_t)m->vertex_count * 24, "vertices");
    same_bytes(m->triangles, n->triangles, (size_t)m->triangle_count * 24, "triangles");
    a->name = b->name = NULL;
    a->heights = b->heights = m->vertices = n->vertices = NULL;
    m->triangles = n->triangles = NULL;
}

static void same_scene(const pl_scene *a, const pl_scene *b)
{
    same_text(a->name, b->name, "name");
    same_bytes(&a->time, &b->time, sizeof a->time, "time");
    same_bytes(&a->solver, &b->solver, sizeof a->solver, "solver");
    same_bytes(a->gravity, b->gravity, sizeof a->gravity, "gravity");
    same_bytes(&a->output, &b->output, sizeof a->output, "output");
    same_bytes(&a->resources, &b->resources, sizeof a->resources, "resources");
    FUZZ_REQUIRE(a->material_count == b->material_count && a->body_count == b->body_count &&
                     a->pin_count == b->pin_count && a->obstacle_count == b->obstacle_count,
                 "another number of things");
    for (int32_t i = 0; i < a->material_count; i++) {
        pl_material x = a->materials[i], y = b->materials[i];
        same_text(x.name, y.name, "material");
        x.name = y.name = NULL;
        same_bytes(&x, &y, sizeof x, "a material");
    }
    for (int32_t i = 0; i < a->body_count; i++)
        same_body(a->bodies[i], b->bodies[i]);
    for (int32_t i = 0; i < a->pin_count; i++)
        same_pin(a->pins[i], b->pins[i]);
    for (int32_t i = 0; i < a->obstacle_count; i++) {
        pl_obstacle x = a->obstacles[i], y = b->obstacles[i];
        same_obstacle_arrays(&x, &y);
        same_bytes(&x, &y, sizeof x, "an obstacle");
    }
}

/* ---- round trip
 * ----------------------------------------------------------------------------------- */

static void check_again(const pl_scene *scene)
{
    pl_scene again;
    pl_faults faults = {0};
    char *text = pl_scene_encode(scene);
    FUZZ_REQUIRE(text, "a decoded scene can not be encoded");
    pl_decode_verdict verdict = pl_scene_decode(text, strlen(text), &again, &faults);
    FUZZ_REQUIRE(verdict == PL_DECODE_OK, "the effective scene is refused: %s: got %s in %s",
                 faults.count ? faults.items[0].pointer : "",
                 faults.count ? faults.items[0].got : "", text);
    char *text_again = pl_scene_encode(&again);
    FUZZ_REQUIRE(text_again && strcmp(text, text_again) == 0, "changed by a round trip: %s to %s",
                 text, text_again ? text_again : "nothing");
    FUZZ_REQUIRE(pl_scene_frames(&again) >= 1, "no frames");
    same_scene(scene, &again);
    free(text_again);
    free(text);
    pl_faults_clear(&faults);
    pl_scene_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_scene scene;
    pl_outline outline = {0};
    pl_faults faults = {0}, outline_faults = {0};
    char *text = fuzz_exact(data, size);
    pl_decode_verdict verdict = pl_scene_decode(text, size, &scene, &faults);
    pl_decode_verdict outlined = pl_scene_outline(text, size, &outline, &outline_faults);
    FUZZ_REQUIRE(verdict == outlined, "verdict %d of the scene, %d of its outline", verdict,
                 outlined);
    if (verdict == PL_DECODE_OK) {
        FUZZ_REQUIRE(faults.total == 0, "accepted with a fault");
        check_again(&scene);
    } else {
        check_refusal(verdict, &faults);
    }
    pl_outline_clear(&outline);
    pl_scene_clear(&scene);
    pl_faults_clear(&faults);
    pl_faults_clear(&outline_faults);
    free(text);
    return 0;
}
