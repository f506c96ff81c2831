/* params_contact.c - the parameter tables of contact between bodies. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

#define FRICTION(type, flag, words, text)                                                          \
    NUMBER("friction", "1", FROM(0, FRICTION_MAX), 0, type, friction, text,                        \
           OPTIONAL(type, flag, words))

static const pl_param pair_rows[] = {
    BETWEEN(pl_contact_pair_settings, body,
            "Two bodies; the same name twice means the body and itself.", REQUIRED),
    BOOLEAN("enabled", pl_contact_pair_settings, enabled, "Contact between the two.",
            DEFAULT(true)),
    FRICTION(pl_contact_pair_settings, has_friction, "the geometric mean of their materials'",
             "Coulomb's coefficient."),
    NUMBER("restitution", "1", FROM(0, 1), 0, pl_contact_pair_settings, restitution,
           "Share of the normal velocity that is kept, reversed, after an impact.",
           WORDED("that of contact")),
};
const pl_param_table pl_contact_pair_table = {
    .name = "contact.pair", .doc = "Contact between two bodies.", ROWS(pair_rows)};

static const pl_param contact_rows[] = {
    BOOLEAN(
        "enabled", pl_contact_settings, enabled,
        "Contact between bodies, and of bodies with themselves. Bodies that an attachment connects "
        "do not touch each other, unless pairs enables it.",
        DEFAULT(true)),
    BOOLEAN("self", pl_contact_settings, self, "Contact of a body with itself.", DEFAULT(true)),
    LENGTH("thickness", 0, pl_contact_settings, thickness,
           "Distance that surfaces keep. Sheets keep at least their material's thickness.",
           OPTIONAL(pl_contact_settings, has_thickness,
                    "1 % of the mean edge of each body's surface")),
    NUMBER("friction", "1", FROM(0, FRICTION_MAX), 0.3, pl_contact_settings, friction,
           "Coulomb's coefficient of materials without their own."),
    NUMBER(
        "restitution", "1", FROM(0, 1), 0, pl_contact_settings, restitution,
        "Share of the normal velocity that is kept, reversed, after an impact. Bodies also bounce "
        "by their own elasticity."),
    BOOLEAN("check", pl_contact_settings, check,
            "Reject a step that passes through a surface: it is repaired, then halved, then the "
            "session fails with `intersection`.",
            DEFAULT(true)),
    LIST("pairs", pl_contact_pair_table, FROM(0, 4096), pl_contact_settings, pairs, pair_count,
         "Exceptions for two bodies, or one and itself. The last one for the same bodies applies.",
         WORDED("none")),
};
const pl_param_table pl_contact_table = {.name = "contact",
                                         .doc = "Contact between bodies, and of a body with "
                                                "itself.",
                                         ROWS(contact_rows)};
