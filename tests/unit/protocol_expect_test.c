/* Expectations held against frames and metrics that the test makes up. */
#include "protocol/scene/expect.h"

#include "protocol/text/json.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two bodies of two vertices, five frames 0.5 s apart (time.step 0.25, every 2). The k-th frame's
 * positions are those of move(); its metrics those of note(). */
enum { FRAMES = 5, VERTICES = 4 };

static const char topology[] =
    "{\"vertices\": 4, \"bodies\": [{\"first_vertex\": 0, \"vertices\": 2}, {\"first_vertex\": 2,"
    " \"vertices\": 2}], \"expect\": [[1, 3], null, null, null, null, null, null, null]}";

static pl_expect *open_expect(int64_t frames, const char *expectations)
{
    char text[4096];
    pl_faults faults = {0};
    pl_expect *e = NULL;
    snprintf(text, sizeof text,
             "{\"pliant\": 1, \"time\": {\"step\": 0.25, \"steps\": 8}, \"output\": {\"every\": 2},"
             " \"bodies\": [{\"name\": \"a\", \"mesh\": {\"box\": {}}},"
             " {\"name\": \"b\", \"mesh\": {\"box\": {}}}],"
             " \"pins\": [{\"name\": \"l/r\", \"body\": \"a\", \"select\": \"all\"}],"
             " \"obstacles\": [{\"name\": \"floor\", \"plane\": {}}, {\"name\": \"w/ball\","
             " \"sphere\": {}}], \"expect\": [%s]}",
             expectations);
    pl_status status = pl_expect_open(text, strlen(text), topology, strlen(topology), frames, &e,
                                      &faults);
    ck_assert_msg(status == PL_OK, "%s: %s %s", expectations,
                  faults.count ? faults.items[0].pointer : "",
                  faults.count ? faults.items[0].code : "");
    return e;
}

/* Vertex v of frame k: (v, k^2, -k v). */
static void move(int64_t k, double *x)
{
    for (int v = 0; v < VERTICES; v++) {
        x[3 * v] = v;
        x[3 * v + 1] = (double)(k * k);
        x[3 * v + 2] = (double)(-k * v);
    }
}

/* Contact in frame k: nothing near anything in frame 0, none at all in frame 3 if it is `lost`. */
static void contact_of(int64_t k, bool lost, char *text, size_t size)
{
    if (lost && k == 3)
        snprintf(text, size, "null");
    else if (k == 0)
        snprintf(text, size, "{\"pairs\": 0, \"gap\": null, \"forces\": [], \"friction_work\": 0}");
    else
        snprintf(text, size,
                 "{\"pairs\": %d, \"gap\": 0.0%d, \"forces\": [{\"between\": [\"b\", \"b\"], "
                 "\"force\": [0, 0, 0]}, {\"between\": [\"a\", \"b\"], \"force\": [%d, 0, -2]}], "
                 "\"friction_work\": 0.%d}",
                 (int)k, (int)k, (int)k, (int)k);
}

static bool loses_contact;

static void note(pl_expect *e, int64_t k)
{
    char text[1024], contact[300];
    contact_of(k, loses_contact, contact, sizeof contact);
    int n = snprintf(
        text, sizeof text,
        "{\"frame\": %d, \"steps\": %d, \"unconverged\": %s, \"iterations\": %d, \"objective\": %s,"
        " \"energy\": {\"kinetic\": %d, \"elastic\": 2, \"gravity\": %d}, \"inverted\": %d,"
        " \"momentum\": {\"linear\": [3, 4, %d], \"angular\": [0, 0, 0]}, \"contacts\": null,"
        " \"reactions\": {\"pins\": {\"l/r\": [0, %d, 0]}, \"obstacles\": {\"floor\": [1, 2, 2]}},"
        " \"penetration\": {\"floor\": 0.25%d, \"w/ball\": 0.5}, \"contact\": %s}",
        (int)k, k ? 2 : 0, k == 3 ? "1" : "0", (int)(10 * k), k ? "1.5" : "null", (int)(2 * k),
        (int)(-k), k == 2, 0, (int)k, (int)k, contact);
    pl_expect_metrics(e, text, (size_t)n);
}

/* The outcome on one expectation, all frames but `missing` given. */
static pl_expect_outcome judge(const char *expectation, int64_t missing)
{
    double x[3 * VERTICES];
    pl_expect_outcome v;
    pl_expect *e = open_expect(FRAMES, expectation);
    for (int64_t k = 0; k < FRAMES; k++) {
        if (k == missing)
            continue;
        move(k, x);
        note(e, k);
        pl_expect_frame(e, k, VERTICES, x);
    }
    pl_expect_evaluate(e, 0, &v);
    v.name = NULL; /* the scene's memory */
    pl_expect_close(e);
    return v;
}

static const struct {
    const char *expectation;
    bool passed;
    double got;
    int64_t frame;
} rows[] = {
    /* vertices: place, time, which ones, which quantity */
    {"'quantity':'position','component':'y','equals':16", true, 16, 4},
    {"'quantity':'position','component':'y','at':'start','max':0", true, 0, 0},
    {"'quantity':'position','component':'y','at':0.5,'equals':1", true, 1, 1},
    {"'quantity':'position','component':'y','at':0.8,'equals':4", true, 4, 2},
    {"'quantity':'position','component':'x','body':'b','equals':2.5", true, 2.5, 4},
    {"'quantity':'position','component':'x','body':'b','statistic':'min','equals':2", true, 2, 4},
    {"'quantity':'position','component':'x','statistic':'max','equals':3", true, 3, 4},
    {"'quantity':'position','component':'x','statistic':'range','equals':3", true, 3, 4},
    {"'quantity':'position','component':'x','body':'b','statistic':'range','equals':1", true, 1, 4},
    {"'quantity':'position','component':'x','body':'a','select':{'side':'+x'},'equals':2", true, 2,
     4},
    {"'quantity':'position','component':'x','body':'b','select':'all','equals':2.5", true, 2.5, 4},
    {"'quantity':'displacement','component':'z','statistic':'min','equals':-12", true, -12, 4},
    {"'quantity':'displacement','statistic':'max','at':1,'equals':7.211102550927978,"
     "'tolerance':1e-12",
     true, 7.211102550927978, 2},                                                /* (0, 4, -6) */
    {"'quantity':'velocity','component':'y','at':1.5,'equals':10", true, 10, 3}, /* (9 - 4) / 0.5 */
    {"'quantity':'velocity','at':'start','max':0", true, 0, 0},
    /* frames: all, some, the mean, a part */
    {"'quantity':'position','component':'y','at':'every','max':15", false, 16, 4},
    {"'quantity':'position','component':'y','at':'every','from':0.5,'to':1.5,'min':1,'max':9", true,
     1, 1},
    {"'quantity':'position','component':'y','at':'every','from':0.5,'to':1.5,'min':2", false, 1, 1},
    {"'quantity':'position','component':'y','at':'some','min':16", true, 16, 4},
    {"'quantity':'position','component':'y','at':'some','min':16,'to':1.5", false, 9, 3},
    {"'quantity':'position','component':'y','at':'mean','equals':6", true, 6, -1},
    /* bounds */
    {"'quantity':'position','component':'y','equals':15.5,'tolerance':0.5", true, 16, 4},
    {"'quantity':'position','component':'y','equals':15.5,'tolerance':0.4", false, 16, 4},
    {"'quantity':'position','component':'y','min':16.5", false, 16, 4},
    {"'quantity':'position','component':'y','max':15.5", false, 16, 4},
    /* metrics */
    {"'quantity':'energy','at':1,'equals':4", true, 4, 2},    /* 4 + 2 - 2 */
    {"'quantity':'energy_drift','equals':0.4", true, 0.4, 4}, /* (6 - 2) / (8 + 2) */
    {"'quantity':'inverted','at':'every','max':0", false, 1, 2},
    {"'quantity':'inverted','at':'some','min':1", true, 1, 2},
    {"'quantity':'linear_momentum','equals':5", true, 5, 4},
    {"'quantity':'linear_momentum','component':'y','equals':4", true, 4, 4},
    {"'quantity':'reaction','pin':'l/r','component':'y','equals':4", true, 4, 4},
    {"'quantity':'reaction','obstacle':'floor','equals':3", true, 3, 4},
    {"'quantity':'penetration','obstacle':'floor','equals':0.254", true, 0.254, 4},
    {"'quantity':'penetration','at':'every','max':0.4", false, 0.5, 0},
    {"'quantity':'penetration','obstacle':'w/ball','at':'start','max':0.5", true, 0.5, 0},
    /* contact between bodies: of a step, too */
    {"'quantity':'contact_pairs','at':'every','min':1", true, 1, 1},
    {"'quantity':'contact_pairs','at':'some','min':4", true, 4, 4},
    {"'quantity':'contact_gap','at':'every','min':0.011", false, 0.01, 1},
    {"'quantity':'contact_gap','equals':0.04", true, 0.04, 4},
    {"'quantity':'contact_force','between':['a','b'],'component':'x','equals':4", true, 4, 4},
    {"'quantity':'contact_force','between':['b','a'],'component':'x','equals':-4", true, -4, 4},
    {"'quantity':'contact_force','between':['a','b'],'component':'z','at':1,'equals':-2", true, -2,
     2},
    {"'quantity':'contact_force','between':['b','a'],'at':'start','max':0", true, 0, 0},
    {"'quantity':'contact_force','between':['a','b'],'equals':4.47213595499958,'tolerance':1e-12",
     true, 4.47213595499958, 4},
    {"'quantity':'friction_work','at':'every','max':0.35", false, 0.4, 4},
    {"'quantity':'friction_work','at':'every','min':0.05", true, 0.1, 1},
    {"'quantity':'contact_gap','at':'every','max':0.04", true, 0.04, 4},
    {"'quantity':'contact_force','between':['a','b'],'component':'x','at':'every','min':1", true, 1,
     1},
    /* of a step: frame 0 has none */
    {"'quantity':'converged','at':'every','min':0.5", true, 0.5, 3},
    {"'quantity':'converged','at':'mean','equals':0.875", true, 0.875, -1},
    {"'quantity':'iterations','at':'mean','equals':25", true, 25, -1},
    {"'quantity':'objective','at':'every','equals':1.5", true, 1.5, 1},
};

START_TEST(each_row_has_its_outcome)
{
    char text[512];
    snprintf(text, sizeof text, "{%s}", rows[_i].expectation);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    pl_expect_outcome v = judge(text, -1);
    ck_assert_msg(v.passed == rows[_i].passed, "%s: got %.17g", text, v.got);
    ck_assert_msg(fabs(v.got - rows[_i].got) <= 1e-12, "%s: got %.17g", text, v.got);
    ck_assert_msg(v.frame == rows[_i].frame, "%s: frame %d", text, (int)v.frame);
    ck_assert_str_eq(v.missing, "");
    ck_assert(*v.what && *v.expected);
}
END_TEST

/* A missing value satisfies no bound, and is reported. */
START_TEST(missing_numbers_fail)
{
    static const char height[] =
        "{\"quantity\": \"position\", \"component\": \"y\", \"at\": \"every\", \"min\": -1}";
    static const char speed[] = "{\"quantity\": \"velocity\", \"at\": 1.5, \"min\": 0}";
    static const char contacts[] = "{\"quantity\": \"contacts\", \"max\": 10}";
    static const char some[] = "{\"quantity\": \"inverted\", \"at\": \"some\", \"max\": 0}";
    pl_expect_outcome v = judge(height, 2);
    ck_assert(!v.passed && v.frame == 2 && *v.missing);
    v = judge(speed, 2); /* frame 3 has none before it */
    ck_assert(!v.passed && *v.missing);
    v = judge(contacts, -1);
    ck_assert(!v.passed && *v.missing);
    v = judge(some, 0);
    ck_assert(v.passed);
    pl_expect *e = open_expect(2, height); /* a run that ended at frame 1 */
    double x[3 * VERTICES];
    for (int64_t k = 0; k < FRAMES; k++) {
        move(k, x);
        note(e, k);
        pl_expect_frame(e, k, VERTICES, x);
    }
    pl_expect_evaluate(e, 0, &v);
    ck_assert(!v.passed);
    ck_assert_str_eq(v.missing, "the run has 2 of 5 frames");
    pl_expect_close(e);
}
END_TEST

/* A gap that is null keeps every distance and none is within it; contact that is null has no numbers. */
START_TEST(nothing_near_is_far_away)
{
    pl_expect_outcome v = judge("{\"quantity\": \"contact_gap\", \"at\": \"start\", \"min\": 1e9}",
                                -1);
    ck_assert(v.passed && isinf(v.got));
    v = judge("{\"quantity\": \"contact_gap\", \"at\": \"start\", \"max\": 1e9}", -1);
    ck_assert(!v.passed);
    static const char *const words[] = {
        "\"contact_pairs\"", "\"contact_gap\"", "\"friction_work\"",
        "\"contact_force\", \"between\": [\"a\", \"b\"], \"component\": \"x\""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"quantity\": %s, \"at\": \"every\", \"min\": -9}", words[i]);
        ck_assert_msg(judge(text, -1).passed, "%s", text);
        loses_contact = true;
        v = judge(text, -1);
        loses_contact = false;
        ck_assert_msg(!v.passed && v.frame == 3 && *v.missing, "%s", text);
    }
}
END_TEST

/* Documents that do not match are rejected. */
START_TEST(foreign_topology_is_refused)
{
    static const char scene[] =
        "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"box\": {}}}], \"expect\": [{\"quantity\":"
        " \"velocity\", \"select\": {\"side\": \"+x\"}, \"max\": 1}]}";
    static const char *const bad[] = {
        "",
        "[]",
        "{\"vertices\": -3}",
        "{\"vertices\": 4}",
        "{\"vertices\": 4, \"expect\": [[]]}",
        "{\"vertices\": 4, \"expect\": [[4]]}",
        "{\"vertices\": 4, \"expect\": [[-1]]}",
        "{\"vertices\": 4, \"expect\": [[\"a\"]]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pl_faults faults = {0};
        pl_expect *e = NULL;
        ck_assert_int_eq(
            pl_expect_open(scene, strlen(scene), bad[i], strlen(bad[i]), 3, &e, &faults),
            PL_INVALID);
        ck_assert_uint_eq(faults.total, 1);
        ck_assert_ptr_null(e);
        pl_faults_clear(&faults);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol_expect");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, each_row_has_its_outcome, 0, sizeof rows / sizeof *rows);
    tcase_add_test(t, missing_numbers_fail);
    tcase_add_test(t, nothing_near_is_far_away);
    tcase_add_test(t, foreign_topology_is_refused);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
