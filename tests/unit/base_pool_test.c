/* A pool in turn: one thread, so that the order in which jobs run is the order in which they were taken. */
#include "server/base/pool.h"
#include "tests/support/suite.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

enum { LIMIT = 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool begun, open_gate;
static char order[64];

static void note(void *context)
{
    strncat(order, context, 1);
}

static void wait_at_gate(void *context)
{
    pthread_mutex_lock(&mutex);
    begun = true;
    pthread_cond_broadcast(&changed);
    while (!open_gate)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* With its one thread at the gate. */
static pl_pool *start(void)
{
    begun = open_gate = false;
    order[0] = 0;
    pl_pool *pool = pl_pool_create("test", 1, LIMIT);
    ck_assert_ptr_nonnull(pool);
    ck_assert(pl_pool_submit(pool, wait_at_gate, NULL));
    pthread_mutex_lock(&mutex);
    while (!begun)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return pool;
}

static void finish(pl_pool *pool)
{
    pthread_mutex_lock(&mutex);
    open_gate = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    pl_pool_destroy(pool);
}

static pl_pool_answer submit(pl_pool *pool, const char *name)
{
    return pl_pool_submit_in_turn(pool, (unsigned char)*name, note, (void *)name);
}

START_TEST(test_turns)
{
    pl_pool *pool = start();
    for (const char *name = "aaaabbc"; *name; name++)
        ck_assert_int_eq(submit(pool, name), PL_POOL_TAKEN);
    finish(pool);
    ck_assert_str_eq(order, "abcabaa");
}
END_TEST

static pl_pool *again;
static int left;

static void note_and_submit(void *context)
{
    note(context);
    if (left-- > 0)
        pl_pool_go_on(again, 'b', note_and_submit, context);
}

/* A user who always has one more does not starve one who had many before. */
START_TEST(test_no_starving)
{
    again = start();
    left = 2;
    for (const char *name = "aaa"; *name; name++)
        ck_assert_int_eq(submit(again, name), PL_POOL_TAKEN);
    ck_assert_int_eq(pl_pool_submit_in_turn(again, 'b', note_and_submit, "b"), PL_POOL_TAKEN);
    finish(again);
    ck_assert_str_eq(order, "ababab");
}
END_TEST

/* A lane has a quarter of the queue; continued jobs have no bound. */
START_TEST(test_bounds)
{
    pl_pool *pool = start();
    for (int i = 0; i < LIMIT / 4; i++)
        ck_assert_int_eq(submit(pool, "a"), PL_POOL_TAKEN);
    ck_assert_int_eq(submit(pool, "a"), PL_POOL_LANE_FULL);
    for (const char *name = "bbbbccccdddd"; *name; name++)
        ck_assert_int_eq(submit(pool, name), PL_POOL_TAKEN);
    ck_assert_int_eq(submit(pool, "e"), PL_POOL_FULL);
    ck_assert(!pl_pool_submit(pool, note, "e"));
    ck_assert(pl_pool_go_on(pool, 'e', note, "e"));
    finish(pool);
    ck_assert_str_eq(order, "abcdeabcdabcdabcd");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("pool");
    tcase_add_test(tests, test_turns);
    tcase_add_test(tests, test_no_starving);
    tcase_add_test(tests, test_bounds);
    return run_cases("base: pool", tests);
}
