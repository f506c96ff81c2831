/* Dissipation of edges, and of vertices alone, for devices. */
#define PL_CALLS
#include "engine/kernels/stretch_kinds.h"

#define TERMS_NAME "damping of edges, and of vertices alone"
#define CORNERS    2
#define COLUMNS    1
#include "engine/model/damping/damping_law.h"
#include "engine/model/damping/damping_frame.h"
#include "engine/model/damping/damping_strain.h"
#include "engine/model/damping/damping_stretch.h"
#include "engine/model/damping/damping_stiffness.h"
#include "engine/model/damping/damping_prox.h"
#include "engine/model/groups/terms_template.h"

#include "engine/backends/device/damping_kernels.h"

PL_DAMPING_KERNELS(damping_edges)
