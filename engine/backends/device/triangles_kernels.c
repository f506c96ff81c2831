/* Triangles of any material, for devices. */
#include "engine/kernels/stretch_kinds.h"

#define TERMS_NAME "triangles"
#define CORNERS    3
#define COLUMNS    2
#include "engine/model/groups/triangle_law.h"
#include "engine/model/groups/terms_template.h"

#include "engine/backends/device/terms_kernels.h"

/* It is in triangles_prox_kernels.c. */
PL_C void PL_NAMED(pl_device_triangles_concavity)(pl_device_queue *queue,
                                                  const pl_term_arguments *arguments,
                                                  int64_t threads);

PL_TERM_KERNELS(triangles, PL_LOCAL_ELSEWHERE, TERMS_NAME, CORNERS, ROWS, NULL,
                PL_NAMED(pl_device_triangles_concavity))
