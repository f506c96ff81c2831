/* api.h - the daemon's requests as the commands need them. Every failure is printed on standard error (with --json, as
 * the problem report on standard output) and returned as an exit status.
 */
#ifndef PLIANT_CLIENTS_CLI_NET_API_H
#define PLIANT_CLIENTS_CLI_NET_API_H

#include "clients/cli/base/command.h"
#include "clients/cli/net/http_client.h"

enum { PL_ID_TEXT = 33 };

/* Find server and token and create cli->client, once. */
int pl_api_connect(pl_cli *cli);
/* If the server was found in a state directory, look there again: a restarted daemon may listen elsewhere. */
void pl_api_find_again(pl_cli *cli);
/* Call and check the reply. PL_EXIT_OK for a status below 300, with *answer for the caller to clear; otherwise the
 * error is printed and everything cleared. */
int pl_api_call(pl_cli *cli, const pl_http_call *call, pl_http_answer *answer);
/* POST a JSON document with an Idempotency-Key (NULL: none); otherwise as pl_api_call. */
int pl_api_post(pl_cli *cli, const char *path, const char *body, size_t size, const char *key,
                pl_http_answer *answer);
/* Print why a call failed; returns the exit status. */
int pl_api_failed(pl_cli *cli, pl_http_outcome outcome, const pl_http_answer *answer);
/* GET a JSON document. */
int pl_api_get(pl_cli *cli, const char *path, pl_json **out);
/* A request with a JSON body (taken; NULL: none). *out gets the reply, or NULL if it has no body; `out` may be NULL. */
int pl_api_order(pl_cli *cli, const char *method, const char *path, char *body, pl_json **out);
/* The text of a body that was written to `w`, for pl_api_order. NULL, and the writer is released, unless `good`. */
char *pl_api_body(pl_json_writer *w, bool good);
/* GET an endless reply; `sink` takes its body as it arrives. The outcome is not checked. */
pl_http_outcome pl_api_stream(pl_cli *cli, const char *path, const char *accept,
                              bool (*sink)(void *context, const char *data, size_t size),
                              void *context, pl_http_answer *answer);
/* GET a document as text, malloc'ed, exactly as it came. */
int pl_api_get_text(pl_cli *cli, const char *path, const char *accept, char **out, size_t *size);
/* The states of a session, as GET /v1/sessions?state= takes them. */
#define PL_STATE_WORDS "checking|queued|running|paused|succeeded|failed|rejected|cancelled"

/* Stands for the user's newest session. */
#define PL_LAST "--last"
/* Resolve the beginning of an ID, a name or PL_LAST to a full session ID. An ID takes precedence over a name. */
int pl_api_resolve(pl_cli *cli, const char *word, char id[PL_ID_TEXT]);
/* The same for another kind of object, given the path of its list and its name. */
int pl_api_resolve_in(pl_cli *cli, const char *list, const char *noun, const char *beginning,
                      char id[PL_ID_TEXT]);
/* `format` with one %s for the id, as malloc'ed path; NULL when out of memory. */
char *pl_api_path(const char *format, const char *id);
/* Escape a text for use as a query value: reserved characters become %XX. malloc'ed, or NULL. */
char *pl_api_escape(const char *text);
/* Print a JSON value on standard output: indented, or on one line with --json. */
void pl_api_print(const pl_cli *cli, const pl_json *value);

#endif
