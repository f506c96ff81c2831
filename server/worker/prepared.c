#include "server/worker/prepared.h"

#include "protocol/log/start_message.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

/* As fork(), but as a child of the daemon. The C library keeps a thread's number in memory; the kernel writes the new
 * number to the given address. */
static pid_t fork_sibling(int *pidfd)
{
    int *tid = NULL;
    unsigned long flags = CLONE_PARENT | CLONE_PIDFD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    if (prctl(PR_GET_TID_ADDRESS, &tid, 0, 0, 0) != 0)
        return -1;
#ifdef __x86_64__
    return (pid_t)syscall(SYS_clone, flags, NULL, pidfd, tid, NULL);
#else
    return (pid_t)syscall(SYS_clone, flags, NULL, pidfd, NULL, tid);
#endif
}

/* Set the arguments that `ps` shows: overwrite the memory of this program's own arguments, as far as it reaches. */
static void show(char *room, size_t size, const pl_start_message *m)
{
    size_t at = 0;
    memset(room, 0, size);
    for (int i = 0; i < m->count && at + 1 < size; i++) {
        int n = snprintf(room + at, size - at - 1, "%s", m->arguments[i]);
        at += (size_t)n + 1;
    }
}

/* Set up what posix_spawn gives a normal process: a session, its CPUs, its folder, its descriptors. */
static void become(const pl_start_message *m)
{
    setsid();
    sched_setaffinity(0, sizeof m->cpus, &m->cpus);
    if (chdir(m->directory) != 0 || dup2(m->out_fd, STDOUT_FILENO) < 0 ||
        dup2(m->err_fd, STDERR_FILENO) < 0)
        _exit(127);
}

int pl_prepared_leave(int status)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* sanitizers report at exit */
    fflush(NULL);
    _exit(status);
#endif
    return status;
}

void pl_prepared_run(int *argc, char ***argv)
{
    static pl_start_message m; /* holds the new process's arguments */
    if (*argc != 3 || strcmp((*argv)[1], "--prepared") != 0)
        return;
#ifdef __SANITIZE_THREAD__
    /* the daemon would not learn of the new process; from now on it starts each one normally */
    exit(0);
#endif
    char *room = (*argv)[0], *last = (*argv)[2];
    size_t size = (size_t)(last - room) + strlen(last) + 1;
    memset(last, 0, strlen(last));
    int channel = dup(STDOUT_FILENO);
    while (channel >= 0 && pl_start_message_receive(channel, &m)) {
        int pidfd = -1;
        pid_t pid = fork_sibling(&pidfd);
        if (pid == 0) {
            become(&m);
            show(room, size, &m);
            *argc = m.count;
            *argv = m.arguments;
            return;
        }
        int error = errno;
        close(m.out_fd);
        close(m.err_fd);
        bool answered = pl_start_answer_send(channel, pid > 0 ? pid : -error, pid > 0 ? pidfd : -1);
        if (pidfd >= 0)
            close(pidfd);
        if (!answered)
            break;
    }
    exit(0);
}
