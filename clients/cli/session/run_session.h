/* run_session.h - a session directory of our own: made, filled, cleared for another run, and taken up
 * again; and the programs that work in it, watched to their end. The same directory that a daemon
 * makes; here the command line is its creator.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_RUN_SESSION_H
#define PLIANT_CLIENTS_CLI_SESSION_RUN_SESSION_H

#include "clients/cli/base/command.h"
#include "clients/cli/base/outfile.h"
#include "clients/cli/session/scene_files.h"
#include "protocol/log/session_dir.h"

#include <sys/types.h>

/* Make the directory with scene.json and meshes/HASH. One that holds an earlier run is emptied
 * first with `force`, of a run's files and no others; else it is refused, as is one that holds
 * anything else. Returns an exit status, *dir_fd open on PL_EXIT_OK. */
int pl_run_session_make(pl_cli *cli, const char *path, const pl_scene_files *scene, bool force,
                        int *dir_fd);

/* Open a directory whose run was interrupted. PL_EXIT_OK with *dir_fd and the number of the attempt that
 * goes on; with *attempt 0 and *dir_fd where it has succeeded already. Else it was said why not. */
int pl_run_session_resume(pl_cli *cli, const char *path, int *dir_fd, int32_t *attempt);

/* Start a program that lies beside this one ($PLIANT_BINDIR, else the folder of the executable), in
 * a process group of its own so that Ctrl-C reaches us only. NULL-terminated arguments after the
 * name. PL_EXIT_OK, or PL_EXIT_FAILED after saying why. */
enum { PL_RUN_ARGUMENTS_MAX = 16 };
int pl_run_session_start(pl_cli *cli, const char *program, const char *const *arguments,
                         pid_t *pid);

/* Start it likewise and wait for what it says, which goes to `text`. PL_IO where it did not end well. */
pl_status pl_run_session_ask(const char *program, const char *const *arguments, char *text,
                             size_t room);

/* The same into a file, however much it is. */
pl_status pl_run_session_save(const char *program, const char *const *arguments, pl_outfile *out);

/* Called about 20 times a second while a program runs, and once when it has ended. `stopping`: Ctrl-C
 * came and the program was asked to stop. */
typedef void (*pl_run_session_look)(void *context, bool stopping);
/* Wait until a program that was started ends; its wait status, -1 where there is none. Ctrl-C asks it
 * to stop (SIGTERM), once, and is told in *interrupted. */
int pl_run_session_wait(pid_t pid, pl_run_session_look look, void *context, bool *interrupted);

/* Have pliant-preflight judge the directory's scene. PL_EXIT_OK: it is accepted, and the files that a
 * worker needs are written. PL_EXIT_FAILED with out->faults: it is refused, which the caller says;
 * anything else was said, but Ctrl-C. *out is cleared by the caller whatever comes back. */
int pl_run_session_preflight(pl_cli *cli, const char *path, int dir_fd, pl_preflight *out);

#endif
