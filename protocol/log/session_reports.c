/* session_reports.c - exit.json and preflight.json of session_dir.h. */
#include "protocol/text/problem.h"
#include "protocol/log/sealed.h"
#include "protocol/log/session_dir.h"
#include "protocol/log/session_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORMAT = 2,
    SEALED_SINCE = 2,
    EXIT_LIMIT = 1 << 16,
    PREFLIGHT_LIMIT = 8 << 20,
    BODIES_MAX = 65536
};

/* ---- exit.json ---- */

static pl_failure_code failure_code(const char *name)
{
    for (int code = PL_FAILURE_NONE; code < PL_FAILURE_COUNT; code++)
        if (strcmp(name, pl_failure_name((pl_failure_code)code)) == 0)
            return (pl_failure_code)code;
    return PL_FAILURE_INTERNAL;
}

static void failure_decode(const pl_json *f, pl_failure *out)
{
    *out = (pl_failure){.code = PL_FAILURE_NONE,
                        .step = pl_json_integer(f, "step", -1),
                        .frame = pl_json_integer(f, "frame", -1),
                        .body = pl_json_integer(f, "body", -1),
                        .element = pl_json_integer(f, "element", -1),
                        .vertex = pl_json_integer(f, "vertex", -1)};
    if (pl_json_is_null(f))
        return;
    out->code = failure_code(pl_json_string(f, "code", "internal"));
    snprintf(out->message, sizeof out->message, "%s", pl_json_string(f, "message", ""));
    snprintf(out->advice, sizeof out->advice, "%s", pl_json_string(f, "advice", ""));
}

static const char read_only[] = "read_only";

static int disk_error_decode(const pl_json *document)
{
    const char *error = pl_json_string(document, "disk_error", "");
    return pl_json_boolean(document, "disk_full", false) ? ENOSPC
           : strcmp(error, read_only) == 0               ? EROFS
           : *error                                      ? EIO
                                                         : 0;
}

pl_status pl_exit_read(int dir_fd, pl_exit *out)
{
    pl_json *document;
    pl_status status = pl_sealed_read_since(dir_fd, "exit.json", EXIT_LIMIT, SEALED_SINCE, FORMAT,
                                            &document);
    if (status != PL_OK)
        return status;
    *out = (pl_exit){
        .attempt = (int32_t)pl_json_integer(document, "attempt", 0),
        .frames = pl_json_integer(document, "frames", -1),
        .seconds = pl_json_number(document, "seconds", 0),
        .launching = pl_json_boolean(document, "launching", false),
        .disk_error = disk_error_decode(document),
    };
    snprintf(out->state, sizeof out->state, "%s", pl_json_string(document, "state", "failed"));
    failure_decode(pl_json_at(document, "failure"), &out->failure);
    pl_json_free(document);
    return PL_OK;
}

/* A failure as the next value of a document: the object above, with null for ids that do not apply; null for
 * PL_FAILURE_NONE. */
static void encode_failure(pl_json_writer *w, const pl_failure *failure)
{
    if (failure->code == PL_FAILURE_NONE) {
        pl_json_put_null(w);
        return;
    }
    pl_json_begin_object(w);
    pl_json_set_string(w, "code", pl_failure_name(failure->code));
    pl_json_set_known(w, "step", failure->step);
    pl_json_set_known(w, "frame", failure->frame);
    pl_json_set_known(w, "body", failure->body);
    pl_json_set_known(w, "element", failure->element);
    pl_json_set_known(w, "vertex", failure->vertex);
    pl_json_set_string(w, "message", failure->message);
    pl_json_set_string(w, "advice", failure->advice);
    pl_json_end_object(w);
}

pl_status pl_exit_write(int dir_fd, const pl_exit *e)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", FORMAT);
    pl_json_set_integer(&w, "attempt", e->attempt);
    pl_json_set_string(&w, "state", e->state);
    pl_json_set_integer(&w, "frames", e->frames);
    pl_json_key(&w, "failure");
    encode_failure(&w, &e->failure);
    if (e->launching)
        pl_json_set_boolean(&w, "launching", true);
    if (e->disk_error == ENOSPC || e->disk_error == EDQUOT)
        pl_json_set_boolean(&w, "disk_full", true);
    else if (e->disk_error)
        pl_json_set_string(&w, "disk_error", e->disk_error == EROFS ? read_only : "io");
    pl_json_set_number(&w, "seconds", e->seconds);
    return pl_sealed_write(dir_fd, "exit.json", &w, true);
}

/* ---- preflight.json ---- */

static pl_status bodies_decode(const pl_json *list, pl_preflight *out)
{
    size_t count = pl_json_count(list);
    if (count > BODIES_MAX)
        count = BODIES_MAX;
    out->bodies = calloc(count ? count : 1, sizeof *out->bodies);
    if (!out->bodies)
        return PL_NO_MEMORY;
    out->body_count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        const pl_json *b = pl_json_item(list, i);
        pl_preflight_body *body = &out->bodies[i];
        snprintf(body->name, sizeof body->name, "%s", pl_json_string(b, "name", ""));
        body->vertices = pl_json_integer(b, "vertices", 0);
        body->first_vertex = pl_json_integer(b, "first_vertex", 0);
        body->tets = pl_json_integer(b, "tets", 0);
    }
    return PL_OK;
}

/* Earlier versions list remarks among the warnings, as sentences. */
static pl_status remarks_decode(const pl_json *document, pl_preflight *out)
{
    const pl_json *list = pl_json_at(document, "remarks");
    if (!list)
        list = pl_json_at(document, "warnings");
    size_t count = pl_json_count(list);
    if (count > BODIES_MAX)
        count = BODIES_MAX;
    out->remarks = calloc(count ? count : 1, sizeof *out->remarks);
    if (!out->remarks)
        return PL_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const char *text = pl_json_string(pl_json_item(list, i), "", "");
        out->remarks[i] = strdup(text);
        if (!out->remarks[i])
            return PL_NO_MEMORY;
        out->remark_count++;
    }
    return PL_OK;
}

static void sums_decode(const pl_json *files, pl_file_sum sums[PL_FILE_COUNT])
{
    for (int f = 0; files && f < PL_FILE_COUNT; f++) {
        const pl_json *sum = pl_json_at(files, pl_session_file_name((pl_session_file)f));
        const char *hex = pl_json_string(sum, "crc32c", "");
        int64_t bytes = pl_json_integer(sum, "bytes", -1);
        sums[f].known = bytes >= 0 && sscanf(hex, "%8" SCNx32, &sums[f].crc) == 1;
        sums[f].bytes = (uint64_t)bytes;
    }
}

pl_status pl_preflight_read(int dir_fd, pl_preflight *out)
{
    pl_json *document;
    pl_status status = pl_sealed_read_since(dir_fd, "preflight.json", PREFLIGHT_LIMIT, SEALED_SINCE,
                                            FORMAT, &document);
    if (status != PL_OK)
        return status;
    pl_preflight p = {
        .vertices = pl_json_integer(document, "vertices", 0),
        .tets = pl_json_integer(document, "tets", 0),
        .cores = pl_json_integer(document, "estimate/cores", 0),
        .memory_bytes = pl_json_number(document, "estimate/memory_bytes", 0),
        .gpu_memory_bytes = pl_json_number(document, "estimate/gpu_memory_bytes", 0),
        .seconds_per_frame = pl_json_number(document, "estimate/seconds_per_frame", 0),
        .setup_seconds = pl_json_number(document, "estimate/setup_seconds", 0),
        .frame_bytes = pl_json_number(document, "estimate/frame_bytes", 0),
    };
    snprintf(p.kind, sizeof p.kind, "%s", pl_json_string(document, "estimate/kind", ""));
    pl_faults_decode(pl_json_at(document, "faults"), pl_json_integer(document, "faults_total", 0),
                     &p.faults);
    sums_decode(pl_json_at(document, "files"), p.sums);
    status = bodies_decode(pl_json_at(document, "bodies"), &p);
    if (status == PL_OK)
        status = pl_warnings_decode(pl_json_at(document, "warnings"), &p.warnings);
    if (status == PL_OK)
        status = remarks_decode(document, &p);
    pl_json_free(document);
    if (status == PL_OK)
        *out = p;
    else
        pl_preflight_clear(&p);
    return status;
}

static void estimate_encode(pl_json_writer *w, const pl_preflight *p)
{
    pl_json_key(w, "estimate");
    pl_json_begin_object(w);
    pl_json_set_number(w, "memory_bytes", p->memory_bytes);
    pl_json_set_number(w, "gpu_memory_bytes", p->gpu_memory_bytes);
    pl_json_set_number(w, "seconds_per_frame", p->seconds_per_frame);
    pl_json_set_number(w, "setup_seconds", p->setup_seconds);
    pl_json_set_number(w, "frame_bytes", p->frame_bytes);
    pl_json_set_integer(w, "cores", p->cores);
    pl_json_set_string(w, "kind", p->kind);
    pl_json_end_object(w);
}

static void sums_encode(pl_json_writer *w, const pl_file_sum sums[PL_FILE_COUNT])
{
    char hex[9];
    pl_json_key(w, "files");
    pl_json_begin_object(w);
    for (int f = 0; f < PL_FILE_COUNT; f++) {
        if (!sums[f].known)
            continue;
        pl_json_key(w, pl_session_file_name((pl_session_file)f));
        pl_json_begin_object(w);
        pl_json_set_integer(w, "bytes", (int64_t)sums[f].bytes);
        snprintf(hex, sizeof hex, "%08" PRIx32, sums[f].crc);
        pl_json_set_string(w, "crc32c", hex);
        pl_json_end_object(w);
    }
    pl_json_end_object(w);
}

void pl_bodies_encode(pl_json_writer *w, const pl_preflight *p)
{
    pl_json_begin_array(w);
    for (int32_t i = 0; i < p->body_count; i++) {
        pl_json_begin_object(w);
        pl_json_set_string(w, "name", p->bodies[i].name);
        pl_json_set_integer(w, "vertices", p->bodies[i].vertices);
        pl_json_set_integer(w, "first_vertex", p->bodies[i].first_vertex);
        pl_json_set_integer(w, "tets", p->bodies[i].tets);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

void pl_remarks_encode(pl_json_writer *w, const pl_preflight *p)
{
    pl_json_key(w, "warnings");
    pl_json_begin_array(w);
    pl_warnings_put(w, &p->warnings);
    pl_json_end_array(w);
    pl_json_key(w, "remarks");
    pl_json_begin_array(w);
    for (int32_t i = 0; i < p->remark_count; i++)
        pl_json_put_string(w, p->remarks[i]);
    pl_json_end_array(w);
}

pl_status pl_preflight_write(int dir_fd, const pl_preflight *p)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", FORMAT);
    pl_json_set_boolean(&w, "accepted", p->faults.total == 0);
    pl_json_key(&w, "faults");
    pl_faults_encode(&w, &p->faults);
    pl_json_set_integer(&w, "faults_total", (int64_t)p->faults.total);
    pl_json_key(&w, "bodies");
    pl_bodies_encode(&w, p);
    pl_json_set_integer(&w, "vertices", p->vertices);
    pl_json_set_integer(&w, "tets", p->tets);
    estimate_encode(&w, p);
    pl_remarks_encode(&w, p);
    sums_encode(&w, p->sums);
    return pl_sealed_put(dir_fd, "preflight.json", &w);
}

void pl_validation_encode(pl_json_writer *w, const pl_preflight *p, int64_t frames, double ratio,
                          const char *geometry)
{
    pl_json_begin_object(w);
    pl_json_set_boolean(w, "valid", true);
    pl_json_key(w, "estimate");
    pl_json_begin_object(w);
    pl_json_set_integer(w, "vertices", p->vertices);
    pl_json_set_integer(w, "tets", p->tets);
    if (frames >= 0)
        pl_json_set_integer(w, "frames", frames);
    else
        pl_json_set_null(w, "frames");
    pl_json_set_number(w, "memory_bytes", p->memory_bytes);
    pl_json_set_number(w, "gpu_memory_bytes", p->gpu_memory_bytes);
    pl_json_set_number(w, "setup_seconds", ratio * p->setup_seconds);
    pl_json_set_number(w, "seconds_per_frame", ratio * p->seconds_per_frame);
    pl_json_set_number(w, "frame_bytes", p->frame_bytes);
    pl_json_set_integer(w, "cores", p->cores);
    pl_json_end_object(w);
    pl_json_key(w, "bodies");
    pl_bodies_encode(w, p);
    pl_remarks_encode(w, p);
    if (geometry)
        pl_json_set_raw(w, "geometry", geometry);
    pl_json_end_object(w);
}

void pl_preflight_clear(pl_preflight *p)
{
    pl_faults_clear(&p->faults);
    free(p->bodies);
    pl_warnings_clear(&p->warnings);
    for (int32_t i = 0; i < p->remark_count; i++)
        free(p->remarks[i]);
    free(p->remarks);
    *p = (pl_preflight){0};
}
