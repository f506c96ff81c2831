/* problems.h - the table of all problems that a reply may report, with meaning and remedy. The `type` of a problem
 * report, /problems/CODE, is the address of its page; the API's description lists them all.
 */
#ifndef PLIANT_SERVER_HTTP_PROBLEMS_H
#define PLIANT_SERVER_HTTP_PROBLEMS_H

#include "server/http/http.h"

typedef struct pl_problem {
    int status; /* its usual status */
    const char *code, *meaning, *remedy;
} pl_problem;

extern const pl_problem pl_problems[]; /* ends with a code of NULL */

void pl_handle_problems(pl_request *r); /* the list */
void pl_handle_problem(pl_request *r);  /* one page, as HTML or plain text */

#endif
