/* prepared.h - a process that has linked its libraries and waits. For each message (protocol/log/start_message.h) on
 * its standard output it forks a process that continues as if freshly started. This saves the dynamic linker's work,
 * most of the start of a small session. The waiting process itself opens no scene, mesh or session.
 *
 * A new process is a child of the daemon (CLONE_PARENT), not of this one: it outlives it and is reaped like any other.
 * It shares this process's address-space layout, so the daemon keeps one for each owner.
 */
#ifndef PLIANT_SERVER_WORKER_PREPARED_H
#define PLIANT_SERVER_WORKER_PREPARED_H

/* If the arguments are `--prepared` and room for a name: returns in each new process with the arguments that it was
 * sent, and ends this process when the channel closes. With any other arguments it returns at once. */
void pl_prepared_run(int *argc, char ***argv);
/* End a process without running the libraries' destructors, which touch every page that they are in and free memory
 * that the kernel frees anyway. Not for a process that has opened a GPU's driver. */
int pl_prepared_leave(int status);

#endif
