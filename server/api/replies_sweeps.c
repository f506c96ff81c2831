#include "server/api/replies.h"

static const pl_reply_field sweep_request_fields[] = {
    {"name?", "string", "display name"},
    {"scene", "#Scene", "scene of every run, with a value at each path that varies"},
    {"parameters?", "[]#SweepParameter", "1 to 32 values that vary"},
    {"sampling?", "=grid,random,latin_hypercube,sobol",
     "grid (default): every combination; else `samples` points"},
    {"samples?", "integer", "number of points, at most 10000"},
    {"seed?", "integer", "the same seed gives the same rows on every machine; default: 0"},
    {"csv?", "string", "instead of parameters: a line of paths, then a line for each run"},
    {"running?", "integer", "runs queued or running at once, 1 to 64; default: 4"},
    {"results?", "[]#SweepResult", "numbers of each run that the table shows, at most 32"},
    {"stop?", "#SweepStop", "start no further row after a run with such a result"},
    {"stop_runs?", "#RunStop", "end a run early when one of its records is past the bound"},
    {"fit?", "#Fit", "search for parameter values with which runs match measurements"},
    {0},
};
static const pl_reply_field fit_fields[] = {
    {"measured", "[]#FitSeries", "1 to 16 series, at most 5000 points together"},
    {"method?", "=bobyqa,cobyla,nelder_mead,subplex,direct",
     "default: bobyqa, or cobyla for one parameter"},
    {"evaluations?", "integer",
     "maximum number of runs, with the samples, 1 to 1000; default: 200"},
    {"tolerance?", "number",
     "converged when all parameters change by less, as a fraction of their intervals; default: "
     "1e-4"},
    {0},
};
static const pl_reply_field fit_series_fields[] = {
    {"probe?", "string", "measured quantity: one of output.probes"},
    {"metric?", "string", "or a number of the metrics record, by its path"},
    {"against?", "#FitQuantity", "quantity of the first number of a point; default: the time"},
    {"points?", "[]any", "points [x, y]"},
    {"csv?", "string", "instead of points: two numbers in each line"},
    {"weight?", "number", "weight of the series in the misfit; default: 1"},
    {0},
};
static const pl_reply_field fit_quantity_fields[] = {
    {"probe?", "string", "one of output.probes"},
    {"metric?", "string", "or a number of the metrics record, by its path"},
    {0},
};
static const pl_reply_field sweep_parameter_fields[] = {
    {"path", "string", "JSON pointer to a value of the scene"},
    {"name?", "string", "column of the table; default: the path without its first slash"},
    {"values?", "[]any", "values"},
    {"range?", "[]number", "first and last value, instead of values"},
    {"min?", "number", "smallest value, instead of range"},
    {"max?", "number", "largest value, with min"},
    {"count?", "integer", "number of values of a range in a grid"},
    {"scale?", "=linear,log", "spacing of an interval; default: linear"},
    {"integer?", "boolean", "round the values of an interval"},
    {0},
};
static const pl_reply_field sweep_result_fields[] = {
    {"name?", "string", "column of the table; default: derived from its other keys"},
    {"metric?", "string", "path in a metrics record, such as energy/kinetic"},
    {"probe?", "string", "name of one of output.probes, instead of metric"},
    {"expect?", "any",
     "name of one of the scene's expectations, or true for all: 1 if it holds, else 0"},
    {"at?", "=last,min,max,mean", "frames it is taken from; default: last"},
    {0},
};
static const pl_reply_field sweep_stop_fields[] = {
    {"result", "string", "name of a result"},
    {"above?", "number", "bound"},
    {"below?", "number", "bound, instead of above"},
    {0},
};
static const pl_reply_field run_stop_fields[] = {
    {"probe?", "string", "one of output.probes"},
    {"metric?", "string", "or a number of the metrics record, by its path"},
    {"above?", "number", "bound"},
    {"below?", "number", "bound, instead of above"},
    {0},
};
static const pl_reply_field sweep_column_fields[] = {
    {"name", "string", "column of the table"},
    {"path", "string", "JSON pointer into the scene"},
    {"log", "boolean", "true if its values are spaced logarithmically"},
    {0},
};
static const pl_reply_field sweep_counts_fields[] = {
    {"waiting", "integer", "rows not started"},
    {"checking", "integer", "sessions in this state, as in the fields below"},
    {"queued", "integer", ""},
    {"running", "integer", ""},
    {"paused", "integer", ""},
    {"succeeded", "integer", ""},
    {"failed", "integer", ""},
    {"rejected", "integer", ""},
    {"cancelled", "integer", ""},
    {"skipped", "integer", "rows that will not be started"},
    {"refused", "integer", "rows for whose scene no session could be created"},
    {"deleted", "integer", "rows whose session was deleted before it ended"},
    {"stopped", "integer", "rows ended by the condition of stop_runs"},
    {0},
};
static const pl_reply_field sweep_fields[] = {
    {"id", "string", "32 hex digits"},
    {"name", "string", "display name"},
    {"state", "=running,done,cancelling,cancelled,stopped", "stopped: by the condition of stop"},
    {"message", "string", "why the next row waits, or what stopped it"},
    {"created", "string", "RFC 3339"},
    {"owner", "string", "the user who submitted it"},
    {"group", "string?", "group whose members share it and its sessions"},
    {"rows", "integer", "number of runs"},
    {"running", "integer", "maximum number of runs queued or running at once"},
    {"sampling", "=grid,random,latin_hypercube,sobol,csv", "source of the rows"},
    {"seed", "integer", "seed of the samples"},
    {"parameters", "[]#SweepColumn", "varied parameters"},
    {"results", "[]string", "names of the results"},
    {"stop", "#SweepStop?", "condition that ends it early"},
    {"stop_runs", "#RunStop?", "condition that ends a run"},
    {"counts", "#SweepCounts", "number of rows in each state"},
    {"warned", "integer", "rows that succeeded with warnings"},
    {"fit", "#FitProgress?", "search of a fit; null for other sweeps"},
    {0},
};
static const pl_reply_field fit_progress_fields[] = {
    {"method", "string", "method of NLopt"},
    {"phase", "=sampling,searching,converged,exhausted,lost",
     "exhausted: no evaluations left; lost: no run to continue from"},
    {"samples", "integer", "number of runs before the search"},
    {"ended", "integer", "number of runs that have ended"},
    {"evaluations", "integer", "maximum number of runs"},
    {"tolerance", "number", "tolerance of the parameters, as a fraction of their intervals"},
    {"points", "integer", "number of measured points"},
    {"best", "#FitBest?", "run with the smallest misfit"},
    {0},
};
static const pl_reply_field fit_best_fields[] = {
    {"row", "integer", "row of the table"},
    {"session", "string", "ID of its session"},
    {"misfit", "number", "root mean square difference, in standard deviations of the measurements"},
    {"values", "[]number", "values of the parameters, in their order"},
    {0},
};
static const pl_reply_field fit_residuals_fields[] = {
    {"row", "integer", "row of the best run"},
    {"session", "string", "ID of its session"},
    {"misfit", "number", "its misfit"},
    {"series", "[]#FitResidualSeries", "as in fit.measured"},
    {0},
};
static const pl_reply_field fit_residual_series_fields[] = {
    {"name", "string", "probe or metric"},
    {"against", "string", "time, probe or metric"},
    {"weight", "number", "weight of the series in the misfit"},
    {"points", "[]any", "[x, measured, value of the run, their difference]"},
    {0},
};
static const pl_reply_field sweep_list_fields[] = {
    {"items", "[]#Sweep", "newest first"},
    {"next", "string?", "cursor of the next page; null: the list is complete"},
    {0},
};
static const pl_reply_field sweep_row_fields[] = {
    {"row", "integer", "from 0"},
    {"session", "string?", "ID of its newest session"},
    {"state", "string", "waiting, skipped, refused, deleted, stopped, or a session's state"},
    {"tries", "integer", "number of sessions created for it"},
    {"message", "string", "why it did not succeed"},
    {"warnings", "[]#Warning", "warnings of its session, after its end"},
    {"values", "[]any", "values of the parameters, in their order"},
    {"results", "[]any", "results, in their order; null: it has not ended, or has none"},
    {0},
};
static const pl_reply_field sweep_results_fields[] = {
    {"parameters", "[]string", "names of the parameters"},
    {"results", "[]string", "names of the results"},
    {"items", "[]#SweepRow", "rows, in order"},
    {"rows", "integer", "number of rows of the sweep"},
    {0},
};

/* One per line, so that additions merge. */
/* clang-format off */
const pl_reply_table pl_replies_of_sweeps[] = {
    {"SweepRequest", "A scene with parameters that vary.", sweep_request_fields},
    {"SweepParameter", "A varied parameter: values, range, or min and max.",
     sweep_parameter_fields},
    {"SweepResult", "A number of each run: metric, probe or expect.", sweep_result_fields},
    {"SweepStop", "A bound on a result.", sweep_stop_fields},
    {"RunStop", "A bound on a number of a run's records.", run_stop_fields},
    {"SweepColumn", "A parameter of a sweep.", sweep_column_fields},
    {"SweepCounts", "Rows by state.", sweep_counts_fields},
    {"Sweep", "Many sessions that differ in parameters.", sweep_fields},
    {"Fit", "Measurements, and settings of the search.", fit_fields},
    {"FitSeries", "Measured points: probe or metric, and points or csv.", fit_series_fields},
    {"FitQuantity", "A number of each frame: probe or metric.", fit_quantity_fields},
    {"FitProgress", "Progress of a fit.", fit_progress_fields},
    {"FitBest", "The best run of a fit so far.", fit_best_fields},
    {"FitResiduals", "The best run of a fit compared with the measurements.", fit_residuals_fields},
    {"FitResidualSeries", "A series of measured points.", fit_residual_series_fields},
    {"SweepList", "Sweeps.", sweep_list_fields},
    {"SweepRow", "A run of a sweep.", sweep_row_fields},
    {"SweepResults", "The table of a sweep.", sweep_results_fields},
    {0},
};
/* clang-format on */
