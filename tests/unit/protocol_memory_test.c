/* Lack of memory anywhere in the protocol is reported: the n-th allocation fails, or all from the n-th on, for every n
 * until the work is done, or every k-th if there are more than MOST. Nothing crashes, nothing is lost, and nothing is
 * mistaken for another error. The linker routes the protocol's allocations through here (--wrap in the Makefile),
 * including jansson's: protocol/text/json_load.c makes them. */
#include "engine/scene/change.h"
#include "engine/scene/scene.h"
#include "protocol/scene/branch_json.h"
#include "protocol/scene/control_json.h"
#include "protocol/log/head_recover.h"
#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/notes_patch.h"
#include "protocol/text/problem.h"
#include "protocol/scene/schema.h"
#include "protocol/log/session_dir.h"
#include "protocol/log/verify.h"
#include "protocol/sweep/sweep.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t size);
void __real_free(void *at);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t size);
char *__wrap_strdup(const char *text);
int __wrap_vasprintf(char **out, const char *format, va_list arguments);
int __wrap_asprintf(char **out, const char *format, ...);
void __wrap_free(void *at);

/* ---- the allocator ---- */

enum { SLOTS = 1 << 16 };
static void *held[SLOTS]; /* allocated and not freed, by address */
static long calls, live, first = LONG_MAX, last = LONG_MAX; /* that fail */
static bool counting;

static size_t place(const void *at)
{
    return ((size_t)at >> 4) * 2654435761u % SLOTS;
}

static bool fails(void)
{
    if (!counting)
        return false;
    long call = calls++;
    errno = call >= first && call <= last ? ENOMEM : errno;
    return call >= first && call <= last;
}

static void *hold(void *at)
{
    if (at && counting) {
        size_t i = place(at);
        while (held[i])
            i = (i + 1) % SLOTS;
        held[i] = at;
        live++;
    }
    return at;
}

/* Out of the table, those behind it moved up. */
static void let_go(void *at)
{
    size_t i = place(at), end;
    while (held[i] && held[i] != at)
        i = (i + 1) % SLOTS;
    if (!at || !held[i])
        return;
    live--;
    held[i] = NULL;
    for (end = (i + 1) % SLOTS; held[end]; end = (end + 1) % SLOTS) {
        void *moved = held[end];
        held[end] = NULL;
        size_t k = place(moved);
        while (held[k])
            k = (k + 1) % SLOTS;
        held[k] = moved;
    }
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : hold(__real_malloc(size));
}
void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : hold(__real_calloc(count, size));
}
void *__wrap_realloc(void *at, size_t size)
{
    if (fails())
        return NULL;
    let_go(at);
    return hold(__real_realloc(at, size));
}
char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
int __wrap_vasprintf(char **out, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *out = n < 0 ? NULL : __wrap_malloc((size_t)n + 1);
    return *out ? vsnprintf(*out, (size_t)n + 1, format, arguments) : -1;
}
int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = __wrap_vasprintf(out, format, arguments);
    va_end(arguments);
    return n;
}
void __wrap_free(void *at)
{
    let_go(at);
    __real_free(at);
}

/* ---- the operations ---- */

typedef enum outcome { DONE, NO_MEMORY, WRONG } outcome;

static char *scene_text;
static size_t scene_size;
static pl_scene scene;
static char *bad_text;

static outcome of_outcome(pl_decode_outcome decoded)
{
    return decoded == PL_DECODE_OK ? DONE : decoded == PL_DECODE_NO_MEMORY ? NO_MEMORY : WRONG;
}

static outcome of_text(char *text)
{
    outcome o = text ? DONE : NO_MEMORY;
    free(text);
    return o;
}

static outcome decode(void)
{
    pl_scene decoded;
    pl_notes notes;
    pl_faults faults = {0};
    outcome o = of_outcome(pl_scene_decode_with(scene_text, scene_size, &decoded, &notes, &faults));
    if (o == DONE) {
        pl_scene_clear(&decoded);
        pl_notes_clear(&notes);
    }
    pl_faults_clear(&faults);
    return o;
}

static outcome outline(void)
{
    pl_outline out;
    pl_faults faults = {0};
    outcome o = of_outcome(pl_scene_outline(scene_text, scene_size, &out, &faults));
    if (o == DONE)
        pl_outline_clear(&out);
    pl_faults_clear(&faults);
    return o;
}

/* Faults that find no room are counted all the same. */
static outcome refuse(void)
{
    pl_scene decoded;
    pl_faults faults = {0};
    pl_decode_outcome result = pl_scene_decode(bad_text, strlen(bad_text), &decoded, &faults);
    outcome o = result == PL_DECODE_INVALID && faults.total >= 3 ? DONE
                : result == PL_DECODE_NO_MEMORY                  ? NO_MEMORY
                                                                 : WRONG;
    char *text = pl_problem_encode(422, "invalid_scene", "Title", "detail", &faults);
    o = o == DONE && !text ? NO_MEMORY : o;
    free(text);
    pl_faults_clear(&faults);
    return o;
}

static outcome encode(void)
{
    return of_text(pl_scene_encode(&scene));
}

static outcome capabilities(void)
{
    return of_text(pl_capabilities_encode("[]", "[]", "{}"));
}

static outcome schema(void)
{
    return of_text(pl_scene_schema_encode());
}

static outcome patch(void)
{
    static const char text[] = "{\"name\": \"n\", \"labels\": {\"a\": \"b\", \"c\": null}, "
                               "\"metadata\": {\"x\": [1, {\"y\": 2}]}, \"priority\": 3, "
                               "\"webhook\": {\"url\": \"http://a/\"}}";
    pl_notes now = {"old", "{\"c\":\"d\"}", "{\"z\":1}", "http://b/", 0, "lab", 0, 0, 0}, next;
    pl_faults faults = {0};
    outcome o = of_outcome(pl_notes_patch(text, sizeof text - 1, &now, &next, &faults));
    if (o == DONE && (strcmp(next.labels, "{\"a\":\"b\"}") != 0 || !next.webhook || !next.metadata))
        o = WRONG;
    pl_notes_clear(&next);
    pl_faults_clear(&faults);
    return o;
}

/* A fit with one row more than its samples, and that row's scene. */
static outcome fit(void)
{
    static const char text[] =
        "{\"scene\": {\"a\": 1, \"b\": 2, \"output\": {\"probes\": [{\"name\": \"tip\"}]}},"
        " \"parameters\": [{\"path\": \"/a\", \"min\": 1, \"max\": 9, \"scale\": \"log\"},"
        " {\"path\": \"/b\", \"min\": 0, \"max\": 1}], \"results\": [{\"metric\": \"frame\"}],"
        " \"stop_runs\": {\"probe\": \"tip\", \"above\": 2}, \"fit\": {\"measured\":"
        " [{\"probe\": \"tip\", \"points\": [[0, 1], [1, 2], [2, 3]]}, {\"metric\": \"frame\","
        " \"against\": {\"probe\": \"tip\"}, \"csv\": \"x,y\\n1,2\\n3,4\\n\"}]}}";
    pl_sweep sweep;
    pl_faults faults = {0};
    size_t length;
    pl_status status = pl_sweep_decode(text, sizeof text - 1, &sweep, &faults);
    outcome o = status == PL_OK ? DONE : status == PL_NO_MEMORY ? NO_MEMORY : WRONG;
    if (o == DONE && !pl_sweep_append(&sweep, (const double[]){0.5, 0.5}))
        o = NO_MEMORY;
    o = o == DONE ? of_text(pl_sweep_scene(&sweep, sweep.row_count - 1, "id", &length)) : o;
    pl_sweep_clear(&sweep);
    pl_faults_clear(&faults);
    return o;
}

static outcome filter(void)
{
    pl_label_filter f;
    if (!pl_label_filter_parse("a=b,c,d=\"e\"", &f))
        return NO_MEMORY;
    pl_label_filter_clear(&f);
    return DONE;
}

static outcome control(void)
{
    static const char text[] = "{\"gravity\": [0, -1, 0]}";
    char *compact = NULL;
    pl_faults faults = {0};
    outcome o = of_outcome(
        pl_control_validate(text, sizeof text - 1, scene_text, scene_size, &compact, &faults));
    free(compact);
    pl_faults_clear(&faults);
    return o;
}

static outcome branch(void)
{
    static const char text[] = "{\"frame\": 3, \"scene\": {\"name\": \"another way\", \"solver\": "
                               "{\"iterations\": 7}, \"webhook\": null}}";
    pl_branch_request out;
    pl_faults faults = {0};
    outcome o =
        of_outcome(pl_branch_decode(text, sizeof text - 1, scene_text, scene_size, &out, &faults));
    if (o == DONE && (out.frame != 3 || !strstr(out.scene, "another way")))
        o = WRONG;
    free(out.snapshot);
    free(out.scene);
    pl_faults_clear(&faults);
    return o;
}

static outcome show(void)
{
    size_t size;
    return of_text(pl_notes_scene_shown(scene_text, scene_size, &size));
}

/* Tokens of every length around those at which the lexer's buffer grows, each followed by an allocation of the same
 * size: one item more than an array or an object has room for, a string, a key of seven letters. */
static char *make_tokens(void)
{
    char *text, filler[300];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    memset(filler, 'x', sizeof filler);
    fputc('[', out);
    for (size_t n = 5; n < 132; n += n == 16 || n == 34 ? 8 : n == 66 ? 55 : 1) {
        fprintf(out, "[0,1,2,3,4,5,6,7,\"%.*s\"],", (int)n, filler);
        fprintf(out,
                "{\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0,\"h\":0,"
                "\"seven77\":\"\\u00e4%.*s\\n\"},",
                (int)n, filler);
        fprintf(out, "{\"%.*s\":[[true,[null,-1.%0*de-3]]]},", (int)n, filler, (int)n, 7);
    }
    fputs("\"end\"]", out);
    fclose(out);
    return text;
}

static outcome tokens(void)
{
    bool was = counting;
    counting = false; /* the text itself does not count */
    static char *text;
    text = text ? text : make_tokens();
    counting = was;
    char error[160] = "";
    pl_json *document = pl_json_parse(text, strlen(text), error);
    size_t count = pl_json_count(document);
    bool whole = count > 0 &&
                 strcmp(pl_json_string(pl_json_item(document, count - 1), "", ""), "end") == 0;
    outcome o = whole                                                    ? DONE
                : errno == ENOMEM && strcmp(error, "out of memory") == 0 ? NO_MEMORY
                                                                         : WRONG;
    pl_json_free(document);
    return o;
}

/* Fills the lexer's buffer to the last byte; the last allocation for it is twice that size. */
static outcome word(void)
{
    pl_json *document = pl_json_parse("\"thirteen more\"", 15, NULL);
    outcome o = document ? DONE : errno == ENOMEM ? NO_MEMORY : WRONG;
    pl_json_free(document);
    return o;
}

static int open_session(void)
{
    char path[600];
    snprintf(path, sizeof path, "%.500s", __FILE__);
    strcpy(strrchr(path, '/') + 1, "session_v2");
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static outcome of_status(pl_status status)
{
    return status == PL_OK ? DONE : status == PL_NO_MEMORY ? NO_MEMORY : WRONG;
}

static outcome reports(void)
{
    int fd = open_session();
    pl_head head = {0};
    pl_exit report = {0};
    pl_preflight preflight = {0};
    outcome o = of_status(pl_head_load(fd, &head, NULL));
    o = o == DONE ? of_status(pl_exit_read(fd, &report)) : o;
    o = o == DONE ? of_status(pl_preflight_read(fd, &preflight)) : o;
    pl_head_clear(&head);
    pl_preflight_clear(&preflight);
    close(fd);
    return o;
}

static outcome read_log(void)
{
    int fd = open_session();
    pl_log_reader *reader = NULL;
    outcome o = of_status(pl_log_reader_open(fd, &reader));
    if (o == DONE) {
        int64_t frames = pl_log_reader_refresh(reader);
        for (int64_t k = 0; k < frames; k++) {
            char *payload = NULL;
            uint64_t size;
            if (pl_log_read(reader, k, PL_LOG_FRAME, &payload, &size) != PL_LOG_OK)
                o = NO_MEMORY; /* that frame cannot be read now */
            free(payload);
        }
        o = frames > 0 ? o : NO_MEMORY;
        pl_log_reader_close(reader);
    }
    close(fd);
    return o;
}

static outcome verify(void)
{
    int fd = open_session();
    pl_verify_options options = {0};
    pl_verify_report report = {0};
    pl_status status = pl_verify(fd, &options, &report);
    outcome o = of_status(status);
    pl_verify_report_clear(&report);
    close(fd);
    return o;
}

static const struct {
    const char *name;
    outcome (*work)(void);
} works[] = {
    {"decode", decode},   {"outline", outline},   {"refuse", refuse},
    {"encode", encode},   {"patch", patch},       {"filter", filter},
    {"schema", schema},   {"control", control},   {"capabilities", capabilities},
    {"reports", reports}, {"read log", read_log}, {"verify", verify},
    {"branch", branch},   {"show", show},         {"tokens", tokens},
    {"word", word},       {"fit", fit},
};
enum { WORKS = sizeof works / sizeof *works };

/* ---- the trial ---- */

static char *read_beside(const char *name, size_t *size)
{
    char path[700];
    snprintf(path, sizeof path, "%.500s", __FILE__);
    strcpy(strrchr(path, '/') + 1, name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    char *text = calloc(1, 1 << 16);
    *size = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

static void start(void)
{
    size_t size;
    pl_faults faults = {0};
    scene_text = read_beside("scenes_good/every_key.json", &scene_size);
    bad_text = read_beside("scenes_bad/cloth_and_rope.json", &size);
    ck_assert_int_eq(pl_scene_decode(scene_text, scene_size, &scene, &faults), PL_DECODE_OK);
}

static void stop(void)
{
    pl_scene_clear(&scene);
    free(scene_text);
    free(bad_text);
}

static outcome try(outcome (*work)(void), long from, long to)
{
    calls = live = 0;
    first = from;
    last = to;
    counting = true;
    outcome o = work();
    counting = false;
    return o;
}

/* At most this many n; fewer under sanitizers, where each takes ten times as long. */
#ifdef __SANITIZE_ADDRESS__
enum { MOST = 250 };
#else
enum { MOST = 4000 };
#endif

START_TEST(test_work)
{
    const char *name = works[_i].name;
    outcome (*work)(void) = works[_i].work;
    ck_assert_msg(try(work, LONG_MAX, LONG_MAX) == DONE, "%s", name);
    ck_assert_msg(live == 0, "%s: %ld are kept", name, live);
    long needed = calls;
    ck_assert_int_gt(needed, 0);
    for (long n = 0; n < needed; n += 1 + needed / MOST) {
        for (int all = 0; all < 2; all++) {
            outcome o = try(work, n, all ? LONG_MAX - 1 : n);
            ck_assert_msg(o != WRONG, "%s: taken for another mistake where %ld %s", name, n,
                          all ? "and all after it fail" : "fails");
            ck_assert_msg(live == 0, "%s: %ld lost where %ld fails", name, live, n);
        }
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("memory");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_loop_test(tests, test_work, 0, WORKS);
    return run_cases("protocol: memory", tests);
}
