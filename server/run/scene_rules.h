/* scene_rules.h - conditions that a posted scene must meet before its sandboxed check: it decodes, its user has
 * uploaded its meshes, and this daemon has the resources that it asks for.
 */
#ifndef PLIANT_SERVER_RUN_SCENE_RULES_H
#define PLIANT_SERVER_RUN_SCENE_RULES_H

#include "server/run/admission_state.h"

/* Fill in the outline and all faults; no reply is made. */
pl_decode_outcome pl_scene_rules_judge(pl_admission *a);
/* Fill in the outline; false after a reply that lists every fault. */
bool pl_scene_rules_check(pl_admission *a);

#endif
