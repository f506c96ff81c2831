/* Films: frames drawn in software, one after the other, piped into ffmpeg. The camera is placed so that everything that
 * moves stays in view, judged by a sample of the frames. */
#include "clients/cli/draw/drawing.h"
#include "clients/cli/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { LOOKS = 64 }; /* frames sampled to place the camera */

typedef struct film {
    pl_drawing *d;
    pl_picture picture;
    float box[6], bodies[6]; /* of everything framed, and of the bodies alone */
    double times[LOOKS];
    int64_t looked;
    double fps, speed;
    pl_outfile out;
    pid_t pid; /* of ffmpeg */
    int pipe;
    float *held; /* previous frame, shown until the next one's time; NULL: none yet */
    double held_time, first_time;
    int64_t shown; /* pictures in the film so far */
} film;

/* ---- where the camera stands ---- */

static void take_in(float box[6], const float *x)
{
    for (int c = 0; c < 3; c++) {
        box[c] = fminf(box[c], x[c]);
        box[3 + c] = fmaxf(box[3 + c], x[c]);
    }
}

static void begin_box(float box[6])
{
    for (int c = 0; c < 6; c++)
        box[c] = c < 3 ? INFINITY : -INFINITY;
}

static bool look_at(void *context, const pl_session_frame *frame)
{
    film *f = context;
    if (!pl_drawing_fits(f->d, frame))
        return false;
    for (int64_t v = 0; v < frame->vertices; v++)
        take_in(f->bodies, frame->positions + 3 * v);
    pl_field_measure(&f->d->field, &f->d->shape.mesh, frame->positions);
    f->times[f->looked++] = frame->time;
    f->d->done++;
    return true;
}

/* Include the parts of obstacles near the bodies, at the sampled times. */
static void take_in_obstacles(film *f)
{
    float centre[3], size = 0;
    for (int c = 0; c < 3; c++) {
        centre[c] = (f->bodies[c] + f->bodies[3 + c]) / 2;
        size += powf(f->bodies[3 + c] - f->bodies[c], 2);
    }
    float reach = 0.8f * sqrtf(size);
    for (int64_t k = 0; k < f->looked; k++) {
        pl_session_shape_move(&f->d->shape, f->times[k]);
        for (int32_t i = 0; i < f->d->shape.obstacles; i++) {
            const pl_drawn_obstacle *o = &f->d->shape.obstacle[i];
            for (int64_t j = 0; j < o->vertices; j++) {
                const float *x = o->positions + 3 * j;
                float d = sqrtf(powf(x[0] - centre[0], 2) + powf(x[1] - centre[1], 2) +
                                powf(x[2] - centre[2], 2));
                if (d < reach)
                    take_in(f->box, x);
            }
        }
    }
}

static int place_camera(film *f)
{
    pl_drawing *d = f->d;
    int64_t every = d->every;
    begin_box(f->bodies);
    d->every *= (d->count + LOOKS - 1) / LOOKS;
    int status = pl_drawing_frames(d, look_at, f);
    d->every = every;
    if (status == PL_EXIT_OK && f->looked == 0)
        return pl_cli_fail(d->cli, PL_EXIT_FAILED, "none of the frames is available");
    if (status != PL_EXIT_OK)
        return status;
    memcpy(f->box, f->bodies, sizeof f->box);
    take_in_obstacles(f);
    f->picture.box = f->box;
    return PL_EXIT_OK;
}

/* ---- ffmpeg ---- */

/* Start ffmpeg: raw pictures from its standard input to the file's temporary name; its errors are shown unchanged. */
static int start(film *f)
{
    const char *kind = f->d->what;
    bool gif = strcmp(kind, "gif") == 0;
    char size[32], rate[32];
    snprintf(size, sizeof size, "%" PRId32 "x%" PRId32, f->picture.width, f->picture.height);
    snprintf(rate, sizeof rate, "%.9g", f->fps);
    char *argv[] = {"ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt",
                    "rgb24", "-s", size, "-r", rate, "-i", "pipe:0", "-an",
                    /* A gif has a palette of its own; players want the others in halved colours. */
                    gif ? "-vf" : "-pix_fmt",
                    gif ? "split[a][b];[a]palettegen[p];[b][p]paletteuse" : "yuv420p", "-f",
                    (char *)kind, f->out.temporary, NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pl_cli_fail(f->d->cli, PL_EXIT_FAILED, "a pipe: %s", strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&f->pid, "ffmpeg", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    f->pipe = ends[1];
    if (error == 0)
        return PL_EXIT_OK;
    close(ends[1]);
    return error == ENOENT ? pl_cli_fail(f->d->cli, PL_EXIT_FILE,
                                         "ffmpeg is not installed (Debian: apt install ffmpeg)")
                           : pl_cli_fail(f->d->cli, PL_EXIT_FAILED, "ffmpeg: %s", strerror(error));
}

/* ffmpeg ends after the last picture. */
static int finish(film *f)
{
    int state = 0;
    close(f->pipe);
    while (waitpid(f->pid, &state, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(state) && WEXITSTATUS(state) == 0
               ? PL_EXIT_OK
               : pl_cli_fail(f->d->cli, PL_EXIT_FAILED, "ffmpeg failed: no film");
}

/* False if ffmpeg has stopped reading; finish() reports it. */
static bool feed(const film *f, const unsigned char *rgb)
{
    size_t left = 3 * (size_t)f->picture.width * (size_t)f->picture.height;
    while (left > 0) {
        ssize_t n = write(f->pipe, rgb, left);
        if (n < 0 && errno != EINTR)
            return false;
        rgb += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* ---- pictures ---- */

/* Show the held frame for each picture of the film before `until`; a frame without any picture is not drawn. */
static bool show_held(film *f, double until)
{
    int64_t end = (int64_t)ceil((until - f->first_time) * f->fps / f->speed - 1e-6);
    if (!f->held || f->shown >= end)
        return true;
    unsigned char *rgb = NULL;
    pl_drawing_place(f->d, &f->picture, f->held);
    pl_session_shape_move(&f->d->shape, f->held_time);
    pl_status drawn = pl_picture_render(&f->picture, &rgb);
    if (drawn == PL_NO_MEMORY)
        return pl_drawing_fail_memory(f->d);
    if (drawn != PL_OK) {
        f->d->status = pl_cli_fail(f->d->cli, PL_EXIT_FAILED, "the session has no surface to draw");
        return false;
    }
    bool fed = true;
    for (; fed && f->shown < end; f->shown++)
        fed = feed(f, rgb);
    free(rgb);
    return fed;
}

static bool take(void *context, const pl_session_frame *frame)
{
    film *f = context;
    size_t bytes = 3 * (size_t)frame->vertices * sizeof *f->held;
    if (!pl_drawing_fits(f->d, frame) || !show_held(f, frame->time))
        return false;
    if (!f->held) {
        f->first_time = frame->time;
        f->held = malloc(bytes + 1);
    }
    if (!f->held)
        return pl_drawing_fail_memory(f->d);
    memcpy(f->held, frame->positions, bytes);
    f->held_time = frame->time;
    pl_drawing_note(f->d);
    return true;
}

static int make(film *f)
{
    pl_drawing *d = f->d;
    if (pl_outfile_open(&f->out, d->path) != PL_OK) {
        pl_drawing_fail_file(d, d->path);
        return d->status;
    }
    int status = start(f);
    if (status == PL_EXIT_OK) {
        status = pl_drawing_frames(d, take, f);
        if (status == PL_EXIT_OK)
            show_held(f, f->held_time + f->speed / f->fps); /* the last one, too */
        int ended = finish(f);
        status = d->status != PL_EXIT_OK ? d->status : status != PL_EXIT_OK ? status : ended;
    }
    if (status != PL_EXIT_OK)
        pl_outfile_abandon(&f->out);
    else if (pl_outfile_commit(&f->out) != PL_OK)
        pl_drawing_fail_file(d, d->path);
    free(f->held);
    return status == PL_EXIT_OK ? d->status : status;
}

int pl_draw_film(pl_drawing *d)
{
    film f = {.d = d};
    bool gif = strcmp(d->what, "gif") == 0;
    if (!pl_cli_number(d->cli, "--fps", 1, 240, gif ? 20 : 30, &f.fps) ||
        !pl_cli_number(d->cli, "--speed", 1e-6, 1e6, 1, &f.speed))
        return PL_EXIT_USAGE;
    int status = pl_drawing_choose(d);
    if (status == PL_EXIT_OK)
        status = pl_field_choose(d->cli, &d->field);
    if (status == PL_EXIT_OK)
        status = pl_drawing_picture(d, &f.picture);
    if (status != PL_EXIT_OK)
        return status;
    if (!gif && (f.picture.width % 2 || f.picture.height % 2))
        return pl_cli_fail(d->cli, PL_EXIT_USAGE, "--size: a film needs an even width and height");
    status = pl_session_shape_read(d->source, 0, &d->shape);
    if (status == PL_EXIT_OK)
        status = pl_drawing_picture(d, &f.picture);
    if (status == PL_EXIT_OK)
        status = pl_field_open(d->source, &d->shape, &d->field);
    if (status == PL_EXIT_OK)
        status = place_camera(&f);
    d->field.fixed = true; /* the same colours throughout */
    if (status == PL_EXIT_OK)
        status = make(&f);
    if (status == PL_EXIT_OK)
        pl_field_say(&d->field, d->cli);
    return status;
}
