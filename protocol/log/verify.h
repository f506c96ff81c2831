/* verify.h - check every file of a session directory: what is damaged, where, what can still be
 * read, and what helps. Reads only; also while a worker is at work.
 *
 * What each file is held against: head.json, exit.json, preflight.json and session.json their seals;
 * scene.json, effective.json, topology.json, triangles.npy and tets.npy the sums in preflight.json;
 * meshes/HASH their names; records of log/ and control.log their two CRCs, their order and the
 * zeros of their padding; .idx files the records they point at; checkpoints their CRCs. worker.log
 * is text for people and is held against nothing.
 */
#ifndef PLIANT_PROTOCOL_LOG_VERIFY_H
#define PLIANT_PROTOCOL_LOG_VERIFY_H

#include "protocol/log/verify_report.h"

/* Zero-initialise *out; pl_verify_report_clear releases it, also after a failure. PL_OK: everything
 * was looked at, whatever was found. PL_NO_MEMORY, PL_FAILED; what can not be read is a damage. */
pl_status pl_verify(int dir_fd, const pl_verify_options *options, pl_verify_report *out);
/* Write head.json and the indices again from the segments. PL_INVALID where a worker holds the lock,
 * PL_IO with errno. Nothing else can be made again; no byte of a segment is touched. */
pl_status pl_verify_repair(int dir_fd);

#endif
