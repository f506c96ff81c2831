#include "tests/support/process_report.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of a file of a thread, or "?". */
static void read_word(const char *folder, const char *thread, const char *name, char out[100])
{
    char path[160];
    snprintf(path, sizeof path, "%s/%.20s/%s", folder, thread, name);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(out, 100, file))
        strcpy(out, "?");
    out[strcspn(out, "\n")] = 0;
    if (file)
        fclose(file);
}

void process_report(pid_t pid)
{
    char folder[64], name[100], state[100], place[100], command[200];
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(folder);
    if (!dir)
        fprintf(stderr, "process %d is missing\n", (int)pid);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        read_word(folder, e->d_name, "comm", name);
        read_word(folder, e->d_name, "stat", state);
        read_word(folder, e->d_name, "wchan", place);
        const char *after = strrchr(state, ')');
        fprintf(stderr, "process %d, thread %s %s: %c in %s\n", (int)pid, e->d_name, name,
                after && after[1] ? after[2] : '?', place);
    }
    if (dir)
        closedir(dir);
    snprintf(command, sizeof command,
             "! command -v gdb >/dev/null ||"
             " timeout 60 gdb -p %d -batch -ex 'thread apply all bt' >&2 2>/dev/null",
             (int)pid);
    if (system(command) != 0)
        fprintf(stderr, "gdb says nothing\n");
}
