/* CPUs of workers on imaginary machines: sets as texts, one node if they fit, resizes, CPUs already taken. */
#include "server/run/cpu_set.h"
#include "server/run/cpus.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

/* Two nodes of four CPUs, as hyper-threaded machines number them. */
static void make_nodes(void)
{
    static const char *const lists[] = {"0-1,4-5\n", "2-3,6-7\n"};
    strcpy(folder, "/tmp/pliant-nodes-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/node%d", folder, 3 * i);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%s/node%d/cpulist", folder, 3 * i);
        FILE *file = fopen(path, "w");
        fputs(lists[i], file);
        fclose(file);
    }
}

static void remove_nodes(void)
{
    char path[128];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/node%d/cpulist", folder, 3 * i);
        unlink(path);
        snprintf(path, sizeof path, "%s/node%d", folder, 3 * i);
        rmdir(path);
    }
    rmdir(folder);
}

/* The set changes as expected; the previous one is freed. */
static void change(pl_cpus *c, char **own, int64_t cores, const char *expected)
{
    char *now = pl_cpus_change(c, *own, cores);
    ck_assert_msg(now ? expected && strcmp(now, expected) == 0 : !expected, "%s, not %s",
                  now ? now : "none", expected ? expected : "none");
    free(*own);
    *own = now;
}

START_TEST(test_texts)
{
    static const char *const good[][2] = {
        {"0", "0"}, {"0-3,8", "0-3,8"}, {"1,0,2\n", "0-2"}, {"0,2,4-5,1023", "0,2,4-5,1023"}};
    static const char *const bad[] = {"", "a", "3-1", "1024", "-1", "1-", "1x", "0;1"};
    cpu_set_t set;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(pl_cpu_set_parse(good[i][0], &set), "%s", good[i][0]);
        char *text = pl_cpu_set_print(&set);
        ck_assert_str_eq(text, good[i][1]);
        free(text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(!pl_cpu_set_parse(bad[i], &set), "%s", bad[i]);
    }
}
END_TEST

START_TEST(test_nodes)
{
    make_nodes();
    pl_cpus *c = pl_cpus_create("0-7", 8, folder);
    char *a = NULL, *b = NULL, *e = NULL, *f = NULL;
    change(c, &a, 3, "0-1,4");
    change(c, &b, 2, "2-3"); /* one is left on the first node, which is too few */
    change(c, &e, 1, "5");   /* the best fit */
    change(c, &f, 2, "6-7");
    change(c, &f, 0, NULL);
    change(c, &b, 4, "2-3,6-7");
    change(c, &a, 1, "0");
    change(c, &a, 3, "0-1,4");
    change(c, &b, 2, "2-3");
    change(c, &a, 5, "0-1,4,6-7"); /* more than the node has */
    change(c, &a, 4, "0-1,4,6");   /* what stays is together */
    change(c, &a, 3, "0-1,4");
    change(c, &a, 6, NULL); /* only five are not another's */
    change(c, &a, 5, "0-1,4,6-7");
    free(a);
    free(b);
    free(e);
    pl_cpus_destroy(c);
    remove_nodes();
}
END_TEST

START_TEST(test_no_nodes_and_no_pinning)
{
    char *a = NULL;
    pl_cpus *c = pl_cpus_create("1,3", 2, "/not/there");
    change(c, &a, 2, "1,3");
    free(a);
    pl_cpus_destroy(c);
    ck_assert_ptr_null(pl_cpus_create("1,3", 3, NULL));
    ck_assert_ptr_null(pl_cpus_create(NULL, 1, NULL));
    ck_assert_ptr_null(pl_cpus_change(NULL, NULL, 1));
}
END_TEST

START_TEST(test_claims)
{
    char *a = NULL;
    pl_cpus *c = pl_cpus_create("0-3", 4, NULL);
    ck_assert(pl_cpus_claim(c, "0-1", 2));
    ck_assert(!pl_cpus_claim(c, "1-2", 2)); /* one is taken */
    ck_assert(!pl_cpus_claim(c, "2-3", 1)); /* it is not pinned to its cores */
    ck_assert(!pl_cpus_claim(c, "3-4", 2));
    ck_assert(!pl_cpus_claim(NULL, "0", 1));
    change(c, &a, 2, "2-3");
    free(a);
    pl_cpus_destroy(c);
}
END_TEST

/* The calling thread on one CPU, and back; a child inherits it. */
START_TEST(test_affinity)
{
    char *all = pl_cpu_set_of(0), one[16];
    cpu_set_t before;
    snprintf(one, sizeof one, "%d", atoi(all));
    pl_cpu_set_enter(one, &before);
    char *now = pl_cpu_set_of(0);
    ck_assert_str_eq(now, one);
    free(now);
    pl_cpu_set_leave(one, &before);
    now = pl_cpu_set_of(0);
    ck_assert_str_eq(now, all);
    free(now);
    ck_assert_int_eq(pl_cpu_set_pin(getpid(), one), 0);
    now = pl_cpu_set_of(getpid());
    ck_assert_str_eq(now, one);
    free(now);
    ck_assert_int_eq(pl_cpu_set_pin(getpid(), all), 0);
    free(all);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("cpus");
    tcase_add_test(cases, test_texts);
    tcase_add_test(cases, test_nodes);
    tcase_add_test(cases, test_no_nodes_and_no_pinning);
    tcase_add_test(cases, test_claims);
    tcase_add_test(cases, test_affinity);
    return run_cases("cpus", cases);
}
