/* Dissipation of tetrahedra, alone and with their own energy; compiled once per instruction set. */
#define TERMS      damping_tets
#define TERMS_NAME "damping of tetrahedra"
#define CORNERS    4
#define COLUMNS    3

#include "engine/model/damping/damping_law.h"
#include "engine/model/damping/damping_frame.h"
#include "engine/model/damping/damping_strain.h"
#include "engine/model/damping/damping_stretch.h"
#include "engine/model/damping/damping_stiffness.h"
#include "engine/model/damping/damping_merged.h"
#include "engine/model/damping/damping_prox.h"

#include "engine/model/groups/terms_template.h"
#include "engine/model/damping/damping_freeze.h"
#include "engine/model/damping/damping_tables.h"
