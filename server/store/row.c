#include "server/store/row.h"

#include "protocol/log/record.h"

#include <stdlib.h>
#include <string.h>

#define NAME(member) #member
#define CHANGES(member, kind, since, fallback)                                                     \
    {                                                                                              \
        NAME(member), kind, offsetof(pl_row, member), false, since, fallback                       \
    }
#define TEXT(member, since)              CHANGES(member, PL_COLUMN_TEXT, since, NULL)
#define INTEGER(member, since, fallback) CHANGES(member, PL_COLUMN_INTEGER, since, fallback)
#define NUMBER(member, since)            CHANGES(member, PL_COLUMN_NUMBER, since, "0")

/* New columns come last: the checksum of an earlier format ends before them. */
const pl_column pl_row_columns[PL_ROW_COLUMNS] = {
    {"id", PL_COLUMN_ID, offsetof(pl_row, id), true, 1, NULL},
    {"owner", PL_COLUMN_TEXT, offsetof(pl_row, owner), true, 1, NULL},
    TEXT(name, 1),
    TEXT(state, 1),
    TEXT(reason, 1),
    TEXT(message, 1),
    TEXT(bodies, 1),
    TEXT(failure, 1),
    TEXT(worker, 1),
    TEXT(desired, 1),
    {"created_us", PL_COLUMN_INTEGER, offsetof(pl_row, created_us), true, 1, NULL},
    INTEGER(since_ms, 1, "0"),
    INTEGER(frames, 1, "0"),
    INTEGER(frame, 1, "0"),
    INTEGER(attempt, 1, "0"),
    INTEGER(cores, 1, "0"),
    NUMBER(memory, 1),
    NUMBER(time, 1),
    NUMBER(time_limit, 1),
    TEXT(paused_by, 2),
    INTEGER(crashes, 2, "0"),
    INTEGER(checkpoint, 2, "-1"),
    INTEGER(restart_ms, 2, "0"),
    INTEGER(memory_retries, 2, "0"),
    NUMBER(memory_limit, 2),
    TEXT(group_name, 3),
    TEXT(labels, 3),
    TEXT(metadata, 3),
    INTEGER(priority, 3, "0"),
    INTEGER(revision, 3, "0"),
    TEXT(webhook, 3),
    TEXT(webhook_status, 3),
    TEXT(gpu, 3),
    NUMBER(gpu_memory, 3),
    NUMBER(keep_days, 3),
    INTEGER(keep_last, 4, "-1"),
    INTEGER(keep_every, 4, "-1"),
    TEXT(warnings, 5),
    INTEGER(cores_least, 6, "0"),
    INTEGER(cores_most, 6, "0"),
    INTEGER(preemptible, 6, "0"),
    INTEGER(interactive, 6, "0"),
    TEXT(after, 6),
    NUMBER(estimate, 6),
    TEXT(executor, 7),
    TEXT(job, 7),
};

char **pl_row_text(const pl_row *row, const pl_column *column)
{
    return (char **)((char *)row + column->offset);
}

int64_t *pl_row_integer(const pl_row *row, const pl_column *column)
{
    return (int64_t *)((char *)row + column->offset);
}

double *pl_row_number(const pl_row *row, const pl_column *column)
{
    return (double *)((char *)row + column->offset);
}

void pl_row_clear(pl_row *row)
{
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        if (pl_row_columns[i].kind == PL_COLUMN_TEXT) {
            free(*pl_row_text(row, &pl_row_columns[i]));
        }
    }
    memset(row, 0, sizeof *row);
}

/* A text is preceded by its length plus one (0 for NULL), so that no byte can move from one member to the next
 * unnoticed. */
static uint32_t add_text(uint32_t crc, const char *text)
{
    uint64_t length = text ? strlen(text) + 1 : 0;
    crc = pl_crc32c(crc, &length, sizeof length);
    return text ? pl_crc32c(crc, text, length - 1) : crc;
}

uint32_t pl_row_checksum(const pl_row *row, int format)
{
    uint32_t crc = 0;
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        const pl_column *c = &pl_row_columns[i];
        if (c->since > format) {
            continue;
        }
        switch (c->kind) {
        case PL_COLUMN_ID:
            crc = add_text(crc, row->id);
            break;
        case PL_COLUMN_TEXT:
            crc = add_text(crc, *pl_row_text(row, c));
            break;
        case PL_COLUMN_INTEGER:
            crc = pl_crc32c(crc, pl_row_integer(row, c), sizeof(int64_t));
            break;
        case PL_COLUMN_NUMBER:
            crc = pl_crc32c(crc, pl_row_number(row, c), sizeof(double));
            break;
        }
    }
    return crc;
}
