#include "server/sessions/control_in_effect.h"

#include "protocol/text/json.h"

#include <errno.h>
#include <stdlib.h>

int pl_control_in_effect(pl_log_reader *reader, int64_t frame, int64_t end, int64_t *number)
{
    *number = -1;
    for (int tries = 0; frame < end && tries < 64; frame++, tries++) {
        char *text;
        uint64_t length;
        pl_log_outcome outcome = pl_log_read(reader, frame, PL_LOG_METRICS, &text, &length);
        if (outcome == PL_LOG_ERROR && errno == ENOMEM) {
            return ENOMEM;
        }
        if (outcome != PL_LOG_OK) {
            continue;
        }
        pl_json *metrics = pl_json_parse(text, (size_t)length, NULL);
        bool starved = !metrics && errno == ENOMEM;
        *number = metrics ? pl_json_integer(metrics, "control", 0) : -1;
        pl_json_free(metrics);
        free(text);
        return starved ? ENOMEM : 0;
    }
    return 0;
}
