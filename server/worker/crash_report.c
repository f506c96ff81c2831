#include "server/worker/crash_report.h"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 20, OWN = 2 /* frames of the handler itself */, STACK = 1 << 16, FILES = 64 };
#define NEAR_NULL ((uintptr_t)1 << 16)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; /* sanitizers print their own reports */
#else
enum { SANITIZED = 0 };
#endif

/* The program and its libraries as loaded. Owners see offsets in files, not addresses, which would reveal the memory
 * layout of later workers. */
typedef struct loaded {
    uintptr_t base, begin, end;
    char name[40];
} loaded;
static loaded files[FILES];
static int file_count;

static const struct {
    int number;
    const char *name;
} crashes[] = {{SIGSEGV, "segmentation fault"},
               {SIGBUS, "bus error"},
               {SIGFPE, "arithmetic error"},
               {SIGILL, "illegal instruction"},
               {SIGABRT, "aborted"}};
enum { CRASHES = sizeof crashes / sizeof *crashes };

static void say(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

/* Prints a hexadecimal number with async-signal-safe calls only. */
static void say_number(const char *before, uintptr_t number)
{
    char text[24];
    size_t at = sizeof text;
    text[--at] = 0;
    do {
        text[--at] = "0123456789abcdef"[number & 15];
        number >>= 4;
    } while (number);
    say(before);
    say(text + at);
}

static void say_place(uintptr_t at)
{
    for (int i = 0; i < file_count; i++) {
        if (at >= files[i].begin && at < files[i].end) {
            say(files[i].name);
            say_number(" +0x", at - files[i].base);
            say("\n");
            return;
        }
    }
    say("?\n");
}

/* Prints the frames first, because the daemon quotes the last line. */
static void report(int number, siginfo_t *info, void *context)
{
    void *frames[DEPTH];
    int count = backtrace(frames, DEPTH);
    say("crashed in, innermost first:\n");
    for (int i = OWN; i < count; i++) {
        say_place((uintptr_t)frames[i]);
    }
    say("crashed: ");
    for (int i = 0; i < CRASHES; i++) {
        say(crashes[i].number == number ? crashes[i].name : "");
    }
    bool kernel = info->si_code > 0 && number != SIGABRT; /* else somebody's kill() */
    if (kernel && (uintptr_t)info->si_addr < NEAR_NULL) {
        say_number(", address 0x", (uintptr_t)info->si_addr);
    }
    say("\n");
    raise(number); /* ends the process: SA_RESETHAND */
}

static int note_file(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *name = *info->dlpi_name ? strrchr(info->dlpi_name, '/') : "/pliant-worker";
    for (int i = 0; i < info->dlpi_phnum && file_count < FILES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            loaded *f = &files[file_count++];
            f->base = info->dlpi_addr;
            f->begin = info->dlpi_addr + part->p_vaddr;
            f->end = f->begin + part->p_memsz;
            snprintf(f->name, sizeof f->name, "%s", name ? name + 1 : info->dlpi_name);
        }
    }
    return 0;
}

/* Gives the main thread a signal stack: a stack that has overflowed has no room for a handler. */
static void make_stack(void)
{
    stack_t stack = {.ss_sp = malloc(STACK), .ss_size = STACK};
    if (stack.ss_sp) {
        sigaltstack(&stack, NULL); /* never freed */
    }
}

void pl_crash_report_begin(void)
{
    void *first[1];
    struct sigaction action = {.sa_sigaction = report,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER};
    if (SANITIZED) {
        return;
    }
    backtrace(first, 1); /* loads its library now, not in the handler */
    dl_iterate_phdr(note_file, NULL);
    make_stack();
    for (int i = 0; i < CRASHES; i++) {
        sigaction(crashes[i].number, &action, NULL);
    }
}
