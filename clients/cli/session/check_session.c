#include "clients/cli/session/check_session.h"

#include "protocol/scene/expect.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct checker {
    pl_expect *expect;
    double *positions; /* of one frame */
    int64_t capacity;
    bool no_memory;
} checker;

static bool take_metrics(void *context, const char *line, size_t length)
{
    checker *c = context;
    pl_expect_metrics(c->expect, line, length);
    return true;
}

static bool take_frame(void *context, const pl_session_frame *frame)
{
    checker *c = context;
    if (frame->vertices > c->capacity) {
        double *grown = realloc(c->positions, (size_t)(3 * frame->vertices) * sizeof *grown);
        if (!grown)
            return !(c->no_memory = true);
        c->positions = grown;
        c->capacity = frame->vertices;
    }
    pl_session_frame_values(frame, c->positions);
    pl_expect_frame(c->expect, frame->frame, frame->vertices, c->positions);
    return true;
}

static int open_expect(pl_session_source *s, pl_expect **out)
{
    char *scene = NULL, *topology = NULL;
    size_t scene_size, topology_size;
    int status = pl_session_source_document(s, PL_FILE_SCENE, "/v1/sessions/%s/scene?form=posted",
                                            NULL, &scene, &scene_size);
    if (status == PL_EXIT_OK)
        status = pl_session_source_document(s, PL_FILE_TOPOLOGY, "/v1/sessions/%s/topology", NULL,
                                            &topology, &topology_size);
    if (status == PL_EXIT_OK) {
        pl_faults faults = {0};
        pl_status opened = pl_expect_open(scene, scene_size, topology, topology_size, s->frames,
                                          out, &faults);
        if (opened != PL_OK) {
            status = pl_cli_fail(s->cli, PL_EXIT_FAILED,
                                 opened == PL_NO_MEMORY ? "out of memory"
                                                        : "the session cannot be checked");
            pl_cli_print_faults(s->cli, &faults);
        }
        pl_faults_clear(&faults);
    }
    free(scene);
    free(topology);
    return status;
}

static void encode_outcome(pl_json_writer *w, const pl_expect_outcome *v)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", v->name);
    pl_json_set_boolean(w, "passed", v->passed);
    pl_json_set_string(w, "what", v->what);
    pl_json_set_number(w, "got", v->got);
    pl_json_set_string(w, "expected", v->expected);
    v->frame < 0 ? pl_json_set_null(w, "frame") : pl_json_set_integer(w, "frame", v->frame);
    pl_json_set_string(w, "missing", *v->missing ? v->missing : NULL);
    pl_json_end_object(w);
}

static void print_outcome(const pl_cli *cli, const pl_expect_outcome *v)
{
    char frame[48] = "";
    pl_style style = v->passed ? PL_STYLE_GREEN : PL_STYLE_RED;
    if (v->frame >= 0)
        snprintf(frame, sizeof frame, " (frame %" PRId64 ", %.6g s)", v->frame, v->time);
    printf("%s%s%s %s: %s: ", pl_style_on(&cli->out, style), v->passed ? "ok  " : "FAIL",
           pl_style_off(&cli->out), v->name, v->what);
    if (*v->missing)
        printf("%s", v->missing);
    else
        printf("%.9g%s", v->got, frame);
    printf("%s%s\n", v->passed ? ", expected " : "; expected ", v->expected);
}

static int print_outcomes(const pl_cli *cli, const pl_expect *e)
{
    pl_json_writer w = {0};
    int32_t failed = 0, count = pl_expect_count(e);
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "event", "check");
    pl_json_key(&w, "expectations");
    pl_json_begin_array(&w);
    for (int32_t k = 0; k < count; k++) {
        pl_expect_outcome v;
        pl_expect_evaluate(e, k, &v);
        failed += !v.passed;
        encode_outcome(&w, &v);
        if (!cli->json)
            print_outcome(cli, &v);
    }
    pl_json_end_array(&w);
    pl_json_set_integer(&w, "failed", failed);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (cli->json && text)
        puts(text);
    free(text);
    if (!cli->json && failed)
        printf("%d of %d expectations do not hold\n", failed, count);
    return failed ? PL_EXIT_FAILED : PL_EXIT_OK;
}

int pl_check_session(pl_session_source *s)
{
    checker c = {0};
    int status = open_expect(s, &c.expect);
    if (status == PL_EXIT_OK && pl_expect_count(c.expect) == 0)
        status = pl_cli_fail(s->cli, PL_EXIT_FAILED,
                             "the scene has no \"expect\": there is nothing to check");
    if (status == PL_EXIT_OK)
        status = pl_session_source_metrics(s, 0, take_metrics, &c);
    if (status == PL_EXIT_OK && pl_expect_wants_frames(c.expect) && s->frames > 0)
        status = pl_session_source_frames(s, 0, s->frames - 1, 1, false, take_frame, &c);
    if (status == PL_EXIT_OK && c.no_memory)
        status = pl_cli_fail(s->cli, PL_EXIT_FAILED, "out of memory");
    if (status == PL_EXIT_OK)
        status = print_outcomes(s->cli, c.expect);
    pl_expect_close(c.expect);
    free(c.positions);
    return status;
}
