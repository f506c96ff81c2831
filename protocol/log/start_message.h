/* start_message.h - the protocol by which the daemon asks a prepared process to start another. A message on a
 * socket of packets (SOCK_SEQPACKET) describes the new process and carries two descriptors. The answer is the
 * process's number and its pidfd. Both sides are from one build.
 */
#ifndef PLIANT_PROTOCOL_LOG_START_MESSAGE_H
#define PLIANT_PROTOCOL_LOG_START_MESSAGE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PL_START_ARGUMENTS_MAX = 64, PL_START_TEXT_MAX = 24 << 10 };

typedef struct pl_start_message {
    int out_fd, err_fd; /* becomes its standard output and error */
    cpu_set_t cpus;     /* CPUs it runs on */
    char *directory;    /* its working directory */
    int count;
    char *arguments[PL_START_ARGUMENTS_MAX + 1]; /* [count], then NULL; the first is the program */
    char text[PL_START_TEXT_MAX];                /* memory of a received message */
} pl_start_message;

/* Sends without waiting. False with errno: the message is too long (E2BIG), or the other side is gone. */
bool pl_start_message_send(int channel, const pl_start_message *message);
/* Waits for a message. False at the end of the channel, or if a message has no descriptors. */
bool pl_start_message_receive(int channel, pl_start_message *message);

/* `pidfd` is duplicated; -1 with pid = -errno: the process could not be started. */
bool pl_start_answer_send(int channel, pid_t pid, int pidfd);
/* Waits at most `patience_ms`. False with errno: ETIMEDOUT, or the other side is gone. */
bool pl_start_answer_receive(int channel, int patience_ms, pid_t *pid, int *pidfd);

#endif
