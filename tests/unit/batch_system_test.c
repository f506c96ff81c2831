/* Commands of batch systems: the built-in set for Slurm, and the files of deploy/batch, which must be complete. */
#include "server/batch/batch_system.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const files[] = {NULL, "deploy/batch/slurm.conf", "deploy/batch/pbs.conf",
                                    "deploy/batch/kubernetes.conf"};
enum { FILES = sizeof files / sizeof *files };

static const pl_batch_value values[] = {{"user", "alice"},
                                        {"group", "lab"},
                                        {"name", "pliant-x-1"},
                                        {"session", "x"},
                                        {"attempt", "1"},
                                        {"job", "17"},
                                        {"directory", "/state/sessions/x"},
                                        {"cores", "2"},
                                        {"memory_mb", "300"},
                                        {"minutes", "20"},
                                        {"seconds", "1200"},
                                        {"lead", "60"},
                                        {"gpus", ""},
                                        {"script", "/state/sessions/x/job.sh"},
                                        {"command", "'/bin/worker' '--session' '/a b' "},
                                        {"command_json", "[\"/bin/worker\"]"},
                                        {NULL, NULL}};

/* One argument's text, or NULL. */
static const char *argument(char **argv, const char *begins)
{
    for (; *argv; argv++)
        if (strncmp(*argv, begins, strlen(begins)) == 0)
            return *argv;
    return NULL;
}

static pl_batch_system *load(const char *path)
{
    char error[400] = "";
    pl_batch_system *s = pl_batch_system_create(path, error, sizeof error);
    ck_assert_msg(s, "%s", error);
    return s;
}

/* The system of a text, or NULL with its error. */
static pl_batch_system *from_text(const char *text, char error[400])
{
    char path[] = "/tmp/pliant-batch-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    pl_batch_system *s = pl_batch_system_create(path, error, 400);
    unlink(path);
    return s;
}

/* Every file has all commands, and a value for each name it uses; remaining braces belong to the system. */
START_TEST(test_files)
{
    pl_batch_system *s = load(files[_i]);
    for (int verb = 0; verb < PL_BATCH_VERBS; verb++) {
        char **argv = pl_batch_system_command(s, (pl_batch_verb)verb, values);
        ck_assert(argv && argv[0]);
        ck_assert_ptr_null(strchr(argv[0], '{'));
        pl_batch_command_free(argv);
    }
    char *script = pl_batch_system_script(s, values);
    ck_assert(strstr(script, "/bin/worker"));
    ck_assert_ptr_null(strstr(script, "{command"));
    free(script);
    pl_batch_system_destroy(s);
}
END_TEST

START_TEST(test_slurm)
{
    pl_batch_system *s = load(NULL);
    char **argv = pl_batch_system_command(s, PL_BATCH_SUBMIT, values);
    ck_assert_str_eq(pl_batch_system_name(s), "slurm");
    ck_assert_str_eq(argv[0], "sbatch");
    ck_assert_str_eq(argument(argv, "--mem"), "--mem=300M");
    ck_assert_str_eq(argument(argv, "--signal"), "--signal=B:TERM@60");
    ck_assert_ptr_null(argument(argv, "--gres"));    /* no GPU requested */
    ck_assert_ptr_null(argument(argv, "--account")); /* no account set */
    ck_assert_str_eq(argument(argv, "/state"), "/state/sessions/x/job.sh");
    pl_batch_command_free(argv);
    const pl_batch_value with_gpu[] = {{"gpus", "1"}, {NULL, NULL}};
    argv = pl_batch_system_command(s, PL_BATCH_SUBMIT, with_gpu);
    ck_assert_str_eq(argument(argv, "--gres"), "--gres=gpu:1");
    pl_batch_command_free(argv);
    static const struct {
        const char *word;
        pl_batch_phase phase;
    } words[] = {{"PENDING", PL_BATCH_PENDING},       {"COMPLETING", PL_BATCH_RUNNING},
                 {"NODE_FAIL", PL_BATCH_AGAIN},       {"BOOT_FAIL", PL_BATCH_AGAIN},
                 {"PREEMPTED", PL_BATCH_AGAIN},       {"TIMEOUT", PL_BATCH_OVERTIME},
                 {"OUT_OF_MEMORY", PL_BATCH_MEMORY},  {"CANCELLED", PL_BATCH_CANCELLED},
                 {"FAILED", PL_BATCH_ENDED},          {"REQUEUE_HOLD", PL_BATCH_PENDING},
                 {"SOMETHING_NEW", PL_BATCH_UNKNOWN}, {"", PL_BATCH_UNKNOWN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_int_eq(pl_batch_system_phase(s, words[i].word), words[i].phase);
    pl_batch_system_destroy(s);
}
END_TEST

START_TEST(test_settings)
{
    char error[400];
    pl_batch_system *s = from_text("use = slurm\n# a comment\naccount = all\n"
                                   "group lab account = labs\nuser bob account = bobs\n"
                                   "minutes = 5\n",
                                   error);
    ck_assert(s);
    ck_assert_str_eq(pl_batch_system_variable(s, "account", "bob", "lab"), "bobs");
    ck_assert_str_eq(pl_batch_system_variable(s, "account", "alice", "lab"), "labs");
    ck_assert_str_eq(pl_batch_system_variable(s, "account", "alice", NULL), "all");
    ck_assert_str_eq(pl_batch_system_variable(s, "qos", "alice", "lab"), "");
    ck_assert_int_eq(pl_batch_system_number(s, PL_BATCH_MINUTES), 5);
    char **argv = pl_batch_system_command(s, PL_BATCH_SUBMIT, values);
    ck_assert_str_eq(argument(argv, "--account"), "--account=labs");
    pl_batch_command_free(argv);
    pl_batch_system_destroy(s);
}
END_TEST

static const struct {
    const char *text, *error;
} wrong[] = {
    {"use = slurm\nsubmit = sbatch {nonsense}\n", ":2: {nonsense} is not a known placeholder"},
    {"use = slurm\ncolour = red\n", ":2: 'colour' is not a setting"},
    {"use = slurm\ninterval = soon\n", ":2: interval takes a number from 1 to 3600"},
    {"use = lsf\n", ":1: use takes slurm, not 'lsf'"},
    {"use = slurm\njust words\n", ":2: expected NAME = VALUE"},
    {"name = x\nsubmit = a\n", "the command 'query' is missing"}};

START_TEST(test_wrong)
{
    char error[400] = "";
    ck_assert_ptr_null(from_text(wrong[_i].text, error));
    ck_assert_msg(strstr(error, wrong[_i].error), "%s", error);
    ck_assert_ptr_null(pl_batch_system_create("/nowhere/at/all", error, sizeof error));
}
END_TEST

/* Fields by number, by blanks, and by the text that they begin with. */
START_TEST(test_fields)
{
    char text[64], error[400];
    pl_batch_system *pbs = load("deploy/batch/pbs.conf");
    const char *line = "Job Id: 12.head|Job_Name=pliant-a-1|job_state=Q|comment=Not enough free";
    ck_assert(pl_batch_system_field(pbs, line, PL_BATCH_JOB, text, sizeof text));
    ck_assert_str_eq(text, "12.head");
    ck_assert(pl_batch_system_field(pbs, line, PL_BATCH_REASON, text, sizeof text));
    ck_assert_str_eq(text, "Not enough free");
    ck_assert(!pl_batch_system_field(pbs, line, PL_BATCH_START, text, sizeof text));
    pl_batch_system_destroy(pbs);
    pl_batch_system *s = from_text("use = slurm\nseparator =\n", error);
    ck_assert(pl_batch_system_field(s, "7   a  RUNNING", PL_BATCH_STATE, text, sizeof text));
    ck_assert_str_eq(text, "RUNNING");
    pl_batch_system_destroy(s);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("systems");
    tcase_add_loop_test(cases, test_files, 0, FILES);
    tcase_add_test(cases, test_slurm);
    tcase_add_test(cases, test_settings);
    tcase_add_loop_test(cases, test_wrong, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(cases, test_fields);
    return run_cases("batch: systems", cases);
}
