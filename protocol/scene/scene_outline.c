#include "protocol/scene/scene_json.h"

#include "engine/scene/scene.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file_format(const pl_mesh_source *mesh, int part)
{
    if (mesh->format == PL_UPLOAD_TETGEN)
        return part == 0 ? "tetgen_node" : "tetgen_ele";
    return pl_table_param(pl_table_named("mesh"), "format")->choices[mesh->format];
}

/* Notes a file, unless it is already noted with the same format. False if there are too many. */
static bool note_upload(pl_outline *out, const char *hash, const char *pointer, const char *format)
{
    for (int32_t i = 0; i < out->upload_count; i++)
        if (strcmp(out->uploads[i].hash, hash) == 0 && strcmp(out->uploads[i].format, format) == 0)
            return true;
    if (out->upload_count == PL_OUTLINE_UPLOADS_MAX)
        return false;
    pl_upload_ref *ref = &out->uploads[out->upload_count++];
    snprintf(ref->hash, sizeof ref->hash, "%s", hash);
    snprintf(ref->pointer, sizeof ref->pointer, "%s", pointer);
    snprintf(ref->format, sizeof ref->format, "%s", format);
    return true;
}

/* The files of one source; `owner` is the place of its mesh. */
static bool note_files(pl_outline *out, const pl_mesh_source *mesh, const char *owner,
                       pl_faults *faults)
{
    static const char *const parts[] = {"/node", "/ele"};
    for (int part = 0; mesh->kind == PL_SOURCE_UPLOAD && part < mesh->upload_count; part++) {
        char pointer[96];
        snprintf(pointer, sizeof pointer, "%s/upload%s", owner,
                 mesh->upload_count == 2 ? parts[part] : "");
        if (note_upload(out, mesh->upload[part] + strlen("sha256:"), pointer,
                        file_format(mesh, part)))
            continue;
        pl_faults_add(faults, pointer, "too_many", "more than 256 different files",
                      "at most 256 uploaded files in a scene", "");
        return false;
    }
    return true;
}

static pl_decode_outcome note_uploads(const pl_scene *scene, pl_outline *out, pl_faults *faults)
{
    char owner[64];
    out->uploads = calloc(PL_OUTLINE_UPLOADS_MAX, sizeof *out->uploads);
    if (!out->uploads)
        return PL_DECODE_NO_MEMORY;
    for (int32_t b = 0; b < scene->body_count; b++) {
        snprintf(owner, sizeof owner, "/bodies/%d/mesh", b);
        if (!note_files(out, &scene->bodies[b].mesh, owner, faults))
            return PL_DECODE_INVALID;
    }
    for (int32_t o = 0; o < scene->obstacle_count; o++) {
        snprintf(owner, sizeof owner, "/obstacles/%d/mesh", o);
        if (scene->obstacles[o].kind == PL_OBSTACLE_MESH &&
            !note_files(out, &scene->obstacles[o].mesh.source, owner, faults))
            return PL_DECODE_INVALID;
    }
    return PL_DECODE_OK;
}

pl_decode_outcome pl_scene_outline(const char *text, size_t length, pl_outline *out,
                                   pl_faults *faults)
{
    pl_scene scene;
    *out = (pl_outline){0};
    out->notes = calloc(1, sizeof *out->notes);
    pl_decode_outcome outcome = out->notes
                                    ? pl_scene_decode_with(text, length, &scene, out->notes, faults)
                                    : PL_DECODE_NO_MEMORY;
    if (outcome != PL_DECODE_OK) {
        pl_outline_clear(out);
        return outcome;
    }
    out->frames = pl_scene_endless(&scene) ? -1 : pl_scene_frames(&scene);
    out->duration = (double)scene.time.steps * scene.time.step;
    out->cores = scene.resources.cores;
    out->cores_most = scene.resources.cores_most;
    out->cores_given = scene.resources.cores_given;
    out->preemptible = scene.resources.preemptible;
    out->hold = scene.resources.hold;
    out->executor = scene.resources.executor;
    out->interactive = out->frames < 0 || scene.time.pace == PL_PACE_REALTIME;
    out->after_count = scene.resources.after_count;
    memcpy(out->after, scene.resources.after, sizeof out->after);
    out->memory = scene.resources.memory;
    out->time_limit = scene.resources.time_limit;
    out->keep_last = scene.output.retention.last;
    out->keep_every = scene.output.retention.every;
    out->keep_days = scene.output.retention.days;
    const pl_param *method = pl_table_param(pl_table_named("solver"), "method");
    snprintf(out->method, sizeof out->method, "%s",
             method->choices[scene.solver.automatic ? PL_METHOD_AUTO : scene.solver.method]);
    out->gpu = scene.solver.device == PL_DEVICE_GPU;
    out->contact = scene.contact.enabled;
    outcome = note_uploads(&scene, out, faults);
    pl_scene_clear(&scene);
    if (outcome != PL_DECODE_OK)
        pl_outline_clear(out);
    return outcome;
}

void pl_outline_clear(pl_outline *outline)
{
    if (outline->notes)
        pl_notes_clear(outline->notes);
    free(outline->notes);
    free(outline->uploads);
    *outline = (pl_outline){0};
}
