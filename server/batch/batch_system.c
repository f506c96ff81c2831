#include "server/batch/batch_system.h"

#include "server/batch/batch_slurm.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const verbs[PL_BATCH_VERBS] = {"submit", "query", "cancel", "signal"};
static const char *const phases[PL_BATCH_PHASES] = {"",      "pending",  "running", "ended",
                                                    "again", "overtime", "memory",  "cancelled"};
static const char *const columns[PL_BATCH_COLUMNS] = {"job",    "jobname", "state",
                                                      "reason", "start",   "priority"};
static const struct {
    const char *name;
    long least, most;
} numbers[PL_BATCH_NUMBERS] = {
    {"interval", 1, 3600},   {"timeout", 1, 600},      {"grace", 0, 600},
    {"lead", 0, 3600},       {"minutes", 1, 1000000},  {"pilot_seconds", 0, 86400},
    {"pilot_jobs", 1, 1000}, {"pilot_cores", 1, 4096}, {"pilot_minutes", 1, 1000000},
    {"pilot_idle", 1, 3600}};
/* Variables that a file may set for users and groups. */
static const char *const variables[] = {"account",    "partition",   "qos",
                                        "constraint", "reservation", "nice"};
enum { VARIABLES = sizeof variables / sizeof *variables };
/* Placeholders that the daemon fills in. */
static const char *const given[] = {
    "name", "job",    "session",   "attempt", "directory", "cores", "minutes", "seconds",
    "gpus", "script", "memory_mb", "lead",    "user",      "group", "command", "command_json"};
enum { GIVEN = sizeof given / sizeof *given, LIMIT = 1 << 20 };

typedef struct setting {
    struct setting *next;
    char whose;        /* 'u' a user's, 'g' a group's, 0: everybody's */
    char *who, *value; /* who: NULL for everybody */
    size_t variable;
} setting;

struct pl_batch_system {
    char *name, *script, *separator;
    char *commands[PL_BATCH_VERBS], *words[PL_BATCH_PHASES], *fields[PL_BATCH_COLUMNS];
    long numbers[PL_BATCH_NUMBERS];
    setting *settings; /* later ones first */
};

/* Position in the text being read. */
typedef struct reading {
    pl_batch_system *system;
    const char *path;
    int line;
    char *error;
    size_t size;
} reading;

__attribute__((format(printf, 2, 3))) static bool wrong(reading *r, const char *format, ...)
{
    va_list args;
    int n = snprintf(r->error, r->size, "%s:%d: ", r->path, r->line);
    va_start(args, format);
    if (n > 0 && (size_t)n < r->size) {
        vsnprintf(r->error + n, r->size - (size_t)n, format, args);
    }
    va_end(args);
    return false;
}

static bool put(char **member, const char *text)
{
    char *fresh = strdup(text);
    free(*member);
    *member = fresh;
    return fresh;
}

static int find(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---- reading a file ---- */

static bool known_value(const char *name, size_t length)
{
    char word[32];
    if (length >= sizeof word) {
        return false;
    }
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    return find(given, GIVEN, word) >= 0 || find(variables, VARIABLES, word) >= 0;
}

/* The name's length if `at` is the brace of {name}; 0 for a plain brace. */
static size_t placeholder(const char *at)
{
    size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
    return n > 0 && at[1 + n] == '}' ? n : 0;
}

static bool check_placeholders(reading *r, const char *text)
{
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
        size_t n = placeholder(at);
        if (n > 0 && !known_value(at + 1, n)) {
            return wrong(r, "{%.*s} is not a known placeholder", (int)n, at + 1);
        }
    }
    return true;
}

static bool take_number(reading *r, int which, const char *value)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (errno || end == value || *end || n < numbers[which].least || n > numbers[which].most) {
        return wrong(r, "%s takes a number from %ld to %ld, not '%s'", numbers[which].name,
                     numbers[which].least, numbers[which].most, value);
    }
    r->system->numbers[which] = n;
    return true;
}

static int number_of(const char *name)
{
    for (int i = 0; i < PL_BATCH_NUMBERS; i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool add_setting(reading *r, char whose, const char *who, int variable, const char *value)
{
    setting *s = calloc(1, sizeof *s);
    if (!s || !(s->value = strdup(value)) || (who && !(s->who = strdup(who)))) {
        free(s ? s->value : NULL);
        free(s);
        return wrong(r, "out of memory");
    }
    s->whose = whose;
    s->variable = (size_t)variable;
    s->next = r->system->settings;
    r->system->settings = s;
    return true;
}

/* Sets a variable by its name: "account", "user alice account" or "group lab partition". */
static bool take_variable(reading *r, char *name, const char *value)
{
    char *rest = NULL, *word = strtok_r(name, " \t", &rest), *who = NULL;
    char whose = 0;
    if (word && (strcmp(word, "user") == 0 || strcmp(word, "group") == 0)) {
        whose = *word;
        who = strtok_r(NULL, " \t", &rest);
        word = strtok_r(NULL, " \t", &rest);
    }
    int variable = word && !strtok_r(NULL, " \t", &rest) ? find(variables, VARIABLES, word) : -1;
    if (variable < 0) {
        return wrong(r, "'%s' is not a setting", word ? word : name);
    }
    return add_setting(r, whose, who, variable, value);
}

static bool read_text(reading *r, char *text);

static bool use_slurm(reading *r)
{
    char *text = strdup(pl_batch_slurm);
    reading inner = *r;
    inner.path = "slurm";
    inner.line = 0;
    bool good = text && read_text(&inner, text);
    free(text);
    return good;
}

static bool take_setting(reading *r, char *name, const char *value)
{
    pl_batch_system *s = r->system;
    int at;
    if (strcmp(name, "use") == 0) {
        return strcmp(value, "slurm") == 0 ? use_slurm(r)
                                           : wrong(r, "use takes slurm, not '%s'", value);
    }
    if ((at = find(verbs, PL_BATCH_VERBS, name)) >= 0) {
        return check_placeholders(r, value) && put(&s->commands[at], value);
    }
    if ((at = find(phases, PL_BATCH_PHASES, name)) > 0) {
        return put(&s->words[at], value);
    }
    if ((at = find(columns, PL_BATCH_COLUMNS, name)) >= 0) {
        return put(&s->fields[at], value);
    }
    if ((at = number_of(name)) >= 0) {
        return take_number(r, at, value);
    }
    if (strcmp(name, "name") == 0) {
        return put(&s->name, value);
    }
    if (strcmp(name, "separator") == 0) {
        return put(&s->separator, value);
    }
    return take_variable(r, name, value);
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1])) {
        text[--n] = 0;
    }
    return text;
}

/* Modifies the text. */
static bool read_text(reading *r, char *text)
{
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) {
            *next++ = 0;
        }
        r->line++;
        line = trim(line);
        if (strcmp(line, "script:") == 0) {
            const char *script = next ? next : "";
            return check_placeholders(r, script) && put(&r->system->script, script);
        }
        char *equals = strchr(line, '=');
        if (*line == 0 || *line == '#') {
            continue;
        }
        if (!equals) {
            return wrong(r, "expected NAME = VALUE");
        }
        *equals = 0;
        if (!take_setting(r, trim(line), trim(equals + 1))) {
            return false;
        }
    }
    return true;
}

/* The file's text, malloc'ed; NULL with errno. */
static char *load(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(LIMIT + 1) : NULL;
    size_t n = text ? fread(text, 1, LIMIT, file) : 0;
    bool good = text && !ferror(file);
    if (file) {
        fclose(file);
    }
    if (!good) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    return text;
}

static bool is_whole(reading *r)
{
    const pl_batch_system *s = r->system;
    for (int i = 0; i < PL_BATCH_VERBS; i++) {
        if (!s->commands[i]) {
            return wrong(r, "the command '%s' is missing", verbs[i]);
        }
    }
    for (int i = 0; i <= PL_BATCH_STATE; i++) {
        if (!s->fields[i]) {
            return wrong(r, "the column '%s' is missing", columns[i]);
        }
    }
    if (!s->name || !s->script || !s->words[PL_BATCH_PENDING] || !s->words[PL_BATCH_RUNNING] ||
        !s->words[PL_BATCH_ENDED]) {
        return wrong(r, "one of name, script, pending, running and ended is missing");
    }
    return true;
}

static const long usual[PL_BATCH_NUMBERS] = {3, 30, 5, 60, 1440, 120, 8, 1, 60, 10};

pl_batch_system *pl_batch_system_create(const char *path, char *error, size_t size)
{
    pl_batch_system *s = calloc(1, sizeof *s);
    reading r = {s, path ? path : "slurm", 0, error, size};
    char *text = path ? load(path) : strdup(pl_batch_slurm);
    if (!s || !text) {
        snprintf(error, size, "%s: %s", r.path, strerror(errno));
        pl_batch_system_destroy(s);
        free(text);
        return NULL;
    }
    memcpy(s->numbers, usual, sizeof usual);
    bool good = read_text(&r, text) && is_whole(&r);
    free(text);
    if (!good) {
        pl_batch_system_destroy(s);
        return NULL;
    }
    return s;
}

void pl_batch_system_destroy(pl_batch_system *s)
{
    if (!s) {
        return;
    }
    for (int i = 0; i < PL_BATCH_VERBS; i++) {
        free(s->commands[i]);
    }
    for (int i = 0; i < PL_BATCH_PHASES; i++) {
        free(s->words[i]);
    }
    for (int i = 0; i < PL_BATCH_COLUMNS; i++) {
        free(s->fields[i]);
    }
    for (setting *at; (at = s->settings);) {
        s->settings = at->next;
        free(at->who);
        free(at->value);
        free(at);
    }
    free(s->name);
    free(s->script);
    free(s->separator);
    free(s);
}

/* ---- queries ---- */

const char *pl_batch_system_name(const pl_batch_system *s)
{
    return s->name;
}

long pl_batch_system_number(const pl_batch_system *s, pl_batch_number which)
{
    return s->numbers[which];
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; n > 0 && at && *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length == n && memcmp(at, word, n) == 0) {
            return true;
        }
        at += length;
    }
    return false;
}

pl_batch_phase pl_batch_system_phase(const pl_batch_system *s, const char *word)
{
    for (int i = PL_BATCH_PENDING; i < PL_BATCH_PHASES; i++) {
        if (has_word(s->words[i], word)) {
            return (pl_batch_phase)i;
        }
    }
    return PL_BATCH_UNKNOWN;
}

/* The length of the field at `at`, and the start of the next one, or NULL. */
static size_t field_length(const char *separator, const char *at, const char **next)
{
    if (separator && *separator) {
        const char *end = strstr(at, separator);
        *next = end ? end + strlen(separator) : NULL;
        return end ? (size_t)(end - at) : strlen(at);
    }
    size_t n = strcspn(at, " \t"), blanks = strspn(at + n, " \t");
    *next = at[n + blanks] ? at + n + blanks : NULL;
    return n;
}

/* Finds a field by its number, or by the text that it begins with. */
bool pl_batch_system_field(const pl_batch_system *s, const char *line, pl_batch_column column,
                           char *out, size_t size)
{
    const char *wanted = s->fields[column], *next = line;
    long number = wanted ? strtol(wanted, NULL, 10) : 0;
    size_t prefix = wanted && number == 0 ? strlen(wanted) : 0;
    *out = 0;
    for (long i = 1; wanted && next; i++) {
        const char *at = next;
        size_t n = field_length(s->separator, at, &next);
        bool found = prefix ? n >= prefix && memcmp(at, wanted, prefix) == 0 : i == number;
        if (found) {
            size_t skip = prefix + strspn(at + prefix, " ");
            snprintf(out, size, "%.*s", (int)(n > skip ? n - skip : 0), at + skip);
            return true;
        }
    }
    return false;
}

static bool applies(const setting *s, size_t variable, char whose, const char *who)
{
    return s->variable == variable && s->whose == whose &&
           (whose == 0 || (who && strcmp(s->who, who) == 0));
}

const char *pl_batch_system_variable(const pl_batch_system *s, const char *name, const char *user,
                                     const char *group)
{
    int variable = find(variables, VARIABLES, name);
    const struct {
        char whose;
        const char *who;
    } order[] = {{'u', user}, {'g', group}, {0, NULL}};
    for (size_t i = 0; variable >= 0 && i < sizeof order / sizeof *order; i++) {
        for (const setting *at = s->settings; at; at = at->next) {
            if (applies(at, (size_t)variable, order[i].whose, order[i].who)) {
                return at->value;
            }
        }
    }
    return "";
}

/* ---- filling in ---- */

static const char *value_of(const pl_batch_system *s, const pl_batch_value *values,
                            const char *name, size_t length)
{
    const char *user = NULL, *group = NULL;
    char word[32];
    for (const pl_batch_value *v = values; v->name; v++) {
        if (strlen(v->name) == length && memcmp(v->name, name, length) == 0) {
            return v->value ? v->value : "";
        }
        user = strcmp(v->name, "user") == 0 ? v->value : user;
        group = strcmp(v->name, "group") == 0 ? v->value : group;
    }
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    return pl_batch_system_variable(s, word, user, group);
}

/* The text with its placeholders filled in, malloc'ed; sets *empty if a value is empty. */
static char *fill(const pl_batch_system *s, const pl_batch_value *values, const char *text,
                  size_t length, bool *empty)
{
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    for (const char *at = text; file && at < text + length;) {
        size_t n = *at == '{' ? placeholder(at) : 0;
        if (n == 0) {
            fputc(*at++, file);
            continue;
        }
        const char *value = value_of(s, values, at + 1, n);
        *empty = *empty || !*value;
        fputs(value, file);
        at += n + 2;
    }
    if (!file || fclose(file) != 0) {
        free(out);
        return NULL;
    }
    return out;
}

char **pl_batch_system_command(const pl_batch_system *s, pl_batch_verb verb,
                               const pl_batch_value *values)
{
    const char *text = s->commands[verb] ? s->commands[verb] : "";
    char **argv = calloc(strlen(text) / 2 + 2, sizeof *argv);
    size_t count = 0;
    for (const char *at = text; argv && *(at += strspn(at, " \t"));) {
        size_t n = strcspn(at, " \t");
        bool empty = false;
        char *word = fill(s, values, at, n, &empty);
        if (!word) {
            pl_batch_command_free(argv);
            return NULL;
        }
        if (empty) {
            free(word);
        } else {
            argv[count++] = word;
        }
        at += n;
    }
    return argv;
}

void pl_batch_command_free(char **argv)
{
    for (size_t i = 0; argv && argv[i]; i++) {
        free(argv[i]);
    }
    free(argv);
}

char *pl_batch_system_script(const pl_batch_system *s, const pl_batch_value *values)
{
    bool empty = false;
    return fill(s, values, s->script, strlen(s->script), &empty);
}
