/* drawing.h - a session's frames as pictures: shared by `pliant export` to .png and to films. Each function returns an
 * exit status, or false, after printing the error.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_DRAWING_H
#define PLIANT_CLIENTS_CLI_DRAW_DRAWING_H

#include "clients/cli/draw/field.h"
#include "clients/cli/draw/picture.h"
#include "clients/cli/session/session_shape.h"

typedef struct pl_drawing {
    pl_cli *cli;
    pl_session_source *source;
    pl_session_shape shape;
    pl_field field;
    const char *path, *what;           /* what: "png", "mp4", "webm" or "gif" */
    int64_t first, last, every, count; /* frames of a film */
    int64_t done;
    int status;
} pl_drawing;

/* Record the failure in d->status and print it. Returns false. */
bool pl_drawing_fail_file(pl_drawing *d, const char *path);
bool pl_drawing_fail_memory(pl_drawing *d);
/* True if the frame fits the topology and was one of those counted; otherwise prints the error. */
bool pl_drawing_fits(pl_drawing *d, const pl_session_frame *f);
/* Count the frame as drawn and show progress. */
void pl_drawing_note(pl_drawing *d);
/* Read --from, --to and --every. */
int pl_drawing_choose(pl_drawing *d);
/* Pass all available frames of the film to `take`. */
int pl_drawing_frames(pl_drawing *d, pl_take_frame take, void *context);
/* Set up a picture of the session's shape from --size, --azimuth and --elevation. PL_EXIT_USAGE after printing what is
 * wrong. */
int pl_drawing_picture(const pl_drawing *d, pl_picture *out);

/* Set the picture's vertices, and their colours if a field was chosen. */
void pl_drawing_place(pl_drawing *d, pl_picture *picture, const float *positions);

int pl_draw_png(pl_drawing *d);
int pl_draw_film(pl_drawing *d);

#endif
