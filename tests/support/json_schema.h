/* json_schema.h - whether a value fits a JSON Schema (2020-12): the keywords that this project's
 * schemas use. One that it does not know is a misfit, so that nothing goes unchecked.
 */
#ifndef PLIANT_TESTS_SUPPORT_JSON_SCHEMA_H
#define PLIANT_TESTS_SUPPORT_JSON_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

enum { JSON_SCHEMA_WHY = 600 };

/* `root` is the document that "#/..." references are looked up in. On a misfit `why` says where and
 * what. */
bool json_schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                      char why[JSON_SCHEMA_WHY]);

#endif
