/* The table of sessions without memory for its queue: a session that could not join is in neither. */
#include "server/base/counters.h"
#include "server/sessions/removal.h"
#include "server/sessions/events.h"
#include "server/sessions/sessions.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_memory;
static int queued;

static bool push(void *context, pl_session *session, bool first)
{
    queued += has_memory;
    return has_memory;
}

static void note_nothing(void *context, pl_session *ended) {}

static void place_nowhere(void *context, const pl_session *session, pl_queue_place *out)
{
    *out = (pl_queue_place){0};
}

static const pl_session_queue queue = {

    .push = push, .changed = note_nothing, .place = place_nowhere};

static pl_session *session(const char *state_path, char digit)
{
    pl_row row = {.owner = (char *)"owner",
                  .name = (char *)"cube",
                  .state = (char *)"queued",
                  .reason = (char *)"",
                  .message = (char *)"",
                  .bodies = (char *)"[]",
                  .created_us = 1000 + digit,
                  .frame = -1,
                  .cores = 1};
    memset(row.id, digit, 32);
    pl_session *s = pl_session_create(state_path, &row);
    ck_assert_ptr_nonnull(s);
    return s;
}

START_TEST(test_no_memory_for_the_queue)
{
    char folder[] = "/tmp/pliant-table-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    pl_counters *counters = calloc(1, sizeof *counters);
    _Atomic bool ready = false; /* so that it tells nobody */
    pl_sessions_setup setup = {.store = pl_store_open(folder, true, counters),
                               .state_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                               .counters = counters,
                               .events = pl_events_create(),
                               .ready = &ready,
                               .queue = &queue};
    ck_assert(setup.store && setup.events && counters && setup.state_fd >= 0);
    pl_sessions *table = pl_sessions_create(&setup);
    pl_session *first = session(folder, 'a'), *second = session(folder, 'b');

    has_memory = true;
    ck_assert(pl_sessions_insert(table, first));
    has_memory = false;
    ck_assert(!pl_sessions_insert(table, second));
    ck_assert_ptr_null(pl_sessions_find_any(table, second->id));
    ck_assert_int_eq(pl_sessions_count(table, PL_STATE_QUEUED), 1);
    ck_assert_int_eq(atomic_load(&second->references), 1);
    pl_session *found = pl_sessions_find_any(table, first->id);
    ck_assert_ptr_eq(found, first);
    pl_session_release(found);

    has_memory = true;
    ck_assert(pl_sessions_insert(table, second));
    ck_assert_int_eq(pl_sessions_count(table, PL_STATE_QUEUED), 2);
    ck_assert_int_eq(queued, 2);

    pl_session_release(first);
    pl_session_release(second);
    pl_sessions_destroy(table);
    pl_events_destroy(setup.events);
    pl_store_close(setup.store);
    close(setup.state_fd);
    free(counters);
    ck_assert_int_eq(pl_remove_tree(AT_FDCWD, folder), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("sessions_table");
    tcase_add_test(tests, test_no_memory_for_the_queue);
    return run_cases("table of sessions", tests);
}
