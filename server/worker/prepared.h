/* prepared.h - a process that has linked its libraries and waits: for each message (protocol/log/start_message.h) on its
 * standard output it forks one that goes on as if it had just been started. It saves the dynamic linker's work, which
 * is most of the start of a small session. Itself it opens no scene, no mesh and no session.
 *
 * A new process is a child of the daemon (CLONE_PARENT), not of this one: it outlives it and is reaped like any other.
 * It shares this one's layout of addresses, so the daemon keeps one for each owner.
 */
#ifndef PLIANT_SERVER_WORKER_PREPARED_H
#define PLIANT_SERVER_WORKER_PREPARED_H

/* Where the arguments are `--prepared` and room for a name: returns in each new process, with the arguments that it was
 * sent, and ends this one when the channel closes. With any other arguments it returns at once. */
void pl_prepared_run(int *argc, char ***argv);
/* The end of a process: without the libraries' destructors, which touch each page that they lie in and free what the
 * kernel frees anyway. Not for one that has opened a GPU's driver. */
int pl_prepared_leave(int status);

#endif
