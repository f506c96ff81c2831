/* print_schema.c - prints what the scene's reference is made from, as one JSON object: {"capabilities", "schema"},
 * the parameter tables as GET /v1/capabilities and GET /v1/schema/scene have them. It links protocol/ alone, so
 * that the pages can be made before the daemon that serves them. */
#include "protocol/scene/scene_json.h"
#include "protocol/scene/schema.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *capabilities = pl_capabilities_encode("[]", "[]", "{}");
    char *schema = pl_scene_schema_encode();
    int status = EXIT_FAILURE;
    if (!capabilities || !schema)
        fprintf(stderr, "print-schema: out of memory\n");
    else if (printf("{\"capabilities\": %s,\n\"schema\": %s}\n", capabilities, schema) < 0 ||
             fflush(stdout) != 0)
        perror("print-schema");
    else
        status = EXIT_SUCCESS;
    free(capabilities);
    free(schema);
    return status;
}
