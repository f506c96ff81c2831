/* sweep.h - many sessions that differ in parameters. The document contains a scene, the varying parameters and
 * their sampling, which give rows of values; each row gives a scene.
 *
 *     {"name": "stiffness", "scene": {...},
 *      "parameters": [{"path": "/materials/rubber/young", "range": [1e5, 1e7], "count": 5, "scale": "log"},
 *                     {"path": "/solver/method", "values": ["admm", "lbfgs"]}],
 *      "sampling": "grid", "running": 4,
 *      "results": [{"metric": "energy/kinetic", "at": "max"}, {"expect": true}],
 *      "stop": {"result": "energy/kinetic max", "above": 1e3}}
 *
 * A grid has every combination, the last parameter fastest. The other samplings draw `samples` points (sample.h): a
 * list of values is divided into equal parts. "csv" replaces parameters and lists the rows: its head has the paths.
 * "fit" begins with samples and searches on from the best of them (fit.h): its rows become known one after the
 * other, and its first result is the misfit. Computed numbers have 12 digits, which hides differences between
 * machines' logarithms.
 */
#ifndef PLIANT_PROTOCOL_SWEEP_SWEEP_H
#define PLIANT_PROTOCOL_SWEEP_SWEEP_H

#include "protocol/sweep/fit.h"
#include "protocol/sweep/sample.h"
#include "protocol/text/json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PL_SWEEP_ROWS_MAX = 10000,
    PL_SWEEP_PARAMETERS_MAX = 32,
    PL_SWEEP_RESULTS_MAX = 32,
    PL_SWEEP_RUNNING_MAX = 64,
    PL_SWEEP_NAME_MAX = 64, /* of a result or a parameter */
    PL_SWEEP_PATH_MAX = 256,
    PL_SWEEP_BYTES_MAX =
        1 << 27 /* maximum of rows times the scene's bytes: the amount to check before acceptance */
};

/* A varying parameter: values, or numbers from low to high. The sweep owns the texts. */
typedef struct pl_sweep_parameter {
    char *path;    /* a JSON pointer into the scene */
    char *name;    /* as posted, or the path without its first '/' */
    char **values; /* JSON texts; NULL: an interval */
    int64_t count; /* number of values, or of points of a range; 0: an interval no grid can use */
    double low, high;
    bool log, integer;
} pl_sweep_parameter;

/* The frame of a run from which a result comes. */
typedef enum pl_sweep_at { PL_AT_LAST, PL_AT_MIN, PL_AT_MAX, PL_AT_MEAN } pl_sweep_at;
extern const char *const pl_sweep_at_names[]; /* NULL-terminated */

/* A number of each run. */
typedef struct pl_sweep_result {
    char *name;
    char *metric; /* its path in a metrics record, parts joined by '/'; NULL: not a metric */
    char *probe;  /* its name; NULL: not a probe */
    char *expect; /* its name, "" for all together: 1 holds, 0 does not; NULL: not an expectation */
    bool misfit;  /* the result is a fit's misfit */
    pl_sweep_at at;
} pl_sweep_result;

/* Stops starting rows once a run has ended with a result above, or below, a bound. */
typedef struct pl_sweep_stop {
    int32_t result; /* -1: none */
    bool above;
    double bound;
} pl_sweep_stop;

/* Condition that ends a run: a record above, or below, a bound. */
typedef struct pl_run_stop {
    pl_fit_quantity of; /* both NULL: none */
    bool above;
    double bound;
} pl_run_stop;

typedef struct pl_sweep {
    char *name;
    pl_json *document;    /* as posted */
    const pl_json *scene; /* index of the row's parameter in it */
    pl_sampling sampling;
    bool listed; /* rows given by "csv" */
    int64_t samples, seed, running;
    pl_sweep_parameter *parameters;
    int32_t parameter_count;
    pl_sweep_result *results;
    int32_t result_count;
    pl_sweep_stop stop;
    pl_run_stop stop_runs;
    pl_fit *fit;                 /* NULL: every row is given */
    int64_t row_count, row_room; /* number of known rows; maximum number of rows */
    char **values;               /* [row][parameter]: JSON texts */
} pl_sweep;

/* Decodes a document, with its rows. PL_OK; otherwise the sweep is empty: PL_INVALID with every fault, or
 * PL_NO_MEMORY. Accepts any text; one that is not JSON gives one fault, bad_json. */
pl_status pl_sweep_decode(const char *text, size_t length, pl_sweep *out, pl_faults *faults);
void pl_sweep_clear(pl_sweep *sweep);

/* Appends a row to a fit, at places in [0, 1] of its intervals. False if out of memory or room. */
bool pl_sweep_append(pl_sweep *sweep, const double *u);
/* The same from a list of values. */
bool pl_sweep_append_values(pl_sweep *sweep, const pl_json *values);

const char *pl_sweep_value(const pl_sweep *sweep, int64_t row, int32_t parameter);
/* The value as a number; NaN if it is not a number. */
double pl_sweep_number(const pl_sweep *sweep, int64_t row, int32_t parameter);
/* The scene of a row, with "sweep" and "row" among its labels (the id; NULL: without). malloc'ed, or NULL if out of
 * memory. */
char *pl_sweep_scene(const pl_sweep *sweep, int64_t row, const char *id, size_t *length);
/* Turns the faults of a row's scene into faults of the sweep's document: a fault of a varying value is the
 * parameter's, any other the scene's. A fault that another row had with the same value is left out. */
void pl_sweep_locate(const pl_sweep *sweep, int64_t row, const pl_faults *of_row,
                     pl_faults *faults);

#endif
