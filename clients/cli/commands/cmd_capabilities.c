/* capabilities: lists every parameter of a scene. Asks the daemon. With words, or if no daemon is reached, it
 * reads this program's own tables. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"

#include "protocol/scene/scene_json.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 4, NARROWEST = 40 };

/* Print a text indented, wrapped at the width of the terminal. */
static void print_wrapped(const pl_terminal *t, const char *text)
{
    int width = (t->columns > NARROWEST ? t->columns : NARROWEST) - INDENT - 1;
    while (*text) {
        size_t length = strlen(text);
        if (length > (size_t)width) {
            length = (size_t)width;
            while (length > 0 && text[length] != ' ')
                length--;
            if (length == 0)
                length = strcspn(text, " ");
        }
        printf("%*s%.*s\n", INDENT, "", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
}

/* True if a parameter contains every word from `first` on, in its name, its table's name, its choices or its
 * description. */
static bool has_words(const pl_cli *cli, const char *table, const char *key, const pl_json *about,
                      int first)
{
    char *text = pl_json_dump(about, false);
    bool has = text != NULL;
    for (int i = first; has && i < cli->argument_count; i++)
        has = strcasestr(table, cli->arguments[i]) || strcasestr(key, cli->arguments[i]) ||
              strcasestr(text, cli->arguments[i]);
    free(text);
    return has;
}

/* True if `word` names the table or one above it: "material" and "materials" name "material.damping". */
static bool is_table(const char *table, const char *word)
{
    size_t n = strlen(word);
    if (n > 1 && word[n - 1] == 's' && strncmp(table, word, n) != 0)
        n--;
    return strncasecmp(table, word, n) == 0 && (table[n] == 0 || table[n] == '.');
}

static void print_value(const pl_json *about, const char *key, const char *before)
{
    const pl_json *value = pl_json_at(about, key);
    char *text = value ? pl_json_dump(value, false) : NULL;
    if (text && strlen(text) < 80)
        printf("%s%s", before, text);
    free(text);
}

static void print_parameter(const pl_cli *cli, const char *table, const char *key,
                            const pl_json *about)
{
    const char *unit = pl_json_string(about, "unit", "");
    printf("%s%s.%s%s  %s", pl_style_on(&cli->out, PL_STYLE_BOLD), table, key,
           pl_style_off(&cli->out), pl_json_string(about, "type", ""));
    if (*unit && strcmp(unit, "1") != 0)
        printf(", %s", unit);
    if (pl_json_boolean(about, "required", false))
        printf(", required");
    print_value(about, "default", ", default ");
    const char *words = pl_json_string(about, "default_text", "");
    if (*words)
        printf(", default: %s", words);
    print_value(about, "minimum", ", from ");
    print_value(about, "exclusive_minimum", ", above ");
    print_value(about, "maximum", ", to ");
    print_value(about, "exclusive_maximum", ", below ");
    putchar('\n');
    const pl_json *choices = pl_json_at(about, "choices");
    char line[1024];
    int used = 0;
    for (size_t i = 0; i < pl_json_count(choices) && used < (int)sizeof line - 64; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, "%s%s", i ? ", " : "one of ",
                         pl_json_string(pl_json_item(choices, i), "", ""));
    if (used > 0)
        print_wrapped(&cli->out, line);
    print_wrapped(&cli->out, pl_json_string(about, "description", ""));
}

/* The parameters that the words name, as text or as {table: {key: ...}}; how many. */
static int print_matching(const pl_cli *cli, const pl_json *tables, bool by_table)
{
    pl_json_writer w = {0};
    int found = 0, first = by_table ? 1 : 0;
    pl_json_begin_object(&w);
    for (size_t t = 0; t < pl_json_count(tables); t++) {
        const pl_json *table, *about;
        const char *name = pl_json_member(tables, t, &table);
        int before = found;
        if (by_table && !is_table(name, cli->arguments[0]))
            continue;
        for (size_t k = 0; k < pl_json_count(table); k++) {
            const char *key = pl_json_member(table, k, &about);
            if (!has_words(cli, name, key, about, first))
                continue;
            if (cli->json && found == before) {
                pl_json_key(&w, name);
                pl_json_begin_object(&w);
            }
            found++;
            char *text = cli->json ? pl_json_dump(about, false) : NULL;
            if (cli->json)
                pl_json_set_raw(&w, key, text ? text : "null");
            else
                print_parameter(cli, name, key, about);
            free(text);
        }
        if (cli->json && found > before)
            pl_json_end_object(&w);
    }
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (cli->json && found > 0 && text)
        puts(text);
    free(text);
    return found;
}

static pl_json *own_capabilities(void)
{
    char *text = pl_capabilities_encode("[]", "[]", "{}");
    pl_json *own = text ? pl_json_parse(text, strlen(text), NULL) : NULL;
    free(text);
    return own;
}

static int find(pl_cli *cli, const pl_json *own)
{
    const pl_json *tables = pl_json_at(own, "parameters"), *table;
    bool by_table = false;
    for (size_t t = 0; t < pl_json_count(tables); t++)
        by_table = by_table || is_table(pl_json_member(tables, t, &table), cli->arguments[0]);
    if (print_matching(cli, tables, by_table) > 0)
        return PL_EXIT_OK;
    return pl_cli_fail(
        cli, PL_EXIT_FAILED,
        "no parameter contains these words; the first may name a table: scene, time, solver, "
        "material, body, mesh, pin, obstacle, force, output, expect, ...");
}

int pl_command_capabilities(pl_cli *cli)
{
    pl_http_answer answer;
    pl_json *value = NULL;
    bool daemon = cli->argument_count == 0;
    int status = daemon ? pl_api_connect(cli) : PL_EXIT_OK;
    if (daemon && status == PL_EXIT_OK) {
        const pl_http_call call = {.method = "GET", .path = "/v1/capabilities"};
        pl_http_outcome outcome = pl_http_client_call(cli->client, &call, &answer);
        if (outcome == PL_HTTP_ANSWERED && answer.status < 300)
            value = answer.body ? pl_json_parse(answer.body, answer.size, NULL) : NULL;
        else if (outcome != PL_HTTP_UNREACHABLE)
            return pl_api_failed(cli, outcome, &answer);
        else
            pl_cli_note(cli, "no daemon reached: these are the parameters of this program");
        pl_http_answer_clear(&answer);
    }
    if (status == PL_EXIT_OK && !value)
        value = own_capabilities();
    if (status == PL_EXIT_OK && !value)
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    if (status == PL_EXIT_OK && daemon)
        pl_api_print(cli, value);
    else if (status == PL_EXIT_OK)
        status = find(cli, value);
    pl_json_free(value);
    return status;
}
