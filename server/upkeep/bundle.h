/* bundle.h - `pliantd support-bundle`: a zip archive to send along with a report: what doctor says, the machine, the
 * options, the state directory in numbers, and of sessions that failed what they failed of.
 *
 * It has no scene, mesh, frame, name, label, webhook or user, and no secret: only named members of documents are taken
 * over, and in every text 64 hex digits in a row (tokens and their hashes) are replaced.
 */
#ifndef PLIANT_SERVER_UPKEEP_BUNDLE_H
#define PLIANT_SERVER_UPKEEP_BUNDLE_H

/* argv[0] is "support-bundle", then FILE, --log FILE and the daemon's options. The exit status. */
int pl_bundle_command(int argc, char **argv);

#endif
