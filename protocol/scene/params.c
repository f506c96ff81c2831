#include "protocol/scene/params.h"

#include <string.h>

const pl_param *pl_table_param(const pl_param_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->params[i].key, key) == 0)
            return &table->params[i];
    return NULL;
}

void pl_param_store(const pl_param *p, void *at, int64_t value)
{
    if (p->size == sizeof(bool))
        *(bool *)at = value != 0;
    else if (p->size == sizeof(int32_t))
        *(int32_t *)at = (int32_t)value;
    else
        *(int64_t *)at = value;
}

static void set_default(const pl_param *p, char *at)
{
    switch (p->kind) {
    case PL_PARAM_NUMBER:
        *(double *)at = p->standard[0];
        break;
    case PL_PARAM_INTEGER:
    case PL_PARAM_BOOLEAN:
    case PL_PARAM_CHOICE:
        pl_param_store(p, at, (int64_t)p->standard[0]);
        break;
    case PL_PARAM_VECTOR:
        memcpy(at, p->standard, (size_t)pl_param_components(p) * sizeof *p->standard);
        break;
    case PL_PARAM_COUNTS:
        for (int i = 0; i < pl_param_components(p); i++)
            ((int32_t *)at)[i] = (int32_t)p->standard[i];
        break;
    case PL_PARAM_OBJECT:
        pl_table_defaults(p->table, at);
        break;
    case PL_PARAM_CUSTOM:
        if (p->custom == PL_CUSTOM_SCALE)
            memcpy(at, p->standard, sizeof p->standard);
        else if (p->custom == PL_CUSTOM_AXES || p->custom == PL_CUSTOM_FIELDS ||
                 p->custom == PL_CUSTOM_CORES)
            pl_param_store(p, at, (int64_t)p->standard[0]);
        break;
    case PL_PARAM_STRING:
    case PL_PARAM_LIST:
    case PL_PARAM_MAP:
    case PL_PARAM_REFERENCE:
        break;
    }
}

void pl_table_defaults(const pl_param_table *table, void *out)
{
    for (size_t i = 0; i < table->count; i++)
        set_default(&table->params[i], (char *)out + table->params[i].offset);
}
