#include "server/worker/preflight.h"

#include "engine/scene/carries.h"
#include "protocol/scene/scene_json.h"
#include "protocol/log/session_dir.h"
#include "protocol/log/session_file.h"
#include "server/worker/mesh_warnings.h"
#include "server/worker/overlap_warnings.h"
#include "server/worker/preview.h"
#include "server/worker/sandbox.h"
#include "server/worker/session_scene.h"
#include "server/worker/start_warnings.h"
#include "server/worker/step_warnings.h"
#include "server/worker/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Address space of a preflight, and its CPU time. The daemon gives it 10 s by the clock. */
#define MEMORY_BYTES ((uint64_t)2 << 30)
enum { CPU_SECONDS = 20, REMARKS_MAX = 64 };

/* Lifetime: the process. */
typedef struct preflight {
    int directory;
    pl_session_scene scene;
    pl_preflight report;
    int64_t *pin_counts;
    pl_expected *expected;
} preflight;

__attribute__((format(printf, 2, 3))) static void remark(preflight *p, const char *format, ...)
{
    pl_preflight *report = &p->report;
    if (report->remark_count == REMARKS_MAX)
        return;
    if (!report->remarks)
        report->remarks = calloc(REMARKS_MAX, sizeof *report->remarks);
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0 || !report->remarks) {
        if (length >= 0)
            free(text);
        return;
    }
    report->remarks[report->remark_count++] = text;
}

/* ---- remarks on unusual but allowed scenes ---- */

static void remark_on_slivers(preflight *p, const char *name, const pl_mesh *mesh,
                              const pl_mesh_quality *q)
{
    char ids[256];
    size_t used = 0;
    for (int32_t k = 0; k < q->worst_count && k < q->poor; k++) {
        bool tet = q->worst[k] < mesh->tet_count;
        used += (size_t)snprintf(ids + used, sizeof ids - used, "%s%s %" PRId64, k ? ", " : "",
                                 tet ? "tetrahedron" : "triangle",
                                 tet ? q->worst[k] : q->worst[k] - mesh->tet_count);
    }
    remark(p,
           "%" PRId64
           " elements of body '%s' have a quality below %g (1 is regular), the worst %.2g: "
           "expect slow convergence, or improve the mesh at %s",
           q->poor, name, PL_MESH_POOR, q->worst_quality, ids);
}

static pl_status remark_on_mesh(preflight *p, int32_t b)
{
    const char *name = p->scene.scene.bodies[b].name;
    const pl_mesh *mesh = &p->scene.meshes[b];
    if (mesh->repaired > 0)
        remark(p,
               "%" PRId64 " of %" PRId64
               " tetrahedra of body '%s' had a negative volume: their vertices were reordered",
               mesh->repaired, mesh->tet_count, name);
    if (mesh->unused > 0)
        remark(p, "%" PRId64 " vertices of body '%s' belong to no element and were dropped",
               mesh->unused, name);
    pl_mesh_quality quality;
    pl_status status = pl_mesh_measure(mesh, &quality);
    if (status != PL_OK)
        return status;
    if (quality.poor > 0)
        remark_on_slivers(p, name, mesh, &quality);
    if (quality.components > 1)
        remark(p, "body '%s' consists of %" PRId64 " separate pieces", name, quality.components);
    return PL_OK;
}

/* True if the whole body, or a tag of it, has the material. */
static bool has_material(const pl_body *body, int32_t material)
{
    bool has = body->material == material;
    for (int32_t k = 0; k < body->tag_material_count; k++)
        has = has || body->tag_materials[k].material == material;
    return has;
}

/* True if a body with tetrahedra has the material. */
static bool is_solid(const preflight *p, int32_t material)
{
    const pl_scene *scene = &p->scene.scene;
    for (int32_t b = 0; b < scene->body_count; b++)
        if (has_material(&scene->bodies[b], material) && p->scene.meshes[b].tet_count > 0)
            return true;
    return false;
}

/* Warn of rotations in a step above this angle, rad: the difference quotient of F then contains a visible spurious
 * strain rate. */
static const double turn_of_a_step = 0.1;

/* The largest angular speed that the scene gives a body or a pin, rad/s. */
static double fastest_turn(const pl_scene *scene)
{
    double most = 0;
    for (int32_t b = 0; b < scene->body_count; b++) {
        const double *w = scene->bodies[b].initial.angular_velocity;
        most = fmax(most, sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
    }
    for (int32_t k = 0; k < scene->pin_count; k++)
        most = fmax(most, fabs(scene->pins[k].motion.degrees_per_second) * M_PI / 180);
    return most;
}

/* Remark on damping that does not act, or acts inaccurately, in this scene. */
static void remark_on_damping(preflight *p, const pl_material *m)
{
    const pl_scene *scene = &p->scene.scene;
    const pl_material_damping *d = &m->damping;
    const bool plain = d->model == PL_DAMPING_RAYLEIGH && !pl_damping_is_second_order(scene, m) &&
                       d->momentum == PL_MOMENTUM_NONE;
    const double step = scene->time.step, turn = fastest_turn(scene) * step;
    if (!d->present || scene->time.integrator == PL_INTEGRATOR_QUASI_STATIC)
        return;
    if (plain && d->beta > step)
        remark(p,
               "material '%s' has rayleigh damping with beta %g s, more than a step of %g s: its "
               "first-order error is as large as the elastic force; use \"second_order\": true, "
               "rayleigh_lagged, or a smaller time.step",
               m->name, d->beta, step);
    if (plain && turn > turn_of_a_step)
        remark(p,
               "material '%s' has rayleigh damping, and a body or pin turns by %.2g rad in a step, "
               "more "
               "than %g: rotation is then damped like strain; use \"momentum\": \"nonrigid\", or a "
               "smaller time.step",
               m->name, turn, turn_of_a_step);
    if (m->fibers.present && d->model == PL_DAMPING_PRINCIPAL_STRAIN)
        remark(p,
               "principal_strain damping of material '%s' does not act on its fibers: only "
               "damping.mass "
               "and air_damping do; use rayleigh to damp them",
               m->name);
    if (m->bending.present && m->bending.model == PL_BENDING_QUADRATIC &&
        d->momentum != PL_MOMENTUM_NONE)
        remark(
            p,
            "damping.momentum of material '%s' does not apply to its quadratic bending: turning a "
            "bent body costs energy; for sheets use the bending \"model\": \"hinge\", which "
            "does not",
            m->name);
}

static pl_status find_warnings(preflight *p)
{
    const pl_scene *scene = &p->scene.scene;
    for (int32_t k = 0; k < scene->material_count; k++)
        remark_on_damping(p, &scene->materials[k]);
    pl_status status = PL_OK;
    for (int32_t b = 0; status == PL_OK && b < scene->body_count; b++)
        status = remark_on_mesh(p, b);
    if (status == PL_OK)
        status = pl_start_warnings(scene, p->scene.meshes, &p->report.warnings);
    if (status == PL_OK)
        status = pl_mesh_warnings(scene, p->scene.meshes, &p->report.warnings);
    if (status == PL_OK)
        status = pl_step_warnings(scene, p->scene.meshes, &p->report.warnings);
    return status == PL_OK ? pl_overlap_warnings(scene, p->scene.meshes, &p->report.warnings)
                           : status;
}

/* ---- checks ---- */

static pl_status describe_bodies(preflight *p)
{
    const pl_scene *scene = &p->scene.scene;
    pl_preflight *report = &p->report;
    report->bodies = calloc((size_t)scene->body_count + 1, sizeof *report->bodies);
    if (!report->bodies)
        return PL_NO_MEMORY;
    report->body_count = scene->body_count;
    int64_t first = 0;
    for (int32_t b = 0; b < scene->body_count; b++) {
        pl_preflight_body *body = &report->bodies[b];
        snprintf(body->name, sizeof body->name, "%s", scene->bodies[b].name);
        body->vertices = p->scene.meshes[b].vertex_count;
        body->tets = p->scene.meshes[b].tet_count;
        body->first_vertex = first;
        first += body->vertices;
    }
    return PL_OK;
}

/* Reject a scene that cannot fit into memory. */
static pl_status check_memory(preflight *p)
{
    const double asked = p->scene.scene.resources.memory, needed = p->report.memory_bytes;
    struct sysinfo machine;
    double present = sysinfo(&machine) == 0 ? (double)machine.totalram * (double)machine.mem_unit
                                            : needed;
    if (asked > 0 && needed > asked)
        pl_faults_addf(&p->report.faults, "/resources/memory", "too_small",
                       "the estimated memory of the scene or more", "Omit it to get the estimate.",
                       "%.0f bytes; about %.0f are needed", asked, needed);
    if (needed > present)
        pl_faults_addf(&p->report.faults, "/bodies", "too_large",
                       "a scene that fits the machine's memory", "Use coarser meshes.",
                       "about %.1f GiB needed, %.1f GiB available", needed / 0x1p30,
                       present / 0x1p30);
    return p->report.faults.total ? PL_INVALID : PL_OK;
}

static void name_kind(const pl_solver_settings *solver, char out[64])
{
    snprintf(out, 64, "%s %s %s",
             pl_method_name(solver->automatic ? PL_METHOD_AUTO : solver->method),
             solver->device == PL_DEVICE_CPU ? "cpu" : "gpu",
             pl_solver_is_single(solver) ? "single" : "double");
}

/* Check the whole scene. PL_INVALID: the report's faults say why. */
static pl_status check_scene(preflight *p)
{
    pl_faults *faults = &p->report.faults;
    pl_status status = pl_session_scene_read(p->directory, &p->scene, faults);
    p->report.sums[PL_FILE_SCENE] = p->scene.sum;
    if (status == PL_OK)
        status = pl_session_scene_load(p->directory, &p->scene, faults);
    if (status == PL_OK)
        status = describe_bodies(p);
    pl_estimate estimate = {0};
    if (status == PL_OK) {
        p->pin_counts = calloc((size_t)p->scene.scene.pin_count + 1, sizeof *p->pin_counts);
        status = p->pin_counts ? pl_scene_check(&p->scene.scene, p->scene.meshes, &estimate,
                                                p->pin_counts, faults)
                               : PL_NO_MEMORY;
    }
    if (status != PL_OK)
        return status;
    p->report.vertices = estimate.vertices;
    p->report.tets = estimate.tets;
    p->report.memory_bytes = estimate.memory_bytes;
    p->report.gpu_memory_bytes = estimate.device_bytes;
    p->report.seconds_per_frame = estimate.seconds_per_frame;
    p->report.setup_seconds = estimate.setup_seconds;
    p->report.frame_bytes = estimate.frame_bytes;
    p->report.cores = estimate.cores;
    name_kind(&p->scene.scene.solver, p->report.kind);
    status = pl_expected_find(&p->scene, &p->expected, faults);
    pl_status looked = pl_expected_check_probes(&p->scene, faults);
    status = looked == PL_OK ? status : looked;
    if (status == PL_OK)
        status = check_memory(p);
    return status == PL_OK ? find_warnings(p) : status;
}

/* True if a body with triangles or edges has the material. */
static bool is_sheet(const preflight *p, int32_t material)
{
    const pl_scene *scene = &p->scene.scene;
    for (int32_t b = 0; b < scene->body_count; b++)
        if (has_material(&scene->bodies[b], material) &&
            p->scene.meshes[b].triangle_count + p->scene.meshes[b].edge_count > 0)
            return true;
    return false;
}

/* Replace "auto" by the form of damping that is used, for the effective scene. "auto" stays if sheets have the
 * material too: they always have separate terms. */
static void settle_damping(preflight *p)
{
    pl_scene *scene = &p->scene.scene;
    for (int32_t k = 0; k < scene->material_count; k++) {
        pl_material *m = &scene->materials[k];
        const bool merged = pl_damping_is_merged(scene, m);
        m->damping.second_order = pl_damping_is_second_order(scene, m) ? PL_ORDER_SECOND
                                                                       : PL_ORDER_FIRST;
        if (!m->damping.present || m->damping.form != PL_DAMPING_AUTO || (merged && is_sheet(p, k)))
            continue;
        m->damping.form = merged && is_solid(p, k) ? PL_DAMPING_MERGED : PL_DAMPING_SEPARATE;
    }
}

/* The number that a daemon chooses if the scene does not say. */
static void settle_cores(preflight *p)
{
    pl_resources *r = &p->scene.scene.resources;
    if (!r->cores_given) {
        r->cores_most = (int32_t)p->report.cores;
        r->cores_given = true;
    }
}

static pl_status write_effective(preflight *p)
{
    settle_damping(p);
    settle_cores(p);
    char *text = pl_scene_encode(&p->scene.scene);
    if (!text)
        return PL_NO_MEMORY;
    pl_status status = pl_file_put_text(p->directory, "effective.json", text, strlen(text));
    p->report.sums[PL_FILE_EFFECTIVE] = pl_file_sum_of(text, strlen(text));
    free(text);
    return status;
}

static pl_preflight_exit report(preflight *p, const char *path, pl_status status)
{
    int error = errno;
    pl_faults *faults = &p->report.faults;
    /* The limit of 2 GiB was too small: the scene's fault, not the machine's. */
    if (status == PL_NO_MEMORY)
        pl_faults_add(faults, "", "too_large", "a scene that needs more than 2 GiB to check",
                      "a smaller scene", "Use coarser or fewer meshes.");
    if (status == PL_INVALID && faults->total == 0)
        pl_faults_add(faults, "", "invalid", "", "a scene that can be simulated", "");
    if (status == PL_IO || status == PL_UNSUPPORTED || status == PL_FAILED) {
        fprintf(stderr, "pliant-preflight: %s: %s\n", path, strerror(error));
        return PL_PREFLIGHT_ERROR;
    }
    if (pl_preflight_write(p->directory, &p->report) != PL_OK) {
        fprintf(stderr, "pliant-preflight: %s/preflight.json: %s\n", path, strerror(errno));
        return PL_PREFLIGHT_ERROR;
    }
    return faults->total ? PL_PREFLIGHT_REFUSED : PL_PREFLIGHT_ACCEPTED;
}

pl_preflight_exit pl_preflight_session(const char *path, bool preview)
{
    preflight p = {.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (p.directory < 0) {
        fprintf(stderr, "pliant-preflight: %s: %s\n", path, strerror(errno));
        return PL_PREFLIGHT_ERROR;
    }
    pl_sandbox sandbox = {.directories = &p.directory,
                          .count = 1,
                          .address_space = MEMORY_BYTES,
                          .cpu_seconds = CPU_SECONDS};
    pl_sandbox_report applied;
    pl_preflight_exit result = PL_PREFLIGHT_ERROR;
    if (pl_sandbox_enter(&sandbox, &applied) != PL_OK) {
        fprintf(stderr, "pliant-preflight: the sandbox could not be entered: %s\n",
                strerror(errno));
    } else {
        pl_status status = check_scene(&p);
        if (status == PL_OK)
            status = write_effective(&p);
        if (status == PL_OK)
            status = pl_topology_write(p.directory, &p.scene, p.pin_counts, p.expected,
                                       p.report.sums);
        if (status == PL_OK && preview)
            status = pl_preview_write(p.directory, &p.scene);
        result = report(&p, path, status);
    }
    pl_preflight_clear(&p.report);
    pl_expected_free(p.expected, p.scene.scene.expectation_count);
    pl_session_scene_clear(&p.scene);
    free(p.pin_counts);
    close(p.directory);
    return result;
}
