/* Dissipation of triangles; compiled once per instruction set. */
#define TERMS      damping_triangles
#define TERMS_NAME "damping of triangles"
#define CORNERS    3
#define COLUMNS    2
#define LAW_FROZEN

#include "engine/model/damping_law.h"
#include "engine/model/damping_frame.h"
#include "engine/model/damping_strain.h"
#include "engine/model/damping_stretch.h"
#include "engine/model/damping_stiffness.h"
#include "engine/model/damping_prox.h"

#include "engine/model/terms_template.h"
