#include "server/row.h"

#include "protocol/record.h"

#include <stdlib.h>
#include <string.h>

#define TEXT(member)                                                                               \
    {                                                                                              \
#member, PL_COLUMN_TEXT, offsetof(pl_row, member), false                                   \
    }
#define INTEGER(member)                                                                            \
    {                                                                                              \
#member, PL_COLUMN_INTEGER, offsetof(pl_row, member), false                                \
    }
#define NUMBER(member)                                                                             \
    {                                                                                              \
#member, PL_COLUMN_NUMBER, offsetof(pl_row, member), false                                 \
    }

const pl_column pl_row_columns[PL_ROW_COLUMNS] = {
    {"id", PL_COLUMN_ID, offsetof(pl_row, id), true},
    {"owner", PL_COLUMN_TEXT, offsetof(pl_row, owner), true},
    {"name", PL_COLUMN_TEXT, offsetof(pl_row, name), true},
    TEXT(state),
    TEXT(reason),
    TEXT(message),
    TEXT(bodies),
    TEXT(failure),
    TEXT(worker),
    TEXT(desired),
    {"created_us", PL_COLUMN_INTEGER, offsetof(pl_row, created_us), true},
    INTEGER(since_ms),
    INTEGER(frames),
    INTEGER(frame),
    INTEGER(attempt),
    INTEGER(cores),
    NUMBER(memory),
    NUMBER(time),
    NUMBER(time_limit),
    TEXT(paused_by),
    INTEGER(crashes),
    INTEGER(checkpoint),
    INTEGER(restart_ms),
    INTEGER(memory_retries),
    NUMBER(memory_limit),
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

/* A text's length goes in before it (one more than it, 0 for NULL), so that no byte can move from
 * one member to the next unnoticed. */
static uint32_t add_text(uint32_t crc, const char *text)
{
    uint64_t length = text ? strlen(text) + 1 : 0;
    crc = pl_crc32c(crc, &length, sizeof length);
    return text ? pl_crc32c(crc, text, length - 1) : crc;
}

uint32_t pl_row_checksum(const pl_row *row)
{
    uint32_t crc = 0;
    for (int i = 0; i < PL_ROW_COLUMNS; i++) {
        const pl_column *c = &pl_row_columns[i];
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
