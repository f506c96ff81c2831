/* check_metrics.h - compares two frames' metrics in a test, bit for bit, except times. */
#ifndef PLIANT_TESTS_SUPPORT_CHECK_METRICS_H
#define PLIANT_TESTS_SUPPORT_CHECK_METRICS_H

#include "engine/scene/metrics.h"
#include "engine/scene/scene.h"

/* A copy with arrays of its own. */
pl_metrics pl_metrics_keep(const pl_metrics *metrics, const pl_scene *scene);
void pl_metrics_drop(pl_metrics *kept);

/* The test fails, naming the field, where any number but a time differs in a bit. */
void pl_check_metrics(const pl_scene *scene, const pl_metrics *a, const pl_metrics *b);

#endif
