#include "tests/support/case_a.h"

#include "engine/scene/carries.h"

#define LAME "'young': 1e7, 'poisson': 0.399"

const case_a_material CASE_A[CASE_A_MATERIALS] = {
    {"neo_hookean", "'model': 'neo_hookean', " LAME, PL_TRAIT_NOT_DISTANCE},
    {"corotated", "'model': 'corotated', " LAME, PL_TRAIT_NOT_DISTANCE},
    {"arap", "'model': 'arap', " LAME, 0},
    {"mooney_rivlin", "'model': 'mooney_rivlin', " LAME, PL_TRAIT_NOT_DISTANCE},
    {"stvk", "'model': 'stvk', " LAME, PL_TRAIT_NOT_DISTANCE},
    {"stable_neo_hookean", "'model': 'stable_neo_hookean', " LAME, PL_TRAIT_NOT_DISTANCE},
    {"neo_hookean_wang", "'model': 'neo_hookean_wang', " LAME, PL_TRAIT_NOT_DISTANCE},
    {"fung", "'model': 'fung', " LAME, PL_TRAIT_NOT_DISTANCE},
    {"polynomial", "'model': 'polynomial', " LAME, PL_TRAIT_NOT_DISTANCE},
    {"spline A", "'model': 'spline', 'splines': 'A', " LAME, PL_TRAIT_NOT_DISTANCE},
    {"spline B", "'model': 'spline', 'splines': 'B', " LAME, PL_TRAIT_NOT_DISTANCE},
};

pl_run *case_a_open(const case_a_material *of, const char *solver)
{
    return pl_run_openf(2,
                        "{'pliant': 1, 'time': {'step': 0.04, 'steps': 1}, 'gravity': [0, 0, 0],"
                        " 'solver': {%s}, 'output': {'metrics': 'iteration'},"
                        " 'materials': {'m': {%s, 'density': 1522}},"
                        " 'bodies': [{'mesh': {'box': {'size': [7, 1, 1], 'cells': [42, 6, 6]}},"
                        "   'initial': {'shape': {'twisted': {'turns': 1, 'axis': [1, 0, 0]}}}}]}",
                        solver, of->settings);
}

double case_a_minimum(const case_a_material *of)
{
    pl_run *r = case_a_open(of, "'method': 'quasi_newton', 'iterations': 1000,"
                                "'tolerance': 1e-9, 'window': 30, 'on_not_converged': 'fail'");
    pl_run_frames(r, 1);
    double minimum = r->metrics.objective;
    pl_run_close(r);
    return minimum;
}

int64_t case_a_iterations(const pl_metrics *m, double minimum, double mark)
{
    double start = m->detail[0].objective;
    for (int64_t k = 0; k < m->detail_count; k++)
        if (m->detail[k].objective - minimum <= mark * (start - minimum))
            return k;
    return -1;
}
