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
    FUZZ_REQUIRE(scene->time.steps == again.time.steps && pl_scene_frames(&again) >= 1,
                 "another number of steps");
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
