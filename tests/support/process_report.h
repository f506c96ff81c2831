/* process_report.h - what a process that does not answer is doing. */
#ifndef PLIANT_TESTS_SUPPORT_PROCESS_REPORT_H
#define PLIANT_TESTS_SUPPORT_PROCESS_REPORT_H

#include <sys/types.h>

/* Prints to standard error the state of the process, the name and the kernel function of each of its threads, and
 * their stacks if gdb is installed. A process that has ended is a zombie (Z) or missing. */
void process_report(pid_t pid);

#endif
