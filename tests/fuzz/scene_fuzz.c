/* A scene's text: rejected with faults that make a valid problem report, or decoded, encoded as the effective scene and
 * decoded again to the same scene. */
#include "tests/fuzz/fuzz.h"

#include "engine/scene/scene.h"
#include "protocol/scene/scene_json.h"

#include <stdlib.h>
#include <string.h>

static void check_refusal(pl_decode_outcome outcome, const pl_faults *faults)
{
    FUZZ_REQUIRE(outcome != PL_DECODE_NO_MEMORY, "out of memory for a small scene");
    FUZZ_REQUIRE(outcome != PL_DECODE_SYNTAX || faults->total == 1, "more than one syntax fault");
    fuzz_check_faults(faults);
}

/* ---- two scenes, member by member ---- */

static void same_text(const char *a, const char *b, const char *what)
{
    FUZZ_REQUIRE((!a && !b) || (a && b && strcmp(a, b) == 0), "%s '%s' became '%s'", what,
                 a ? a : "", b ? b : "");
}

static void same_bytes(const void *a, const void *b, size_t size, const char *what)
{
    FUZZ_REQUIRE(size == 0 || memcmp(a, b, size) == 0, "%s has changed", what);
}

/* The arrays of each struct are compared and taken out of the copies, so that the rest of a struct can
 * be compared as bytes, whatever is added to it. */
static void same_mesh_arrays(pl_mesh_source *a, pl_mesh_source *b)
{
    same_text(a->upload[0], b->upload[0], "upload");
    same_text(a->upload[1], b->upload[1], "upload");
    FUZZ_REQUIRE(a->vertex_count == b->vertex_count && a->tet_count == b->tet_count &&
                     a->triangle_count == b->triangle_count && a->edge_count == b->edge_count,
                 "another inline mesh");
    same_bytes(a->vertices, b->vertices, (size_t)a->vertex_count * 24, "vertices");
    same_bytes(a->tets, b->tets, (size_t)a->tet_count * 32, "tets");
    same_bytes(a->triangles, b->triangles, (size_t)a->triangle_count * 24, "triangles");
    same_bytes(a->edges, b->edges, (size_t)a->edge_count * 16, "edges");
    for (int k = 0; k < 2; k++)
        a->upload[k] = b->upload[k] = NULL;
    a->vertices = b->vertices = NULL;
    a->tets = b->tets = a->triangles = b->triangles = a->edges = b->edges = NULL;
}

static void same_selection_arrays(pl_selection *a, pl_selection *b)
{
    same_text(a->tag, b->tag, "tag");
    FUZZ_REQUIRE(a->index_count == b->index_count, "other indices");
    same_bytes(a->indices, b->indices, (size_t)a->index_count * 8, "indices");
    a->tag = b->tag = NULL;
    a->indices = b->indices = NULL;
}

static void same_body(pl_body a, pl_body b)
{
    same_text(a.name, b.name, "body");
    same_mesh_arrays(&a.mesh, &b.mesh);
    FUZZ_REQUIRE(a.tag_material_count == b.tag_material_count, "other materials by tag");
    for (int32_t k = 0; k < a.tag_material_count; k++) {
        same_text(a.tag_materials[k].tag, b.tag_materials[k].tag, "tag");
        FUZZ_REQUIRE(a.tag_materials[k].material == b.tag_materials[k].material,
                     "a tag of another material");
    }
    same_text(a.fields.stiffness, b.fields.stiffness, "field");
    same_text(a.fields.fibers, b.fields.fibers, "field");
    a.name = b.name = NULL;
    a.tag_materials = b.tag_materials = NULL;
    a.fields = b.fields = (pl_body_fields){0};
    same_bytes(&a, &b, sizeof a, "a body");
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
    same_selection_arrays(&a.select, &b.select);
    same_keyframes(&a.motion, &b.motion);
    a.name = b.name = NULL;
    same_bytes(&a, &b, sizeof a, "a pin");
}

static void same_obstacle(pl_obstacle a, pl_obstacle b)
{
    same_text(a.name, b.name, "obstacle");
    same_keyframes(&a.motion, &b.motion);
    same_mesh_arrays(&a.mesh.source, &b.mesh.source);
    FUZZ_REQUIRE(a.rows == b.rows && a.columns == b.columns, "other heights");
    same_bytes(a.heights, b.heights, (size_t)a.rows * (size_t)a.columns * 8, "heights");
    a.name = b.name = NULL;
    a.heights = b.heights = NULL;
    same_bytes(&a, &b, sizeof a, "an obstacle");
}

static void same_attachment(pl_attachment a, pl_attachment b)
{
    same_text(a.name, b.name, "attachment");
    same_selection_arrays(&a.select, &b.select);
    a.name = b.name = NULL;
    same_bytes(&a, &b, sizeof a, "an attachment");
}

static void same_force(pl_scene_force a, pl_scene_force b)
{
    same_text(a.name, b.name, "force");
    same_selection_arrays(&a.select, &b.select);
    a.name = b.name = NULL;
    same_bytes(&a, &b, sizeof a, "a force");
}

static void same_expectation(pl_expectation a, pl_expectation b)
{
    same_text(a.name, b.name, "expectation");
    same_selection_arrays(&a.select, &b.select);
    a.name = b.name = NULL;
    same_bytes(&a, &b, sizeof a, "an expectation");
}

static void same_output(pl_output a, pl_output b)
{
    FUZZ_REQUIRE(a.probe_count == b.probe_count, "other probes");
    for (int32_t i = 0; i < a.probe_count; i++)
        same_expectation(a.probes[i], b.probes[i]);
    a.probes = b.probes = NULL;
    same_bytes(&a, &b, sizeof a, "output");
}

static void same_contact(pl_contact_settings a, pl_contact_settings b)
{
    FUZZ_REQUIRE(a.pair_count == b.pair_count, "other pairs of bodies");
    same_bytes(a.pairs, b.pairs, (size_t)a.pair_count * sizeof *a.pairs, "pairs of bodies");
    a.pairs = b.pairs = NULL;
    same_bytes(&a, &b, sizeof a, "contact");
}

static void same_parts(const pl_scene *a, const pl_scene *b)
{
    for (int32_t i = 0; i < a->body_count; i++)
        same_body(a->bodies[i], b->bodies[i]);
    for (int32_t i = 0; i < a->pin_count; i++)
        same_pin(a->pins[i], b->pins[i]);
    for (int32_t i = 0; i < a->obstacle_count; i++)
        same_obstacle(a->obstacles[i], b->obstacles[i]);
    for (int32_t i = 0; i < a->attachment_count; i++)
        same_attachment(a->attachments[i], b->attachments[i]);
    for (int32_t i = 0; i < a->force_count; i++)
        same_force(a->forces[i], b->forces[i]);
    for (int32_t i = 0; i < a->expectation_count; i++)
        same_expectation(a->expectations[i], b->expectations[i]);
}

static void same_scene(const pl_scene *a, const pl_scene *b)
{
    same_text(a->name, b->name, "name");
    same_bytes(&a->time, &b->time, sizeof a->time, "time");
    same_bytes(&a->solver, &b->solver, sizeof a->solver, "solver");
    same_bytes(a->gravity, b->gravity, sizeof a->gravity, "gravity");
    same_bytes(&a->resources, &b->resources, sizeof a->resources, "resources");
    FUZZ_REQUIRE(a->material_count == b->material_count && a->body_count == b->body_count &&
                     a->pin_count == b->pin_count && a->obstacle_count == b->obstacle_count &&
                     a->attachment_count == b->attachment_count &&
                     a->force_count == b->force_count &&
                     a->expectation_count == b->expectation_count,
                 "another number of things");
    for (int32_t i = 0; i < a->material_count; i++) {
        pl_material x = a->materials[i], y = b->materials[i];
        same_text(x.name, y.name, "material");
        x.name = y.name = NULL;
        same_bytes(&x, &y, sizeof x, "a material");
    }
    same_parts(a, b);
    same_output(a->output, b->output);
    same_contact(a->contact, b->contact);
}

/* ---- round trip ---- */

static void check_again(const pl_scene *scene)
{
    pl_scene again;
    pl_faults faults = {0};
    char *text = pl_scene_encode(scene);
    FUZZ_REQUIRE(text, "a decoded scene cannot be encoded");
    pl_decode_outcome outcome = pl_scene_decode(text, strlen(text), &again, &faults);
    FUZZ_REQUIRE(outcome == PL_DECODE_OK, "the effective scene is refused: %s: got %s in %s",
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
    pl_decode_outcome outcome = pl_scene_decode(text, size, &scene, &faults);
    pl_decode_outcome outlined = pl_scene_outline(text, size, &outline, &outline_faults);
    FUZZ_REQUIRE(outcome == outlined, "verdict %d of the scene, %d of its outline", outcome,
                 outlined);
    if (outcome == PL_DECODE_OK) {
        FUZZ_REQUIRE(faults.total == 0, "accepted with a fault");
        check_again(&scene);
    } else {
        check_refusal(outcome, &faults);
    }
    pl_outline_clear(&outline);
    pl_scene_clear(&scene);
    pl_faults_clear(&faults);
    pl_faults_clear(&outline_faults);
    free(text);
    return 0;
}
