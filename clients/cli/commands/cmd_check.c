/* check: compares stored sessions with the expectations of their scenes. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/session/check_session.h"

#include <stdlib.h>
#include <string.h>

/* A session that did not succeed fails the check, whatever its frames contain. */
static int check_state(pl_session_source *s)
{
    char state[32] = "unknown";
    if (s->dir_fd >= 0) {
        pl_exit e;
        if (pl_exit_read(s->dir_fd, &e) == PL_OK)
            snprintf(state, sizeof state, "%s", e.state);
        else
            snprintf(state, sizeof state, "not at an end");
    } else {
        pl_json *session = NULL;
        char *path = pl_api_path("/v1/sessions/%s", s->id);
        int status = pl_api_get(s->cli, path, &session);
        free(path);
        if (status != PL_EXIT_OK)
            return status;
        snprintf(state, sizeof state, "%s", pl_json_string(session, "state", "unknown"));
        pl_json_free(session);
    }
    if (strcmp(state, "succeeded") == 0)
        return PL_EXIT_OK;
    return pl_cli_fail(s->cli, PL_EXIT_FAILED, "the session has not succeeded: it is %s", state);
}

int pl_command_check(pl_cli *cli)
{
    int worst = PL_EXIT_OK;
    for (int i = 0; i < cli->argument_count; i++) {
        pl_session_source source;
        int status = pl_session_source_open(cli, cli->arguments[i], &source);
        if (status == PL_EXIT_OK) {
            if (!cli->json && cli->argument_count > 1)
                printf("%s\n", cli->arguments[i]);
            int stood = check_state(&source);
            status = pl_check_session(&source);
            status = stood != PL_EXIT_OK ? stood : status;
            pl_session_source_close(&source);
        }
        worst = worst == PL_EXIT_OK ? status : worst;
    }
    return worst;
}
