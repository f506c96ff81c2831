/* servers.h - the configuration file: daemons by name, each with its address and the path of its token.
 *
 *     default = lab
 *
 *     [lab]
 *     url = https://lab.example:8443
 *     token-file = /home/me/.config/pliant/lab.token
 *
 * The file is $PLIANT_CONFIG, else $XDG_CONFIG_HOME/pliant/config or ~/.config/pliant/config. A '#' at the beginning of
 * a line starts a comment; comments survive changes made here. The file never contains a token: only its user may read
 * a token's file.
 */
#ifndef PLIANT_CLIENTS_CLI_NET_SERVERS_H
#define PLIANT_CLIENTS_CLI_NET_SERVERS_H

#include <stdbool.h>

enum { PL_SERVERS_MAX = 64, PL_SERVER_ERROR = 512 };

typedef struct pl_server {
    char *name, *url, *token_file; /* token_file may be NULL */
} pl_server;

typedef struct pl_servers {
    char *path, *text; /* of the file; text "" if it is missing */
    char *chosen;      /* "default = NAME", or NULL */
    pl_server items[PL_SERVERS_MAX];
    int count;
} pl_servers;

/* A missing file is not an error. False with the error, also if the file cannot be parsed. */
bool pl_servers_read(pl_servers *out, char error[PL_SERVER_ERROR]);
void pl_servers_clear(pl_servers *servers);
const pl_server *pl_servers_find(const pl_servers *servers, const char *name); /* NULL: none */

/* Change the file: it is replaced as a whole, with mode 0600, and its folder created. The struct is updated as if read
 * again. False with the error. Adding a server replaces one of the same name. */
bool pl_servers_add(pl_servers *servers, const char *name, const char *url, const char *token_file,
                    char error[PL_SERVER_ERROR]);
bool pl_servers_remove(pl_servers *servers, const char *name, char error[PL_SERVER_ERROR]);
bool pl_servers_choose(pl_servers *servers, const char *name,
                       char error[PL_SERVER_ERROR]); /* NULL: none */

/* Letters, digits, '.', '_' and '-', at most 64, the first a letter or digit. */
bool pl_server_name_good(const char *name);
/* "http://...", "https://..." or "unix:PATH". */
bool pl_server_url_good(const char *url);

/* Where a server's token is kept beside the configuration: NAME.token; malloc'ed. */
char *pl_server_token_path(const pl_servers *servers, const char *name);
/* Write a token's file, mode 0600. */
bool pl_server_token_write(const char *path, const char *token, char error[PL_SERVER_ERROR]);
/* Read the word in a token's file, malloc'ed. NULL with the error: the file is missing, empty, or readable by
 * others. */
char *pl_server_token_read(const char *path, char error[PL_SERVER_ERROR]);

#endif
