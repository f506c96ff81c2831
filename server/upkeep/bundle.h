/* bundle.h - `pliantd support-bundle`: a zip archive for a fault report, with doctor's findings, the machine, the
 * options, counts of the state directory, and the failures of sessions.
 *
 * It contains no scene, mesh, frame, name, label, webhook, user or secret. It copies only listed members of documents,
 * and replaces 64 hex digits in a row (tokens and their hashes) in every text.
 */
#ifndef PLIANT_SERVER_UPKEEP_BUNDLE_H
#define PLIANT_SERVER_UPKEEP_BUNDLE_H

/* Run the command; argv[0] is "support-bundle", then FILE, --log FILE and the daemon's options. Returns the exit
 * status. */
int pl_bundle_command(int argc, char **argv);

#endif
