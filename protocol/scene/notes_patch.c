#include "protocol/scene/notes_patch.h"

#include "protocol/scene/notes_decode.h"
#include "protocol/text/json_load.h"

#include <string.h>

static json_t *load_object(const char *text)
{
    return text ? pl_json_load(text, strlen(text), 0, NULL) : json_object();
}

/* The current notes as a document in the form of a patch. NULL if out of memory. */
static json_t *describe(const pl_notes *now)
{
    json_t *labels = load_object(now->labels), *metadata = load_object(now->metadata);
    json_t *all = json_pack("{s:s, s:o, s:o, s:I, s:{s:I, s:I, s:f}}", "name", now->name, "labels",
                            labels, "metadata", metadata, "priority", (json_int_t)now->priority,
                            "retention", "last", (json_int_t)now->keep_last, "every",
                            (json_int_t)now->keep_every, "days", now->keep_days);
    bool good = all;
    if (good && now->webhook)
        good = !json_object_set_new(all, "webhook", json_pack("{s:s}", "url", now->webhook));
    if (good && now->group)
        good = !json_object_set_new(all, "group", json_string(now->group));
    if (good)
        return all;
    json_decref(all);
    return NULL;
}

static const pl_decode_custom customs[PL_CUSTOM_COUNT] = {
    [PL_CUSTOM_METADATA] = pl_decode_metadata,
    [PL_CUSTOM_LABELS] = pl_decode_labels,
    [PL_CUSTOM_PRIORITY] = pl_decode_priority,
    [PL_CUSTOM_WEBHOOK] = pl_decode_webhook,
};

static pl_decode_outcome decode_notes(json_t *merged, pl_notes *out, pl_faults *faults)
{
    static const pl_decode_rule rules[] = {{0}};
    pl_notes_decoded decoded = {0};
    pl_decoder d = {.faults = faults,
                    .root_table = pl_table_named("notes"),
                    .customs = customs,
                    .rules = rules};
    size_t before = faults->total;
    pl_decode_root(&d, merged, &decoded);
    pl_notes_clear(&decoded.notes);
    if (faults->total > before)
        return PL_DECODE_INVALID;
    return !d.no_memory && pl_notes_take(merged, false, out) ? PL_DECODE_OK : PL_DECODE_NO_MEMORY;
}

pl_decode_outcome pl_notes_patch(const char *text, size_t length, const pl_notes *now,
                                 pl_notes *out, pl_faults *faults)
{
    json_error_t error;
    *out = (pl_notes){0};
    json_t *patch = pl_json_load(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!patch)
        return pl_decode_refuse_syntax(&error, faults);
    if (!json_is_object(patch)) {
        pl_faults_add(faults, "", "wrong_type", "no object", "an object with the keys to change",
                      "{\"name\": \"...\", \"labels\": {\"key\": \"value\", \"old\": null}}");
        json_decref(patch);
        return PL_DECODE_INVALID;
    }
    json_t *old = describe(now), *merged = old ? pl_json_merge(old, patch) : NULL;
    pl_decode_outcome outcome = merged ? decode_notes(merged, out, faults) : PL_DECODE_NO_MEMORY;
    json_decref(merged);
    json_decref(old);
    json_decref(patch);
    return outcome;
}
