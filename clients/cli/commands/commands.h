/* commands.h - the table of commands, their functions, and the help generated from the table. */
#ifndef PLIANT_CLIENTS_CLI_COMMANDS_COMMANDS_H
#define PLIANT_CLIENTS_CLI_COMMANDS_COMMANDS_H

#include "clients/cli/base/command.h"

/* Ends with a row without a name. */
extern const pl_command pl_commands[];
extern const pl_option pl_global_options[];
/* The end of the help: ids and exit statuses. */
extern const char pl_help_end[];
/* Find a command by name or alias; NULL after printing an error if none matches. */
const pl_command *pl_command_find(const pl_cli *cli, const char *name);
int pl_command_help(pl_cli *cli);
/* Two examples of a command (examples.c). */
enum { PL_EXAMPLES = 2 };
const char *const *pl_examples_of(const char *command);
/* The words that `plot --what` takes besides metrics, as "a|b". */
extern const char pl_plot_words[];
/* --help, --help of a command, and --man (help.c). */
void pl_help_print(void);
void pl_help_print_command(const pl_command *command);
void pl_help_print_manual(void);

int pl_command_run(pl_cli *cli);
int pl_command_submit(pl_cli *cli);
int pl_command_list(pl_cli *cli);
int pl_command_show(pl_cli *cli);
int pl_command_follow(pl_cli *cli);
int pl_command_watch(pl_cli *cli);
int pl_command_contacts(pl_cli *cli);
int pl_command_frames(pl_cli *cli);
int pl_command_metrics(pl_cli *cli);
int pl_command_events(pl_cli *cli);
int pl_command_plot(pl_cli *cli);
int pl_command_export(pl_cli *cli);
int pl_command_check(pl_cli *cli);
int pl_command_compare(pl_cli *cli);
int pl_command_curve(pl_cli *cli);
int pl_command_verify(pl_cli *cli);
int pl_command_mesh(pl_cli *cli);
int pl_command_branch(pl_cli *cli);
int pl_command_snapshot(pl_cli *cli);
int pl_command_control(pl_cli *cli);
int pl_command_probes(pl_cli *cli);
int pl_command_step(pl_cli *cli);
int pl_command_edit(pl_cli *cli);
int pl_command_queue(pl_cli *cli);
int pl_command_meshes(pl_cli *cli);
int pl_command_pause(pl_cli *cli);
int pl_command_resume(pl_cli *cli);
int pl_command_cancel(pl_cli *cli);
int pl_command_delete(pl_cli *cli);
int pl_command_validate(pl_cli *cli);
int pl_command_topology(pl_cli *cli);
int pl_command_log(pl_cli *cli);
int pl_command_scene(pl_cli *cli);
int pl_command_capabilities(pl_cli *cli);
int pl_command_fit(pl_cli *cli);
extern const pl_verb pl_sweep_verbs[];
extern const char pl_sweep_notes[], pl_fit_notes[];
int pl_token_create(pl_cli *cli);
int pl_token_list(pl_cli *cli);
int pl_token_revoke(pl_cli *cli);
int pl_user_list(pl_cli *cli);
int pl_user_create(pl_cli *cli);
int pl_user_change(pl_cli *cli);
int pl_user_disable(pl_cli *cli);
int pl_user_enable(pl_cli *cli);
int pl_user_remove(pl_cli *cli);
int pl_group_list(pl_cli *cli);
int pl_group_create(pl_cli *cli);
int pl_group_remove(pl_cli *cli);
int pl_group_add(pl_cli *cli);
int pl_group_drop(pl_cli *cli);
int pl_command_usage(pl_cli *cli);
int pl_group_change(pl_cli *cli);
int pl_devices_list(pl_cli *cli);
int pl_devices_drain(pl_cli *cli);
int pl_devices_resume(pl_cli *cli);
int pl_command_audit(pl_cli *cli);
int pl_command_controls(pl_cli *cli);
int pl_command_schema(pl_cli *cli);
int pl_command_explain(pl_cli *cli);
int pl_command_webhook_secret(pl_cli *cli);
int pl_server_add(pl_cli *cli);
int pl_server_list(pl_cli *cli);
int pl_server_remove(pl_cli *cli);
int pl_server_default(pl_cli *cli);
int pl_command_share(pl_cli *cli);
int pl_command_login(pl_cli *cli);
int pl_command_whoami(pl_cli *cli);
int pl_command_version(pl_cli *cli);
int pl_command_completion(pl_cli *cli);

#endif
