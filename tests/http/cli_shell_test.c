/* Output for shells and man: bash's script is sourced and its function called, as TAB does; groff formats the manual
 * pages; both contain every command and option of --help. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/words.h"
#include "tests/support/pliant_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program(const char *name)
{
    static char path[2][400];
    static int turn;
    const char *build = getenv("PLIANT_BUILD");
    char *out = path[turn++ % 2];
    snprintf(out, sizeof path[0], "%s/%s", build ? build : "build", name);
    return out;
}

/* Output of a shell command, static. */
static const char *shell(const char *command)
{
    static char said[1 << 20];
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    said[fread(said, 1, sizeof said - 1, pipe)] = 0;
    ck_assert_msg(pclose(pipe) == 0, "%s", command);
    return said;
}

/* What TAB offers after these words, which are as bash has them, sorted; the first is the program. */
static void offers(const char *words, const char *wanted)
{
    char command[4000];
    snprintf(
        command, sizeof command,
        "cd '%s' && PLIANT_CONFIG='%s/config' bash -c 'P=\"%s\"; source <(\"$P\" completion bash) "
        "|| exit 1;"
        " COMP_WORDS=(\"$P\" --state \"%s\" %s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _pliant;"
        " printf \"%%s\\n\" \"${COMPREPLY[@]}\" | sort -u | tr \"\\n\" \" \"'",
        pliant_fixture.directory, pliant_fixture.directory, realpath(program("pliant"), NULL),
        pliant_fixture.state, words);
    ck_assert_str_eq(shell(command), wanted);
}

START_TEST(a_tab_in_bash)
{
    char wanted[64];
    const char *id = pliant_submit(3);
    snprintf(wanted, sizeof wanted, "%.12s small\\ bar ", id);
    ck_assert_int_eq(pliant("server add lab http://127.0.0.1:1"), 0);
    pliant_write("rope.json", "{}");
    offers("va", "validate ");
    offers("list --na", "--name ");
    offers("list --state ru", "running ");
    offers("frames --dtype \"\"", "f32 f64 u16 ");
    offers("frames --dtype = u", "u16 ");
    offers("frames --raw rop", "rope.json ");
    offers("--server \"\"", "lab ");
    offers("server remove \"\"", "lab ");
    offers("token \"\"", "create list revoke ");
    offers("token --name x re", "revoke ");
    offers("meshes --delete x --j", "--json ");
    offers("submit rop", "rope.json ");
    offers("completion \"\"", "bash fish zsh ");
    offers("show \"\"", wanted);
    offers("pause x \"\"", wanted);
    offers("rm \"\"", wanted);
    offers("show sma", "small\\ bar ");
    offers("show \\\"sma", "small bar ");
    offers("show --j", "--json ");
    offers("show --l", "--last ");
    offers("compare --methods ad", "admm ");
    offers("compare --methods admm,quasi", "admm,quasi_newton ");
    offers("plot --what en", "energies ");
    offers("export --format p", "pc2 ply png ");
    offers("sweep results x --format j", "json ");
    offers("mesh qu", "quality ");
    offers("mesh info rop", "rope.json ");
    offers("help expo", "export ");
    offers("whoami \"\"", " ");
}
END_TEST

/* The words of a command line up to a pipe or a redirection, cut apart in place as a shell does. */
static int split(char *text, char *words[], int most)
{
    int count = 0;
    for (char *at = text; *at && !strchr("|>", *at); at += strspn(at, " ")) {
        char *to = at, quote = 0;
        ck_assert_int_lt(count, most);
        words[count++] = at;
        for (; *at && (quote || *at != ' '); at++)
            if (quote ? *at == quote : *at == '"' || *at == '\'')
                quote = quote ? 0 : *at;
            else
                *to++ = *at;
        bool end = !*at;
        *to = 0;
        at += !end;
    }
    return count;
}

/* Each command's help has two examples, whose options exist and whose values and arguments fit. */
START_TEST(examples_can_be_read)
{
    enum { WORDS_MAX = 16 };
    for (const pl_command *c = pl_commands; c->name; c++) {
        const char *const *examples = pl_examples_of(c->name);
        char command[500];
        ck_assert_msg(examples, "%s has no examples", c->name);
        ck_assert_str_ne(examples[0], examples[1]);
        snprintf(command, sizeof command, "%s %s --help", program("pliant"), c->name);
        const char *help = shell(command);
        for (int i = 0; i < PL_EXAMPLES; i++) {
            char *words[WORDS_MAX], *text = strdup(examples[i]);
            pl_cli cli = {0};
            pl_terminal_init(&cli.out, stdout);
            pl_terminal_init(&cli.err, stderr);
            int count = split(text, words, WORDS_MAX);
            ck_assert_msg(strstr(help, examples[i]), "%s", examples[i]);
            ck_assert_str_eq(words[0], "pliant");
            ck_assert_msg(pl_words_read(&cli, count, words) == -1, "%s", examples[i]);
            ck_assert_msg(cli.command == c, "%s", examples[i]);
            free(text);
        }
    }
}
END_TEST

START_TEST(other_shells)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        ck_assert_int_eq(pliant("completion %s", shells[i]), 0);
        for (const pl_command *c = pl_commands; c->name; c++) {
            ck_assert_msg(strstr(pliant_out, c->name), "%s: no %s", shells[i], c->name);
            for (int o = 0; o < PL_OPTIONS_MAX && c->options[o].name; o++)
                ck_assert_msg(strstr(pliant_out, c->options[o].name + 2), "%s: no %s", shells[i],
                              c->options[o].name);
        }
    }
    ck_assert_int_eq(pliant("completion tcsh"), 2);
}
END_TEST

/* Every option of a program's help is on its page. */
static void check_manual(const char *name, const char *head)
{
    char command[1000], wanted[100], *help;
    snprintf(command, sizeof command, "%s --help", program(name));
    help = strdup(shell(command));
    snprintf(command, sizeof command, "%s --man", program(name));
    const char *page = shell(command);
    ck_assert_msg(strncmp(page, head, strlen(head)) == 0, "%.80s", page);
    for (char *at = help; (at = strstr(at, "\n  --")); at++) {
        size_t n = strcspn(at + 5, " \n");
        size_t length = (size_t)snprintf(wanted, sizeof wanted, "\\fB\\-\\-");
        for (size_t i = 0; i < n; i++)
            length += (size_t)snprintf(wanted + length, sizeof wanted - length,
                                       at[5 + i] == '-' ? "\\-" : "%c", at[5 + i]);
        snprintf(wanted + length, sizeof wanted - length, "\\fR");
        ck_assert_msg(strstr(page, wanted), "%s: %s is not there", name, wanted);
    }
    free(help);
}

START_TEST(groff_sets_the_pages)
{
    static const char *const names[] = {"pliant", "pliantd"};
    char command[1000];
    if (system("command -v groff >/dev/null") != 0)
        skip_test("cli_shell: groff is not installed");
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "%s --man | groff -man -Tutf8 -ww -z 2>&1",
                 program(names[i]));
        ck_assert_str_eq(shell(command), "");
    }
}
END_TEST

START_TEST(manual_pages)
{
    check_manual("pliant", ".TH PLIANT 1 ");
    check_manual("pliantd", ".TH PLIANTD 1 ");
    ck_assert_int_eq(pliant("--man"), 0);
    for (const pl_command *c = pl_commands; c->name; c++) {
        char title[80];
        snprintf(title, sizeof title, "\n.SS \"pliant %.*s", (int)strcspn(c->name, "-"), c->name);
        ck_assert_msg(strstr(pliant_out, title), "%s", title);
    }
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("shells");
    tcase_set_timeout(c, 180);
    tcase_add_checked_fixture(c, pliant_setup, pliant_teardown);
    tcase_add_test(c, a_tab_in_bash);
    tcase_add_test(c, other_shells);
    tcase_add_test(c, manual_pages);
    tcase_add_test(c, groff_sets_the_pages);
    tcase_add_test(c, examples_can_be_read);
    return run_cases("pliant in shells and man", c);
}
