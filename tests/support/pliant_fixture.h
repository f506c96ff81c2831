/* pliant_fixture.h - the command line in a folder of its own, with a daemon or without. What goes wrong
 * in a helper fails the test. */
#ifndef PLIANT_TESTS_SUPPORT_PLIANT_FIXTURE_H
#define PLIANT_TESTS_SUPPORT_PLIANT_FIXTURE_H

#include "tests/support/daemon_fixture.h"

#include <stddef.h>
#include <sys/types.h>

extern daemon_fixture pliant_fixture;                 /* without daemon: its folders only */
extern char pliant_out[1 << 18], pliant_err[1 << 16]; /* of the last run */

/* A folder with a daemon; a folder. */
void pliant_setup(void);
void pliant_setup_here(void);
/* The folder of a daemon that the test has started, and ends. */
void pliant_setup_beside(const daemon_fixture *d);
void pliant_teardown(void);

/* The path of a file in the folder; one of four static buffers. */
const char *pliant_path(const char *name);
void pliant_write(const char *name, const char *text);
void pliant_read(const char *name, char *text, size_t room);

/* A pinned bar of the mesh, `steps` steps long. */
void pliant_write_scene(const char *name, int steps, const char *mesh);
#define PLIANT_BOX "{\"box\": {\"size\": [1, 0.5, 0.5], \"cells\": [4, 2, 2]}}"
extern const char PLIANT_CUBE[]; /* of six tetrahedra, in Gmsh's format 2.2 */

/* Run pliant with the words, in the folder; its exit status. */
__attribute__((format(printf, 1, 2))) int pliant(const char *format, ...);
/* The same for a user without a state directory: HOME is the folder, PLIANT_CONFIG its file "config". */
__attribute__((format(printf, 1, 2))) int pliant_elsewhere(const char *format, ...);
/* A session of `steps` frames, submitted; its id. */
const char *pliant_submit(int steps);

/* The path of a plug-in whose one GPU is the host (tests/gpu/emulated_plugin.c); static. */
const char *pliant_emulated_plugin(void);

/* Start pliant in the background; interrupt it, for its exit status. */
pid_t pliant_start(const char *const *words);
int pliant_interrupt(pid_t pid);
/* Start it, wait until pliant_err has `text`, and interrupt it. */
int pliant_interrupt_at(const char *text, const char *const *words);

#endif
