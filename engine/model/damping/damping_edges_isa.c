/* Dissipation of edges, and of vertices alone; compiled once per instruction set. */
#define TERMS      damping_edges
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
#include "engine/model/damping/damping_freeze.h"
