/* problem.h - problem reports (RFC 9457) and the small JSON documents around them. */
#ifndef PLIANT_PROTOCOL_TEXT_PROBLEM_H
#define PLIANT_PROTOCOL_TEXT_PROBLEM_H

#include "engine/scene/fault.h"
#include "protocol/text/json.h"

/* {"type": "/problems/CODE", "title", "status", "detail", "faults": [...]} as malloc'ed text; faults beyond the
 * list's limit are counted in "faults_total". faults may be NULL. NULL only if out of memory. */
char *pl_problem_encode(int status, const char *code, const char *title, const char *detail,
                        const pl_faults *faults);

/* Parses a problem report (clients): fills faults, copies title/detail into malloc'ed strings. If the text is not a
 * problem report, returns false and writes nothing. */
bool pl_problem_decode(const char *text, size_t length, int *status, char **title, char **detail,
                       pl_faults *faults);

/* Writes the array [{"pointer", "code", "got", "expected", "hint"}, ...] as the next value of a document; and
 * appends such an array's items to a list, whose total becomes at least `total`. */
void pl_faults_encode(pl_json_writer *w, const pl_faults *faults);
void pl_faults_decode(const pl_json *array, int64_t total, pl_faults *faults);

/* The known name nearest to `name` (edit distance <= 2, or <= a third of its length), or NULL. */
const char *pl_nearest(const char *name, const char *const *known, size_t count);

#endif
