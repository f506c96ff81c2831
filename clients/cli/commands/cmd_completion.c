/* pliant completion: scripts for shells, generated from the tables of commands and options. */

#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/listing.h"
#include "clients/cli/commands/words.h"

#include "protocol/scene/params.h"

#include <ctype.h>
#include <string.h>

/* The kind of a value or an argument, derived from the help. */
typedef enum kind {
    ANYTHING,
    FILES,
    FOLDERS,
    SESSIONS,
    SESSIONS_OR_FILES,
    SERVERS,
    COMMANDS,
    WORDS, /* one of a few */
    ITEMS  /* several of a few, with commas */
} kind;

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++) {
        bool begins = at == text || !isalpha((unsigned char)at[-1]);
        if (begins && !isalpha((unsigned char)at[n]))
            return true;
    }
    return false;
}

static kind kind_of(const char *text)
{
    bool here = has_word(text, "FILE") || has_word(text, "PATH") || strstr(text, ".json");
    if (strcmp(text, "[COMMAND]") == 0)
        return COMMANDS;
    if (strcmp(text, "URL|NAME") == 0 || strncmp(text, "SERVER", 6) == 0)
        return SERVERS;
    if (has_word(text, "ID"))
        return here || has_word(text, "DIR") ? SESSIONS_OR_FILES : SESSIONS;
    if (here)
        return FILES;
    if (has_word(text, "DIR"))
        return FOLDERS;
    return islower((unsigned char)*text) && strchr(text, '|') ? WORDS : ANYTHING;
}

/* Print "f32|f64" with blanks in between. */
static void put_words(const char *text)
{
    for (; *text; text++)
        putchar(*text == '|' ? ' ' : *text);
}

/* The items of an option that takes a list, as "a|b"; NULL: the option takes no list. */
static const char *items_of(const pl_option *o)
{
    static char methods[400];
    if (strcmp(o->name, "--fields") == 0)
        return "position|velocity|stress|contacts";
    if (strcmp(o->name, "--scopes") == 0)
        return "read|submit|admin|metrics";
    if (strcmp(o->name, "--what") == 0)
        return pl_plot_words;
    if (strcmp(o->name, "--methods") != 0)
        return NULL;
    const char *const *names = pl_table_param(pl_table_named("solver"), "method")->choices;
    size_t length = 0;
    for (size_t i = 0; names[i]; i++)
        length += (size_t)snprintf(methods + length, sizeof methods - length, "%s%s", i ? "|" : "",
                                   names[i]);
    return methods;
}

static const char *words_of(const pl_option *o)
{
    const char *items = items_of(o);
    return items ? items : pl_option_words(o);
}

static kind kind_of_option(const pl_option *o)
{
    if (!o->value)
        return ANYTHING;
    return items_of(o) ? ITEMS : pl_option_words(o) ? WORDS : kind_of(o->value);
}

/* True if the first argument is one of a few words and others follow: "info|quality FILE". */
static bool begins_with_words(const char *arguments)
{
    size_t n = strcspn(arguments, " ");
    return islower((unsigned char)*arguments) && arguments[n] && memchr(arguments, '|', n);
}

static const pl_option *option_at(const pl_command *c, int i)
{
    return i < PL_OPTIONS_MAX && c->options[i].name ? &c->options[i] : NULL;
}

/* Print in single quotes, for any of the shells. */
static void put_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text == '\n' ? ' ' : *text);
    }
    putchar('\'');
}

/* ---- bash ---- */

static const char *const bash_does[] = {
    [FILES] = "_pliant_files -f",    [FOLDERS] = "_pliant_files -d",
    [SESSIONS] = "_pliant_sessions", [SESSIONS_OR_FILES] = "_pliant_sessions; _pliant_files -f",
    [SERVERS] = "_pliant_servers",   [COMMANDS] = "_pliant_words \"$_pliant_commands\"",
};

static void put_bash_values(const char *command, const pl_option *o)
{
    kind k = kind_of_option(o);
    if (k == ANYTHING)
        return;
    printf("    '%s %s') ", command, o->name);
    if (k == WORDS || k == ITEMS) {
        fputs(k == WORDS ? "_pliant_words '" : "_pliant_items '", stdout);
        put_words(words_of(o));
        puts("' ;;");
    } else {
        printf("%s ;;\n", bash_does[k]);
    }
}

static void put_bash_options(const pl_command *c)
{
    printf("    %s) echo '", c->name);
    for (int i = 0; option_at(c, i); i++)
        printf("%s ", option_at(c, i)->name);
    puts(pl_words_take_last(c, NULL) ? "--last ' ;;" : "' ;;");
}

static void put_bash_arguments(const pl_command *c)
{
    kind k = c->verbs ? ANYTHING : kind_of(c->arguments);
    if (c->verbs) {
        printf("    %s) _pliant_words '", c->name);
        for (const pl_verb *v = c->verbs; v->name; v++)
            printf("%s ", v->name);
        puts("' ;;");
        for (const pl_verb *v = c->verbs; v->name; v++)
            if (kind_of(v->arguments) == SERVERS)
                printf("    '%s %s') %s ;;\n", c->name, v->name, bash_does[SERVERS]);
    } else if (k == WORDS) {
        printf("    %s) _pliant_words '", c->name);
        put_words(c->arguments);
        puts("' ;;");
    } else if (begins_with_words(c->arguments)) {
        printf("    %s) _pliant_words '", c->name);
        for (const char *at = c->arguments; *at != ' '; at++)
            putchar(*at == '|' ? ' ' : *at);
        printf("' ;;\n    '%s '*) %s ;;\n", c->name, bash_does[k]);
    } else if (k != ANYTHING) {
        printf("    %s) %s ;;\n", c->name, bash_does[k]);
    }
}

/* Print the options that take a value; those of a single command with its name in front. */
static void put_valued(void)
{
    for (const pl_option *o = pl_global_options; o->name; o++)
        if (o->value)
            printf("%s ", o->name);
    for (const pl_command *c = pl_commands; c->name; c++)
        for (int i = 0; option_at(c, i); i++)
            if (option_at(c, i)->value)
                printf("%s:%s ", c->name, option_at(c, i)->name);
}

static const char bash_helpers[] =
    "_pliant_words() { COMPREPLY+=($(compgen -W \"$1\" -- \"$cur\")); }\n"
    "_pliant_files() { compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen $1 -- \"$cur\")); "
    "}\n"
    "_pliant_takes() { [[ $_pliant_valued == *\" $2 \"* || $_pliant_valued == *\" $1:$2 \"* ]]; }\n"
    "_pliant_ask() { timeout 3 \"${COMP_WORDS[0]}\" \"${where[@]}\" \"$@\" 2>/dev/null </dev/null; "
    "}\n"
    "_pliant_items() {\n"
    "    local head= word\n"
    "    [[ $cur == *,* ]] && head=${cur%,*},\n"
    "    for word in $1; do [[ $head$word == \"$cur\"* ]] && COMPREPLY+=(\"$head$word\"); done\n"
    "    compopt -o nospace 2>/dev/null\n"
    "}\n"
    "_pliant_sessions() {\n"
    "    local word quoted\n"
    "    while IFS= read -r word; do\n"
    "        printf -v quoted %q \"$word\"\n"
    "        if [[ $cur == [\\\"\\']* ]]; then quoted=$word; fi\n"
    "        [[ $quoted == \"${cur#[\\\"\\']}\"* ]] && COMPREPLY+=(\"$quoted\")\n"
    "    done < <(_pliant_ask completion sessions)\n"
    "}\n"
    "_pliant_servers() { _pliant_words \"$(_pliant_ask server list | cut -d' ' -f1)\"; }\n";

static const char bash_main[] =
    "_pliant() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command= verb= where=() i word\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then "
    "prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ $word == -* ]]; then\n"
    "            if _pliant_takes \"$command\" \"$word\"; then\n"
    "                ((i++))\n"
    "                [[ ${COMP_WORDS[i]} == = ]] && ((i++))\n"
    "                case $word in --server|--token|--state)\n"
    "                    [[ -z $command || $word != --state || $command != list ]] && "
    "((i < COMP_CWORD)) &&\n"
    "                        where+=(\"$word\" \"${COMP_WORDS[i]}\") ;;\n"
    "                esac\n"
    "            fi\n"
    "        elif [[ -z $command ]]; then command=$word; _pliant_alias\n"
    "        elif [[ -z $verb ]]; then verb=$word\n"
    "        fi\n"
    "    done\n"
    "    if _pliant_takes \"$command\" \"$prev\"; then\n"
    "        _pliant_value \"$command $prev\"\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        _pliant_words \"$(_pliant_options \"$command\") $_pliant_globals\"\n"
    "    elif [[ -z $command ]]; then\n"
    "        _pliant_words \"$_pliant_commands\"\n"
    "    else\n"
    "        _pliant_argument \"$command\" \"$verb\"\n"
    "    fi\n"
    "}\n"
    "complete -F _pliant pliant\n";

static void print_bash(void)
{
    printf("# bash completion of pliant %s, made by: pliant completion bash\n", PLIANT_VERSION);
    fputs("_pliant_commands='", stdout);
    for (const pl_command *c = pl_commands; c->name; c++)
        printf("%s ", c->name);
    fputs("'\n_pliant_globals='", stdout);
    for (const pl_option *o = pl_global_options; o->name; o++)
        printf("%s ", o->name);
    fputs("'\n_pliant_valued=' ", stdout);
    put_valued();
    puts("'\n_pliant_alias() {\n    case $command in");
    for (const pl_command *c = pl_commands; c->name; c++)
        if (c->alias)
            printf("    %s) command=%s ;;\n", c->alias, c->name);
    printf("    esac\n}\n%s_pliant_options() {\n    case $1 in\n", bash_helpers);
    for (const pl_command *c = pl_commands; c->name; c++)
        put_bash_options(c);
    puts("    esac\n}\n_pliant_value() {\n    case $1 in");
    for (const pl_command *c = pl_commands; c->name; c++)
        for (int i = 0; option_at(c, i); i++)
            put_bash_values(c->name, option_at(c, i));
    puts("    *' --server') _pliant_servers ;;\n    *' --state') _pliant_files -d ;;\n    esac\n}");
    puts("_pliant_argument() {\n    case \"$1${2:+ $2}\" in");
    for (const pl_command *c = pl_commands; c->name; c++)
        put_bash_arguments(c);
    puts(
        "    *' '*) [[ $_pliant_verbs != *\" $1 \"* ]] && _pliant_argument \"$1\" ;;\n    esac\n}");
    fputs("_pliant_verbs=' ", stdout);
    for (const pl_command *c = pl_commands; c->name; c++)
        if (c->verbs)
            printf("%s ", c->name);
    printf("'\n%s", bash_main);
}

/* ---- zsh ---- */

/* zsh runs the script of bash; its bashcompinit understands these functions. */
static void print_zsh(void)
{
    puts("autoload -Uz bashcompinit && bashcompinit");
    print_bash();
}

/* ---- fish ---- */

static void put_fish_kind(kind k, const char *words)
{
    switch (k) {
    case FILES:
        fputs(" -F", stdout);
        break;
    case FOLDERS:
        fputs(" -a '(__fish_complete_directories)'", stdout);
        break;
    case SESSIONS:
        fputs(" -a '(__pliant_sessions)'", stdout);
        break;
    case SESSIONS_OR_FILES:
        fputs(" -F -a '(__pliant_sessions)'", stdout);
        break;
    case COMMANDS:
        fputs(" -a '", stdout);
        for (const pl_command *c = pl_commands; c->name; c++)
            printf("%s ", c->name);
        putchar('\'');
        break;
    case SERVERS:
        fputs(" -a '(__pliant_first server list)'", stdout);
        break;
    case WORDS:
    case ITEMS:
        fputs(" -a '", stdout);
        put_words(words);
        putchar('\'');
        break;
    case ANYTHING:
        break;
    }
}

static void put_fish_option(const char *command, const pl_option *o)
{
    printf("complete -c pliant");
    if (command)
        printf(" -n '__fish_seen_subcommand_from %s'", command);
    kind k = kind_of_option(o);
    printf(" -l %s%s -d ", o->name + 2, !o->value ? "" : k == FILES ? " -r" : " -x");
    put_quoted(o->help);
    put_fish_kind(k, k == WORDS || k == ITEMS ? words_of(o) : NULL);
    putchar('\n');
}

static void print_fish(void)
{
    printf("# fish completion of pliant %s, made by: pliant completion fish\n", PLIANT_VERSION);
    puts("function __pliant_first\n    timeout 3 pliant $argv 2>/dev/null | string replace -r ' "
         ".*' ''"
         "\nend\nfunction __pliant_sessions\n    timeout 3 pliant completion sessions 2>/dev/null\n"
         "end\ncomplete -c pliant -f");
    for (const pl_option *o = pl_global_options; o->name; o++)
        put_fish_option(NULL, o);
    for (const pl_command *c = pl_commands; c->name; c++) {
        printf("complete -c pliant -n __fish_use_subcommand -a %s -d ", c->name);
        put_quoted(c->summary);
        putchar('\n');
        for (const pl_verb *v = c->verbs; v && v->name; v++) {
            printf("complete -c pliant -n '__fish_seen_subcommand_from %s' -a %s -d ", c->name,
                   v->name);
            put_quoted(v->summary);
            putchar('\n');
        }
        kind k = c->verbs ? ANYTHING : kind_of(c->arguments);
        if (k != ANYTHING) {
            printf("complete -c pliant -n '__fish_seen_subcommand_from %s'", c->name);
            put_fish_kind(k, c->arguments);
            putchar('\n');
        }
        for (int i = 0; option_at(c, i); i++)
            put_fish_option(c->name, option_at(c, i));
    }
}

/* ---- sessions, for the scripts ---- */

static void print_session(const pl_cli *cli, const pl_json *session)
{
    (void)cli;
    const char *name = pl_json_string(session, "name", "");
    printf("%.12s\n", pl_json_string(session, "id", ""));
    if (*name && !strchr(name, '\n'))
        puts(name);
}

int pl_command_completion(pl_cli *cli)
{
    enum { SESSIONS_MAX = 200 };
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(cli->arguments[0], shells[i].name) == 0) {
            shells[i].print();
            return PL_EXIT_OK;
        }
    if (strcmp(cli->arguments[0], "sessions") == 0)
        return pl_listing_print(cli, "/v1/sessions", SESSIONS_MAX, print_session);
    return pl_cli_fail(cli, PL_EXIT_USAGE, "'%s': expected bash, zsh or fish", cli->arguments[0]);
}
