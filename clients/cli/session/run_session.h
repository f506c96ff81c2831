/* run_session.h - creates, fills, clears and resumes a session directory, and watches the programs that work in it
 * until they end. The layout is the daemon's; here the command line creates it.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_RUN_SESSION_H
#define PLIANT_CLIENTS_CLI_SESSION_RUN_SESSION_H

#include "clients/cli/base/command.h"
#include "clients/cli/base/outfile.h"
#include "clients/cli/session/scene_files.h"
#include "protocol/log/session_dir.h"

#include <sys/types.h>

/* Create the directory with scene.json and meshes/HASH. With `force`, an earlier run in it is removed first, but only
 * files of a run; otherwise a directory that is not empty is rejected. Returns an exit status, *dir_fd open on
 * PL_EXIT_OK. */
int pl_run_session_make(pl_cli *cli, const char *path, const pl_scene_files *scene, bool force,
                        int *dir_fd);

/* Open a directory whose run was interrupted. PL_EXIT_OK with *dir_fd and the number of the attempt to continue, or
 * with *attempt 0 if the run has already succeeded. Otherwise the error was printed. */
int pl_run_session_resume(pl_cli *cli, const char *path, int *dir_fd, int32_t *attempt);

/* Start a program that lies beside this one ($PLIANT_BINDIR, else the folder of the executable), in its own process
 * group, so that Ctrl-C reaches only this process. Arguments after the name, NULL-terminated. PL_EXIT_OK, or
 * PL_EXIT_FAILED after printing why. */
enum { PL_RUN_ARGUMENTS_MAX = 16 };
int pl_run_session_start(pl_cli *cli, const char *program, const char *const *arguments,
                         pid_t *pid);

/* Start it likewise, wait, and store its output in `text`. PL_IO if it failed. */
pl_status pl_run_session_ask(const char *program, const char *const *arguments, char *text,
                             size_t room);

/* The same into a file, without a size limit. */
pl_status pl_run_session_save(const char *program, const char *const *arguments, pl_outfile *out);

/* Called about 20 times a second while a program runs, and once when it has ended. `stopping`: Ctrl-C was pressed and
 * the program was asked to stop. */
typedef void (*pl_run_session_look)(void *context, bool stopping);
/* Wait until a started program ends. Returns its wait status, or -1 if unknown. Ctrl-C asks it to stop (SIGTERM), once,
 * and sets *interrupted. */
int pl_run_session_wait(pid_t pid, pl_run_session_look look, void *context, bool *interrupted);

/* Check the directory's scene with pliant-preflight. PL_EXIT_OK: it is accepted, and the files that a worker needs are
 * written. PL_EXIT_FAILED with out->faults: it is rejected, and the caller prints that. Any other error was printed,
 * except Ctrl-C. The caller always clears *out. */
int pl_run_session_preflight(pl_cli *cli, const char *path, int dir_fd, pl_preflight *out);

#endif
