/* json_schema.h - checks a value against a JSON Schema (2020-12), with the keywords that this project's schemas use. An
 * unknown keyword counts as a mismatch, so that nothing goes unchecked.
 */
#ifndef PLIANT_TESTS_SUPPORT_JSON_SCHEMA_H
#define PLIANT_TESTS_SUPPORT_JSON_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

enum { JSON_SCHEMA_WHY = 600 };

/* `root` is the document for "#/..." references. On a mismatch `why` gets place and reason. */
bool json_schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                      char why[JSON_SCHEMA_WHY]);

#endif
