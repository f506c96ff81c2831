/* verify.h - checks every file of a session directory and reports each damage: its place, what is still readable
 * and what to do. Reads only, and works while a worker runs.
 *
 * Each file is checked against:
 *   head.json, exit.json, warnings.json, preflight.json, session.json       its seal
 *   scene.json, effective.json, topology.json, triangles.npy, tets.npy      size and sum in preflight.json
 *   meshes/HASH                                                             its name
 *   records of log/ and control.log                                         two CRCs, order, zeros of the padding
 *   log/ *.idx                                                              the records it points at
 *   checkpoints                                                             its CRCs
 * worker.log is text for people and is not checked.
 */
#ifndef PLIANT_PROTOCOL_LOG_VERIFY_H
#define PLIANT_PROTOCOL_LOG_VERIFY_H

#include "protocol/log/verify_report.h"

/* Zero-initialise *out; pl_verify_report_clear releases it, also after a failure. PL_OK if every file was checked,
 * whatever was found; PL_NO_MEMORY; PL_FAILED if `progress` ended it. An unreadable file counts as damaged. */
pl_status pl_verify(int dir_fd, const pl_verify_options *options, pl_verify_report *out);
/* Rebuilds head.json and the indices from the segments, which are not changed. Other files cannot be rebuilt.
 * PL_INVALID if a worker holds the lock, PL_IO with errno. */
pl_status pl_verify_repair(int dir_fd);

#endif
