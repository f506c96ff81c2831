/* capabilities: lists every parameter of a scene. Asks the daemon. With words, or if no daemon is reached, it
 * reads this program's own tables. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"

#include "protocol/scene/scene_json.h"

#include <math.h>
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

/* ---- the table ---- */

enum { COLUMNS = 5, CELL = 96, WIDEST = 34 };
static const char *const headings[COLUMNS] = {"PARAMETER", "TYPE", "UNIT", "DEFAULT", "RANGE"};

typedef struct row {
    char cell[COLUMNS][CELL];
    const pl_json *about;
} row;

typedef struct parameter_table {
    row *rows;
    size_t count, capacity;
    bool failed; /* out of memory */
} parameter_table;

/* Append the value at a key, if it is a short one, with a text before it. */
static void add_value(char cell[CELL], const pl_json *about, const char *key, const char *before)
{
    const pl_json *value = pl_json_at(about, key);
    double number = pl_json_number(value, "", NAN);
    char *text = value && isnan(number) ? pl_json_dump(value, false) : NULL;
    size_t length = strlen(cell);
    if (!isnan(number))
        snprintf(cell + length, CELL - length, "%s%s%.9g", length ? " " : "", before, number);
    if (text && strlen(text) < 80)
        snprintf(cell + length, CELL - length, "%s%s%s", length ? " " : "", before, text);
    free(text);
}

static void add_row(parameter_table *t, const char *table, const char *key, const pl_json *about)
{
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 64;
        row *grown = realloc(t->rows, capacity * sizeof *grown);
        t->failed |= !grown;
        if (!grown)
            return;
        t->rows = grown;
        t->capacity = capacity;
    }
    row *r = &t->rows[t->count++];
    *r = (row){.about = about};
    const char *unit = pl_json_string(about, "unit", "");
    snprintf(r->cell[0], CELL, "%s.%s", table, key);
    snprintf(r->cell[1], CELL, "%s", pl_json_string(about, "type", ""));
    snprintf(r->cell[2], CELL, "%s", strcmp(unit, "1") == 0 ? "" : unit);
    if (pl_json_boolean(about, "required", false))
        snprintf(r->cell[3], CELL, "required");
    else
        add_value(r->cell[3], about, "default", "");
    add_value(r->cell[4], about, "minimum", "from ");
    add_value(r->cell[4], about, "exclusive_minimum", "above ");
    add_value(r->cell[4], about, "maximum", "to ");
    add_value(r->cell[4], about, "exclusive_maximum", "below ");
}

/* Columns are as wide as their widest cell; one wider than WIDEST moves only its own row. */
static void print_row(const pl_terminal *t, pl_style style, const char *const cell[COLUMNS],
                      const size_t width[COLUMNS])
{
    int last = COLUMNS - 1;
    while (last > 0 && !*cell[last])
        last--;
    for (int k = 0; k <= last; k++) {
        pl_style how = k == 0 || style == PL_STYLE_DIM ? style : PL_STYLE_PLAIN;
        printf("%s%s%-*s%s", k ? "  " : "", pl_style_on(t, how), k < last ? (int)width[k] : 0,
               cell[k], pl_style_off(t));
    }
    putchar('\n');
}

static void print_table(const pl_cli *cli, const parameter_table *t)
{
    size_t width[COLUMNS] = {0};
    for (int k = 0; k < COLUMNS; k++) {
        width[k] = strlen(headings[k]);
        for (size_t i = 0; i < t->count; i++) {
            size_t length = strlen(t->rows[i].cell[k]);
            width[k] = length > width[k] && (k == 0 || length <= WIDEST) ? length : width[k];
        }
    }
    print_row(&cli->out, PL_STYLE_DIM, headings, width);
    for (size_t i = 0; i < t->count; i++) {
        const char *cells[COLUMNS];
        const pl_json *about = t->rows[i].about, *choices = pl_json_at(about, "choices");
        char line[1024];
        int used = 0;
        for (int k = 0; k < COLUMNS; k++)
            cells[k] = t->rows[i].cell[k];
        print_row(&cli->out, PL_STYLE_BOLD, cells, width);
        if (*pl_json_string(about, "default_text", "")) {
            snprintf(line, sizeof line, "default: %s", pl_json_string(about, "default_text", ""));
            print_wrapped(&cli->out, line);
        }
        for (size_t c = 0; c < pl_json_count(choices) && used < (int)sizeof line - 64; c++)
            used += snprintf(line + used, sizeof line - (size_t)used, "%s%s", c ? ", " : "one of ",
                             pl_json_string(pl_json_item(choices, c), "", ""));
        if (used > 0)
            print_wrapped(&cli->out, line);
        print_wrapped(&cli->out, pl_json_string(about, "description", ""));
    }
}

/* Print the parameters that the words name, as a table or as {table: {key: ...}}; how many. */
static int print_matching(const pl_cli *cli, const pl_json *tables, bool by_table)
{
    pl_json_writer w = {0};
    parameter_table rows = {0};
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
                add_row(&rows, name, key, about);
            free(text);
        }
        if (cli->json && found > before)
            pl_json_end_object(&w);
    }
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (cli->json && found > 0 && text)
        puts(text);
    else if (!cli->json && found > 0)
        print_table(cli, &rows);
    if (rows.failed)
        pl_cli_fail(cli, 0, "out of memory: the table is not complete");
    free(text);
    free(rows.rows);
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
        "no parameter contains these words; the first word may name a table: scene, time, solver, "
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
