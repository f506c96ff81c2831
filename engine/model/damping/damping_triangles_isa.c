/* Dissipation of triangles; compiled once per instruction set. */
#define TERMS      damping_triangles
#define TERMS_NAME "damping of triangles"
#define CORNERS    3
#define COLUMNS    2

#include "engine/model/damping/damping_law.h"
#include "engine/model/damping/damping_frame.h"
#include "engine/model/damping/damping_strain.h"
#include "engine/model/damping/damping_stretch.h"
#include "engine/model/damping/damping_stiffness.h"
#include "engine/model/damping/damping_prox.h"

#include "engine/model/groups/terms_template.h"
#include "engine/model/damping/damping_freeze.h"
