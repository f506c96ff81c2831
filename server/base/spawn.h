/* spawn.h - starts other programs: posix_spawn, nothing inherited, watched by pidfd. The daemon never forks without
 * exec.
 */
#ifndef PLIANT_SERVER_BASE_SPAWN_H
#define PLIANT_SERVER_BASE_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct pl_child {
    pid_t pid;
    int pidfd; /* readable once it has ended */
} pl_child;

/* From now on, a thread of the daemon that wakes (one does for each frame of a stream) does not interrupt a worker on
 * its core (SCHED_BATCH): it waits for an idle core or for its turn. Applies to threads started later too, but not to
 * children. A policy that somebody chose is kept, also by children. Call it before other threads exist. */
void pl_give_way(void);
/* Start argv[0] (a path) with standard input from /dev/null, output and error to the given descriptors, no other
 * descriptor, an empty signal mask, only the environment it needs, in the given working directory, and as a session of
 * its own, so that no signal meant for the daemon's group reaches it. When the machine runs out of memory, the kernel
 * kills it before the daemon. Returns 0, or an errno. */
int pl_spawn(char *const argv[], int out_fd, int err_fd, const char *directory, pl_child *child);

/* As pl_spawn, with every symbol of its libraries bound at the start: for a process to fork from. */
int pl_spawn_bound(char *const argv[], int out_fd, int err_fd, const char *directory,
                   pl_child *child);

typedef enum pl_wait { PL_WAIT_ENDED, PL_WAIT_TIMEOUT, PL_WAIT_STOPPED } pl_wait;
/* Wait until the child ends, the time is over, or stop_fd is readable (-1: none). On PL_WAIT_ENDED the child is reaped,
 * its pidfd closed and *status is as waitpid gives it. */
pl_wait pl_child_wait(pl_child *child, int timeout_ms, int stop_fd, int *status);
/* SIGKILL through the pidfd, then reap. */
void pl_child_kill(pl_child *child);
/* Reap an ended child through its pidfd: true with *status; false if it is not this process's child. */
bool pl_child_reap(pl_child *child, int *status);

/* When the process started, in clock ticks since boot (field 22 of /proc/PID/stat); 0 if gone. */
uint64_t pl_process_start(pid_t pid);
/* A process's activity: its state, the letter of /proc/PID/stat, and its threads' processor time. False if it is
 * gone. */
typedef struct pl_process {
    char state; /* R running, S asleep, D waits for a device, T stopped, Z ended */
    int64_t cpu_ms;
} pl_process;
bool pl_process_look(pid_t pid, pl_process *out);
/* Seconds since the start of a process for which pl_process_start gave this value. */
double pl_process_age(uint64_t start);
/* The machine's boot id, 36 characters and a NUL; "" if missing. */
void pl_boot_id(char out[40]);
/* The folder of the programs: PLIANT_BINDIR, or this executable's folder. */
int pl_program_folder(char *out, size_t size);

#endif
