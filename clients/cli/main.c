/* pliant - the command line. Parses its words, finds the command in the table of commands.c and runs it. */

#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/words.h"
#include "clients/cli/net/http_client.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    pl_cli cli = {0};
    pl_terminal_init(&cli.out, stdout);
    pl_terminal_init(&cli.err, stderr);
    int status = pl_words_read(&cli, argc, argv);
    if (status >= 0)
        return status;
    pl_interrupt_catch();
    status = cli.verb ? cli.verb->run(&cli) : cli.command->run(&cli);
    if (fflush(stdout) != 0 && status == PL_EXIT_OK)
        status = pl_cli_fail(&cli, PL_EXIT_FILE, "standard output: %s", strerror(errno));
    pl_http_client_destroy(cli.client);
    free(cli.server_url);
    return status;
}
