/* servers.h - the configuration file: daemons by name, each with its address and where its token lies.
 *
 *     default = lab
 *
 *     [lab]
 *     url = https://lab.example:8443
 *     token-file = /home/me/.config/pliant/lab.token
 *
 * It lies at $PLIANT_CONFIG, else $XDG_CONFIG_HOME/pliant/config or ~/.config/pliant/config. What follows a '#' at a
 * line's beginning is a comment, and stays one when the file is changed here. A token is never in it: its file may be
 * read by its user alone.
 */
#ifndef PLIANT_CLIENTS_CLI_NET_SERVERS_H
#define PLIANT_CLIENTS_CLI_NET_SERVERS_H

#include <stdbool.h>

enum { PL_SERVERS_MAX = 64, PL_SERVER_ERROR = 512 };

typedef struct pl_server {
    char *name, *url, *token_file; /* token_file may be NULL */
} pl_server;

typedef struct pl_servers {
    char *path, *text; /* of the file; text "" where there is none */
    char *chosen;      /* "default = NAME", or NULL */
    pl_server items[PL_SERVERS_MAX];
    int count;
} pl_servers;

/* No file is no fault. False with what is wrong, also where it cannot be understood. */
bool pl_servers_read(pl_servers *out, char error[PL_SERVER_ERROR]);
void pl_servers_clear(pl_servers *servers);
const pl_server *pl_servers_find(const pl_servers *servers, const char *name); /* NULL: none */

/* Change the file: the whole of it is replaced, with mode 0600, and its folder made. The struct is as read afterwards.
 * False with what is wrong. An added one replaces that of the same name. */
bool pl_servers_add(pl_servers *servers, const char *name, const char *url, const char *token_file,
                    char error[PL_SERVER_ERROR]);
bool pl_servers_remove(pl_servers *servers, const char *name, char error[PL_SERVER_ERROR]);
bool pl_servers_choose(pl_servers *servers, const char *name,
                       char error[PL_SERVER_ERROR]); /* NULL: none */

/* Letters, digits, '.', '_' and '-', at most 64, the first a letter or digit. */
bool pl_server_name_good(const char *name);
/* "http://...", "https://..." or "unix:PATH". */
bool pl_server_url_good(const char *url);

/* Where a token that is given for a server is kept beside the configuration: NAME.token; malloc'ed. */
char *pl_server_token_path(const pl_servers *servers, const char *name);
/* Write one, mode 0600. */
bool pl_server_token_write(const char *path, const char *token, char error[PL_SERVER_ERROR]);
/* The word in a token's file, malloc'ed; NULL with what is wrong: it is not there, it is empty, or others may read it. */
char *pl_server_token_read(const char *path, char error[PL_SERVER_ERROR]);

#endif
