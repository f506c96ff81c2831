/* scene_rules.h - what a posted scene must satisfy before its sandboxed check: it decodes, its user has
 * uploaded its meshes, and this daemon has the resources that it asks for.
 */
#ifndef PLIANT_SERVER_RUN_SCENE_RULES_H
#define PLIANT_SERVER_RUN_SCENE_RULES_H

#include "server/run/admission_state.h"

/* Fills the outline, and the faults with every one; nothing is replied. */
pl_decode_outcome pl_scene_rules_judge(pl_admission *a);
/* Fills the outline; false after a reply that lists every fault. */
bool pl_scene_rules_check(pl_admission *a);

#endif
