#include "tests/support/starving.h"

#include "tests/support/http_client.h"

#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic int64_t *memory; /* of preload/failing_memory.c */
static char shared_path[64];

void starving_begin(void)
{
    snprintf(shared_path, sizeof shared_path, "/tmp/pliant-memory-XXXXXX");
    int fd = mkstemp(shared_path);
    ck_assert_int_eq(ftruncate(fd, 24), 0);
    memory = mmap(NULL, 24, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne((void *)memory, MAP_FAILED);
    close(fd);
    daemon_fixture_preload("libfailing_memory.so");
    setenv("PLIANT_FAILING_MEMORY", shared_path, 1);
}

void starving_end(void)
{
    munmap((void *)memory, 24);
    unlink(shared_path);
}

void starving_arm(int64_t n, int64_t span)
{
    atomic_store(&memory[1], span);
    atomic_store(&memory[2], 0);
    atomic_store(&memory[0], n > 0 ? n + span - 1 : 0);
}

int64_t starving_failures(void)
{
    return atomic_load(&memory[2]);
}

int64_t starving_counted(void)
{
    return STARVING_COUNT - atomic_load(&memory[0]);
}

char starving_answer[1 << 20];
size_t starving_length;

int starving_ask(const daemon_fixture *d, const char *method, const char *target, const char *more,
                 const char *body)
{
    char *head = NULL, *answer = starving_answer;
    size_t length = 0, room = sizeof starving_answer;
    int n = asprintf(&head,
                     "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
                     "Connection: close\r\n%sContent-Length: %zu\r\n\r\n%s",
                     method, target, d->port, d->token, more, strlen(body), body);
    http_connection *c = http_open(d);
    http_reply *r = http_write(c, head, (size_t)n) ? http_read_head(c) : NULL;
    ssize_t got = -1;
    while (r && (got = http_read_some(c, r, answer + length, room - 1 - length)) > 0)
        length = length + (size_t)got < room / 2 ? length + (size_t)got : 0;
    answer[length] = 0;
    starving_length = length;
    int status = got == 0 ? r->status : 0;
    http_reply_free(r);
    http_close(c);
    free(head);
    return status;
}
