/* Local simulation by the command line, without a daemon: run, compare, curve. */
#include "tests/support/pliant_fixture.h"
#include "tests/support/suite.h"

#include "protocol/text/json.h"
#include "protocol/scene/params.h"

#include <check.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

START_TEST(run_needs_no_daemon)
{
    struct stat st;
    pliant_write("cube.msh", PLIANT_CUBE);
    pliant_write_scene("mesh.json", 5, "{\"file\": \"cube.msh\"}");
    ck_assert_msg(pliant("--server http://127.0.0.1:1 run mesh.json --out r --threads 1") == 0,
                  "%s", pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_err, "succeeded  5 frames"));
    ck_assert_int_eq(pliant("export r --out r.npz"), 0);
    ck_assert_int_eq(stat(pliant_path("r.npz"), &st), 0);
    ck_assert_int_eq(pliant("metrics r"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"frame\":5"));
    ck_assert_int_eq(pliant("run mesh.json --out r"), 7); /* an earlier run lies there */
    ck_assert_int_eq(pliant("run mesh.json --out r --force"), 0);
    ck_assert_int_eq(pliant("run mesh.json --out ."), 7); /* not a run's directory */
    ck_assert_int_eq(stat(pliant_path("mesh.json"), &st), 0);
    pliant_write_scene("bad.json", -3, "{\"boks\": 1}");
    ck_assert_int_eq(pliant("run bad.json --out r2"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "/time/steps"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "/bodies/0/mesh"));
}
END_TEST

/* Three frames: one on one thread, two on two; a run without the option leaves no profile. */
START_TEST(a_profile_has_phases_and_bounds)
{
    struct stat st;
    pliant_write_scene("box.json", 3, PLIANT_BOX);
    ck_assert_msg(pliant("--json run box.json --out p --profile") == 0, "%s", pliant_err);
    const char *line = strstr(pliant_out, "{\"event\": \"profile\"");
    ck_assert_ptr_nonnull(line);
    pl_json *event = pl_json_parse(line, strcspn(line, "\n"), NULL);
    const pl_json *profile = pl_json_at(event, "profile");
    ck_assert_int_eq(pl_json_integer(profile, "frames/0", 0), 1);
    ck_assert_int_eq(pl_json_integer(profile, "frames/1", 0), 2);
    double sum = 0, whole = pl_json_number(profile, "frame/seconds/0", NAN);
    size_t phases = pl_json_count(pl_json_at(profile, "phases"));
    ck_assert_uint_gt(phases, 4);
    for (size_t k = 0; k < phases; k++) {
        const pl_json *phase = pl_json_item(pl_json_at(profile, "phases"), k);
        sum += pl_json_number(phase, "seconds/0", 0);
        ck_assert_uint_eq(pl_json_count(pl_json_at(phase, "speedup")), 7);
        ck_assert_double_ge(pl_json_number(phase, "speedup/6", 1), 1 - 1e-5);
    }
    ck_assert_double_eq_tol(sum, whole, 1e-4 * whole); /* nothing is left out, and nothing twice */
    pl_json_free(event);
    ck_assert_int_eq(pliant("metrics p"), 0);
    ck_assert_int_eq(pliant("run box.json --out p --force --profile"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "profile: 1 frames on 1 thread, 2 on 2"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "whole frame"));
    ck_assert_int_eq(pliant("run box.json --out q"), 0);
    ck_assert_int_ne(stat(pliant_path("q/profile.json"), &st), 0);
    ck_assert_int_eq(pliant("run box.json --out r --profile --threads 2"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "leave out --threads"));
    pliant_write("gpu.json",
                 "{\"pliant\": 1, \"time\": {\"steps\": 3}, \"solver\": {\"device\": \"gpu\","
                 " \"method\": \"lbfgs\"}, \"bodies\": [{\"mesh\": " PLIANT_BOX "}]}");
    ck_assert_int_eq(pliant("run gpu.json --out r --profile"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "the scene asks for a GPU"));
    ck_assert_int_ne(stat(pliant_path("r"), &st), 0);
}
END_TEST

/* A scene for a GPU: rejected at once without one, with nothing created; run with a plug-in. */
START_TEST(a_gpu_is_found_or_refused)
{
    struct stat st;
    pliant_write("gpu.json",
                 "{\"pliant\": 1, \"time\": {\"steps\": 3}, \"solver\": {\"device\": \"gpu\","
                 " \"method\": \"lbfgs\"}, \"bodies\": [{\"mesh\": " PLIANT_BOX "}]}");
    ck_assert_int_eq(pliant("run gpu.json --out g --gpu-plugin /nowhere/plugin.so"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "/solver/device"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "no device, because the plug-in is missing"));
    ck_assert_int_ne(stat(pliant_path("g"), &st), 0);
    const char *plugin = pliant_emulated_plugin();
    setenv("PLIANT_EMULATED", "absent", 1);
    ck_assert_int_eq(pliant("--json run gpu.json --out g --gpu-plugin %s", plugin), 1);
    unsetenv("PLIANT_EMULATED");
    ck_assert_ptr_nonnull(strstr(pliant_out, "no device, because this one is emulated as absent"));
    ck_assert_int_eq(pliant("run gpu.json --out g --gpu GPU-none --gpu-plugin %s", plugin), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "no device, because none has that UUID"));
    ck_assert_int_ne(stat(pliant_path("g"), &st), 0);
    ck_assert_msg(pliant("run gpu.json --out g --threads 1 --gpu-plugin %s", plugin) == 0, "%s",
                  pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_err, "succeeded  3 frames"));
    static char said[1 << 14];
    pliant_read("g/worker.log", said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "single on emulated"));
    ck_assert_int_eq(pliant("run --resume --out g --gpu-plugin %s", plugin), 0);
    /* Compared with the CPU on one frame; without a GPU that is reported and left out. */
    pliant_write("bar.json",
                 "{\"pliant\": 1, \"time\": {\"steps\": 2}, \"bodies\": [{\"mesh\": " PLIANT_BOX
                 "}], \"pins\": [{\"select\": {\"side\": \"-x\"}}]}");
    ck_assert_int_eq(pliant("compare bar.json --methods lbfgs,lbfgs:device=gpu:precision=double "
                            "--iterations 40 --json --gpu auto --gpu-plugin %s",
                            plugin),
                     0);
    pl_json *result = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    double on_cpu = pl_json_number(result, "methods/0/error/8", NAN);
    ck_assert_double_lt(on_cpu, 0.1);
    ck_assert_double_le(pl_json_number(result, "methods/1/error/8", NAN), on_cpu * 1.01 + 1e-9);
    pl_json_free(result);
    ck_assert_int_eq(pliant("compare bar.json --methods lbfgs,lbfgs:device=gpu --iterations 5"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "no device, because the worker was started without"));
}
END_TEST

/* Its patch applies to the scene as written: it can replace a file by a mesh, and a mesh by a file. */
START_TEST(quick_form_knows_mesh_files)
{
    static const char form[] =
        "{\"pliant\": 1, \"time\": {\"steps\": 2}, \"bodies\": [{\"mesh\": %s}],"
        " \"metadata\": {\"quick\": {\"bodies\": {\"0\": {\"mesh\": %s}}}}}";
    char text[512];
    pliant_write("cube.msh", PLIANT_CUBE);
    snprintf(text, sizeof text, form, "{\"file\": \"cube.msh\"}", "{\"file\": null, \"box\": {}}");
    pliant_write("box.json", text);
    ck_assert_msg(pliant("run box.json --quick --out box") == 0, "%s", pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_err, "729 vertices"));
    ck_assert_ptr_null(strstr(pliant_err, "note:"));
    snprintf(text, sizeof text, form, "{\"box\": {}}", "{\"file\": \"cube.msh\", \"box\": null}");
    pliant_write("file.json", text);
    ck_assert_msg(pliant("run file.json --quick --out file") == 0, "%s", pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_err, "8 vertices"));
    pliant_write_scene("plain.json", 1, PLIANT_BOX);
    ck_assert_int_eq(pliant("run plain.json --quick --out plain"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "note: the scene has no \"metadata\": {\"quick\"}"));
}
END_TEST

/* Two methods and an unknown option of one, on a small bar that hangs from a pin. */
START_TEST(methods_are_compared_on_one_frame)
{
    struct stat st;
    pliant_write(
        "bar.json",
        "{\"pliant\": 1, \"name\": \"bar\", \"time\": {\"step\": 0.03, \"steps\": 5}, \"bodies\":"
        " [{\"mesh\": " PLIANT_BOX "}], \"pins\": [{\"select\": {\"side\": \"-x\"}}]}");
    ck_assert_msg(pliant("compare bar.json --frame 3 --iterations 200 --out c --methods "
                         "admm,quasi_newton:window=4,admm:wndow=2") == 0,
                  "%s%s", pliant_out, pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_out, "bar, frame 3"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "refused: /solver/wndow"));
    ck_assert_int_eq(stat(pliant_path("c/compare.svg"), &st), 0);
    ck_assert_int_eq(stat(pliant_path("c/compare.csv"), &st), 0);
    ck_assert_int_eq(pliant("compare bar.json --frame 3 --iterations 200 --json --methods "
                            "admm,quasi_newton"),
                     0);
    pl_json *result = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    for (int k = 0; k < 2; k++) { /* both reach the same minimum */
        const pl_json *method = pl_json_item(pl_json_at(result, "methods"), (size_t)k);
        ck_assert_double_eq(pl_json_number(method, "error/0", NAN), 1);
        ck_assert_double_lt(pl_json_number(method, "error/200", NAN), 1e-8);
        ck_assert_int_gt(pl_json_integer(method, "iterations_to/1e-06", 0), 1);
    }
    pl_json_free(result);
    ck_assert_int_eq(pliant("compare bar.json --frame 6"), 2);
    ck_assert_int_eq(pliant("compare bar.json --methods adm"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "did you mean admm?"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "got 'adm', expected one of admm, quasi_newton, "));
    ck_assert_int_eq(pliant("compare none.json"), 7);
    ck_assert_int_eq(pliant("compare bar.json --methods admm:wndow=2"), 1);
    /* Every method keeps bodies apart. */
    pliant_write("two.json",
                 "{\"pliant\": 1, \"bodies\": [{\"mesh\": " PLIANT_BOX "}, {\"mesh\": " PLIANT_BOX
                 ", \"transform\": {\"translate\": [2, 0, 0]}}],"
                 " \"pins\": [{\"body\": \"body-0\", \"select\": {\"side\": \"-x\"}}]}");
    ck_assert_int_eq(pliant("compare two.json --iterations 5 --methods newton,admm"), 0);
    ck_assert_ptr_null(strstr(pliant_err, "without contact"));
    /* A stored session compares like its scene. */
    ck_assert_int_eq(pliant("run bar.json --out bar"), 0);
    ck_assert_int_eq(pliant("compare bar --frame 2 --methods quasi_newton --iterations 20"), 0);
}
END_TEST

/* The stress per rest area of mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2 on a bar of stretch l
 * whose sides carry none: with the side's stretch s, mu (s^2 - 1) + lambda log (l s^2) = 0, found by
 * bisection, and P = mu (l - 1 / l) + lambda log (l s^2) / l. */
static double neo_hookean_stress(double mu, double lambda, double l)
{
    double lo = 0.1, hi = 10;
    for (int i = 0; i < 200; i++) {
        double s = (lo + hi) / 2;
        if (mu * (s * s - 1) + lambda * log(l * s * s) < 0)
            lo = s;
        else
            hi = s;
    }
    return mu * (l - 1 / l) + lambda * log(l * lo * lo) / l;
}

START_TEST(a_curve_is_the_closed_form)
{
    struct stat st;
    const double young = 2e5, poisson = 0.4;
    double mu = young / (2 * (1 + poisson));
    double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    pliant_write("rubber.json", "{\"model\": \"neo_hookean\", \"young\": 2e5, \"poisson\": 0.4}");
    ck_assert_msg(pliant("curve rubber.json --points 12 --json --out c") == 0, "%s%s", pliant_out,
                  pliant_err);
    pl_json *curves = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_uint_eq(pl_json_count(curves), 1);
    const pl_json *curve = pl_json_item(curves, 0);
    ck_assert_uint_eq(pl_json_count(pl_json_at(curve, "stretch")), 13);
    for (size_t i = 0; i < 13; i++) {
        double l = pl_json_number(pl_json_item(pl_json_at(curve, "stretch"), i), "", NAN);
        double P = pl_json_number(pl_json_item(pl_json_at(curve, "stress"), i), "", NAN);
        ck_assert_double_eq_tol(l, 0.6 + 0.1 * (double)i, 1e-12);
        ck_assert_double_eq_tol(P, neo_hookean_stress(mu, lambda, l), 1e-6 * young);
    }
    pl_json_free(curves);
    ck_assert_int_eq(stat(pliant_path("c/curve.svg"), &st), 0);
    ck_assert_int_eq(stat(pliant_path("c/curve.csv"), &st), 0);
    pliant_write_scene("scene.json", 2, PLIANT_BOX);
    ck_assert_msg(pliant("curve arap scene.json:rubber --points 4") == 0, "%s%s", pliant_out,
                  pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_out, "arap"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "rubber"));
    const pl_param *model = pl_table_param(pl_table_named("material"), "model");
    char every[512] = "curve --from 0.6 --to 1.8 --points 3 --json";
    for (int k = 0; model->choices[k]; k++)
        strcat(strcat(every, " "), model->choices[k]);
    ck_assert_msg(pliant("%s", every) == 0, "%s%s", pliant_out, pliant_err);
    curves = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    for (int k = 0; model->choices[k]; k++) {
        curve = pl_json_item(curves, (size_t)k);
        ck_assert_str_eq(pl_json_string(curve, "material", ""), model->choices[k]);
        ck_assert_uint_eq(pl_json_count(pl_json_at(curve, "stress")), 4);
        ck_assert_int_eq(pl_json_integer(curve, "unconverged", -1), 0);
        const pl_json *stress = pl_json_at(curve, "stress");
        ck_assert(pl_json_number(pl_json_item(stress, 0), "", 0) < 0);
        ck_assert(pl_json_number(pl_json_item(stress, 3), "", 0) > 0);
    }
    pl_json_free(curves);
    pliant_write("names.json", "{\"materials\": {\"soft, \\\"red\\\"\": {\"model\": \"arap\"}}}");
    ck_assert_msg(pliant("curve names.json --points 2 --out names") == 0, "%s%s", pliant_out,
                  pliant_err);
    pliant_read("names/curve.csv", pliant_out, sizeof pliant_out);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\n\"soft, \"\"red\"\"\",1,0\n"));
    pliant_write("wrong.json", "{\"model\": \"arap\", \"young\": -1}");
    ck_assert_int_eq(pliant("curve wrong.json"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "arap cannot be measured"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "/materials/material/young"));
    setenv("TMPDIR", "/nowhere", 1);
    ck_assert_int_eq(pliant("curve arap"), 7);
    ck_assert_ptr_nonnull(strstr(pliant_err, "no temporary directory: No such file"));
    unsetenv("TMPDIR");
    setenv("PLIANT_BINDIR", "/nowhere", 1);
    ck_assert_int_eq(pliant("curve arap"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "pliant-preflight cannot be started: No such file"));
    unsetenv("PLIANT_BINDIR");
    ck_assert_int_eq(pliant("curve neohookean"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "did you mean neo_hookean?"));
    ck_assert_int_eq(pliant("curve scene.json:wood"), 2);
    ck_assert_int_eq(pliant("curve none.json"), 7);
    ck_assert_int_eq(pliant("curve arap --from 1 --to 1"), 2);
}
END_TEST

static bool same_files(const char *a, const char *b)
{
    char first[512];
    snprintf(first, sizeof first, "%s", pliant_path(a));
    char command[1100];
    snprintf(command, sizeof command, "cmp -s '%s' '%s'", first, pliant_path(b));
    return system(command) == 0;
}

/* Obstacles moved by keyframes away from the body are drawn like obstacles placed there. */
START_TEST(pictures_follow_keyframes)
{
    static const char form[] =
        "{\"pliant\": 1, \"time\": {\"step\": 0.1, \"steps\": 4}, \"gravity\": [0, 0, 0], "
        "\"bodies\":"
        " [{\"mesh\": " PLIANT_BOX
        "}], \"obstacles\": [{\"sphere\": {\"center\": [%s, 0.5, 0], \"radius\":"
        " 0.125}%s}, {\"box\": {\"center\": [-0.25, 0.5, 0], \"size\": [0.375, 0.125, "
        "0.25]%s}%s}]}";
    char text[1024];
    snprintf(text, sizeof text, form, "-0.25",
             ", \"motion\": {\"keyframes\": [{\"time\": 0.2, \"translate\": [0.5, 0, 0]}]}", "",
             ", \"motion\": {\"keyframes\": [{\"time\": 0.2, \"rotate\": {\"axis\": [0, 1, 0],"
             " \"degrees\": 90}}]}");
    pliant_write("moved.json", text);
    snprintf(text, sizeof text, form, "0.25", "",
             ", \"rotate\": {\"axis\": [0, 1, 0], \"degrees\": 90}", "");
    pliant_write("there.json", text);
    ck_assert_msg(pliant("run moved.json --out moved") == 0, "%s", pliant_err);
    ck_assert_msg(pliant("run there.json --out there") == 0, "%s", pliant_err);
    ck_assert_int_eq(pliant("export moved --size 96x72 --frame 0 --out start.png"), 0);
    ck_assert_int_eq(pliant("export moved --size 96x72 --frame 4 --out moved.png"), 0);
    ck_assert_int_eq(pliant("export there --size 96x72 --frame 4 --out there.png"), 0);
    ck_assert(!same_files("start.png", "moved.png"));
    ck_assert(same_files("moved.png", "there.png"));
    /* Coloured by a field. */
    ck_assert_int_eq(pliant("export moved --size 96x72 --colour stress --out here.png"), 0);
    ck_assert_int_eq(pliant("export there --size 96x72 --colour stress --out far.png"), 0);
    ck_assert_int_eq(pliant("export moved --size 96x72 --colour height --out high.png"), 0);
    ck_assert(same_files("here.png", "far.png"));
    ck_assert(!same_files("here.png", "high.png"));
    ck_assert_int_eq(pliant("export moved --colour heat --out none.png"), 2);
    ck_assert_int_eq(pliant("export moved --colour height --range 2:1 --out none.png"), 2);
}
END_TEST

START_TEST(interrupted_run_can_go_on)
{
    pliant_write_scene("long.json", 2000, PLIANT_BOX);
    static const char *const words[] = {"run", "long.json", "--out", "r", "--force", NULL};
    int status = 0;
    for (int tries = 0; tries < 20 && status == 0; tries++) /* it may be over before the signal */
        status = pliant_interrupt_at("/2000", words);
    ck_assert_int_eq(status, 130);
    ck_assert_ptr_nonnull(strstr(pliant_err, "pliant run --resume --out r"));
    ck_assert_int_eq(pliant("frames r --to 0"), 0); /* its frames stay */
    ck_assert_ptr_nonnull(strstr(pliant_out, "45 vertices"));
    ck_assert_int_eq(pliant("run long.json --resume --out r"), 2);
    ck_assert_int_eq(pliant("run --resume --out r"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "succeeded"));
    ck_assert_int_eq(pliant("frames r --from 2000"), 0);
    ck_assert_int_eq(pliant("run --resume --out r"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "already"));
    ck_assert_int_eq(pliant("run --resume --out none"), 7);
}
END_TEST

static void await_error(const char *text)
{
    pliant_err[0] = '\0';
    for (double end = daemon_fixture_clock() + 60;
         !strstr(pliant_err, text) && daemon_fixture_clock() < end; daemon_fixture_nap())
        pliant_read("err", pliant_err, sizeof pliant_err);
    ck_assert_msg(strstr(pliant_err, text), "%s", pliant_err);
}

/* The program that a `pliant run` has started. */
static pid_t worker_of(pid_t run)
{
    char children[64], line[32] = "";
    snprintf(children, sizeof children, "/proc/%d/task/%d/children", (int)run, (int)run);
    FILE *file = fopen(children, "re");
    ck_assert(file && fgets(line, sizeof line, file));
    fclose(file);
    pid_t worker = (pid_t)strtol(line, NULL, 10);
    ck_assert_int_gt(worker, 0);
    return worker;
}

static void await_end(pid_t worker)
{
    bool gone = false;
    for (double end = daemon_fixture_clock() + 15; !gone && daemon_fixture_clock() < end;
         daemon_fixture_nap())
        gone = kill(worker, 0) != 0;
    if (!gone)
        kill(worker, SIGKILL);
    ck_assert(gone);
}

START_TEST(a_second_interrupt_kills_the_worker)
{
    pliant_write(
        "slow.json", /* a step takes minutes */
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 100}, \"solver\": "
        "{\"method\": \"admm\", \"iterations\": 10000, \"tolerance\": 0}, "
        "\"materials\": {\"m\": {\"model\": \"neo_hookean\"}}, \"bodies\": [{\"material\": "
        "\"m\", \"mesh\": {\"box\": {\"cells\": [24, 24, 24]}}}]}");
    static const char *const words[] = {"run", "slow.json", "--out", "r", "--force", NULL};
    pid_t pid = pliant_start(words);
    await_error("/100 ");
    pid_t worker = worker_of(pid);
    kill(pid, SIGINT);
    await_error("a second Ctrl-C");
    ck_assert_int_eq(kill(worker, 0), 0);
    ck_assert_int_eq(pliant_interrupt(pid), 130);
    await_end(worker);
    ck_assert_int_eq(pliant("frames r --to 0"), 0);
}
END_TEST

START_TEST(a_killed_run_stops_its_worker)
{
    pliant_write_scene("long.json", 1000000, PLIANT_BOX);
    static const char *const words[] = {"run", "long.json", "--out", "r", "--force", NULL};
    pid_t pid = pliant_start(words);
    await_error("/1000000 ");
    pid_t worker = worker_of(pid);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    await_end(worker);
    ck_assert_int_eq(pliant("frames r --to 0"), 0);
    pid = pliant_start((const char *const[]){"run", "--resume", "--out", "r", NULL});
    await_error("/1000000 ");
    ck_assert_int_eq(pliant_interrupt(pid), 130);
}
END_TEST

/* How many paths match; `name` counts from the fixture's folder. */
static size_t count_paths(const char *name)
{
    glob_t found;
    size_t count = glob(pliant_path(name), 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

START_TEST(interrupted_curve_leaves_nothing)
{
    const char *words[20] = {"curve", "--points", "1000"};
    for (int k = 0; k < 12; k++)
        words[3 + k] = "arap"; /* seconds of work */
    ck_assert_int_eq(mkdir(pliant_path("scratch"), 0777), 0);
    setenv("TMPDIR", pliant_path("scratch"), 1);
    pid_t pid = pliant_start(words);
    unsetenv("TMPDIR");
    for (double end = daemon_fixture_clock() + 60; daemon_fixture_clock() < end;
         daemon_fixture_nap())
        if (count_paths("scratch/pliant-*/head.json") > 0)
            break;
    ck_assert_int_eq(pliant_interrupt(pid), 130);
    pliant_read("out", pliant_out, sizeof pliant_out);
    ck_assert_str_eq(pliant_out, "");
    ck_assert_uint_eq(count_paths("scratch/*"), 0);
}
END_TEST

/* Faults, the estimate and mesh files, as the daemon reports them. */
START_TEST(validate_needs_no_daemon)
{
    pliant_write("cube.msh", PLIANT_CUBE);
    pliant_write_scene("mesh.json", 5, "{\"file\": \"cube.msh\"}");
    ck_assert_msg(pliant_elsewhere("validate mesh.json --here") == 0, "%s", pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_out, "no faults: 8 vertices, 6 tetrahedra, 5 frames"));
    ck_assert_int_eq(pliant_elsewhere("--json validate mesh.json --here"), 0);
    pl_json *report = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert(pl_json_boolean(report, "valid", false));
    ck_assert_int_eq(pl_json_integer(report, "estimate/frames", 0), 5);
    ck_assert_int_eq(pl_json_integer(report, "bodies/0/vertices", 0), 8);
    ck_assert_ptr_nonnull(pl_json_at(report, "warnings"));
    pl_json_free(report);
    pliant_write_scene("bad.json", -3, "{\"boks\": 1}");
    ck_assert_int_eq(pliant_elsewhere("validate bad.json --here"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "/time/steps"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "/bodies/0/mesh"));
    ck_assert_int_eq(pliant_elsewhere("--json validate bad.json --here"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_out, "/problems/invalid_scene"));
    pliant_write_scene("lost.json", 5, "{\"file\": \"lost.msh\"}");
    ck_assert_int_eq(pliant_elsewhere("validate lost.json --here"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "names mesh files that cannot be used"));
    ck_assert_int_eq(pliant_elsewhere("validate none.json --here"), 7);
}
END_TEST

/* Parameters by words, from the program's own tables; also without words, if there is no daemon. */
START_TEST(capabilities_need_no_daemon)
{
    ck_assert_int_eq(pliant_elsewhere("capabilities material neo_hookean"), 0);
    size_t type = strcspn(pliant_out, "Y") - 1; /* start of the column TYPE */
    ck_assert_int_eq(strncmp(pliant_out, "PARAMETER ", 10), 0);
    const char *model = strstr(pliant_out, "\nmaterial.model ");
    ck_assert_ptr_nonnull(model);
    ck_assert_int_eq(strncmp(model + 1 + type, "choice ", 7), 0);
    ck_assert_ptr_nonnull(strstr(model, " \"neo_hookean\"\n"));
    ck_assert_ptr_null(strstr(pliant_out, "material.density"));
    ck_assert_ptr_null(strstr(pliant_out, "solver."));
    ck_assert_int_eq(pliant_elsewhere("capabilities materials damping viscosity"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "material.damping.viscosity"));
    ck_assert_int_eq(pliant_elsewhere("capabilities tolerance"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "    default: 1e-4 with auto"));
    ck_assert_int_eq(pliant_elsewhere("capabilities restitution"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "obstacle.restitution "));
    ck_assert_ptr_nonnull(strstr(pliant_out, "from 0 to 1\n"));
    ck_assert_int_eq(pliant_elsewhere("--json capabilities solver tolerance"), 0);
    pl_json *value = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_ptr_nonnull(value);
    ck_assert_ptr_nonnull(
        strstr(pl_json_string(value, "solver/tolerance/default_text", ""), "1e-4 with auto"));
    ck_assert_double_eq(pl_json_number(value, "solver/tolerance/maximum", 0), 1);
    ck_assert_uint_eq(pl_json_count(value), 1);
    pl_json_free(value);
    ck_assert_int_eq(pliant_elsewhere("capabilities nonsuch"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "no parameter contains these words"));
    ck_assert_int_eq(pliant_elsewhere("--server http://127.0.0.1:1 capabilities"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "no daemon reached"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"parameters\""));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("no daemon");
    tcase_set_timeout(t, 180);
    tcase_add_checked_fixture(t, pliant_setup_here, pliant_teardown);
    tcase_add_test(t, run_needs_no_daemon);
    tcase_add_test(t, a_profile_has_phases_and_bounds);
    tcase_add_test(t, a_gpu_is_found_or_refused);
    tcase_add_test(t, quick_form_knows_mesh_files);
    tcase_add_test(t, methods_are_compared_on_one_frame);
    tcase_add_test(t, a_curve_is_the_closed_form);
    tcase_add_test(t, pictures_follow_keyframes);
    tcase_add_test(t, interrupted_run_can_go_on);
    tcase_add_test(t, a_second_interrupt_kills_the_worker);
    tcase_add_test(t, a_killed_run_stops_its_worker);
    tcase_add_test(t, interrupted_curve_leaves_nothing);
    tcase_add_test(t, validate_needs_no_daemon);
    tcase_add_test(t, capabilities_need_no_daemon);
    return run_cases("cli_here", t);
}
