#include "protocol/log/warnings.h"

#include "protocol/log/sealed.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, FILE_LIMIT = 1 << 20 };

static const char *const names[PL_WARNING_CODES] = {
#define NAME(code, name, counts) #name,
    PL_EACH_WARNING(NAME)
#undef NAME
};

const char *pl_warning_name(pl_warning_code code)
{
    return names[code];
}

pl_status pl_warnings_add(pl_warnings *list, pl_warning_code code, int64_t count, int64_t of,
                          const char *detail)
{
    if (list->count == PL_WARNINGS_MAX)
        return PL_OK;
    if (!list->items)
        list->items = calloc(PL_WARNINGS_MAX, sizeof *list->items);
    char *copy = list->items ? strdup(detail) : NULL;
    if (!copy)
        return PL_NO_MEMORY;
    list->items[list->count++] = (pl_warning){code, copy, count, of};
    return PL_OK;
}

void pl_warnings_clear(pl_warnings *list)
{
    for (int32_t i = 0; i < list->count; i++)
        free(list->items[i].detail);
    free(list->items);
    *list = (pl_warnings){0};
}

void pl_warnings_put(pl_json_writer *w, const pl_warnings *list)
{
    for (int32_t i = 0; i < list->count; i++) {
        const pl_warning *item = &list->items[i];
        pl_json_begin_object(w);
        pl_json_set_string(w, "code", pl_warning_name(item->code));
        pl_json_set_string(w, "detail", item->detail);
        pl_json_set_integer(w, "count", item->count);
        pl_json_set_integer(w, "of", item->of);
        pl_json_end_object(w);
    }
}

char *pl_warnings_encode(const pl_warnings *start, const pl_warnings *run)
{
    pl_json_writer w = {0};
    pl_json_begin_array(&w);
    pl_warnings_put(&w, start);
    if (run)
        pl_warnings_put(&w, run);
    pl_json_end_array(&w);
    return pl_json_finish(&w, NULL);
}

pl_status pl_warnings_decode(const pl_json *array, pl_warnings *list)
{
    pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < pl_json_count(array); i++) {
        const pl_json *item = pl_json_item(array, i);
        const char *name = pl_json_string(item, "code", "");
        int code = 0;
        while (code < PL_WARNING_CODES && strcmp(name, names[code]) != 0)
            code++;
        if (code < PL_WARNING_CODES)
            status = pl_warnings_add(list, (pl_warning_code)code, pl_json_integer(item, "count", 0),
                                     pl_json_integer(item, "of", 0),
                                     pl_json_string(item, "detail", ""));
    }
    return status;
}

/* ---- warnings.json ---- */

pl_status pl_run_warnings_read(int dir_fd, pl_run_totals *totals, pl_warnings *warnings)
{
    pl_json *document;
    *totals = (pl_run_totals){.frame = -1, .deepest_in = -1};
    pl_status status = pl_sealed_read(dir_fd, "warnings.json", FILE_LIMIT, FORMAT, &document);
    if (status != PL_OK)
        return status;
    const pl_json *energy = pl_json_at(document, "energy");
    *totals = (pl_run_totals){
        .frame = pl_json_integer(document, "frame", -1),
        .unconverged = pl_json_integer(document, "unconverged", 0),
        .inverted = pl_json_integer(document, "inverted", 0),
        .most_inverted = pl_json_integer(document, "most_inverted", 0),
        .penetrating = pl_json_integer(document, "penetrating", 0),
        .deepest = pl_json_number(document, "deepest", 0),
        .deepest_in = (int32_t)pl_json_integer(document, "deepest_in", -1),
        .gaining = pl_json_integer(document, "gaining", 0),
        .has_energy = energy && !pl_json_is_null(energy),
        .first_energy = pl_json_number(energy, "first", 0),
        .least_energy = pl_json_number(energy, "least", 0),
        .most_kinetic = pl_json_number(energy, "kinetic", 0),
        .most_gain = pl_json_number(energy, "gain", 0),
    };
    status = pl_warnings_decode(pl_json_at(document, "warnings"), warnings);
    pl_json_free(document);
    return status;
}

pl_status pl_run_warnings_write(int dir_fd, const pl_run_totals *totals,
                                const pl_warnings *warnings)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", FORMAT);
    pl_json_set_integer(&w, "frame", totals->frame);
    pl_json_set_integer(&w, "unconverged", totals->unconverged);
    pl_json_set_integer(&w, "inverted", totals->inverted);
    pl_json_set_integer(&w, "most_inverted", totals->most_inverted);
    pl_json_set_integer(&w, "penetrating", totals->penetrating);
    pl_json_set_number(&w, "deepest", totals->deepest);
    pl_json_set_integer(&w, "deepest_in", totals->deepest_in);
    pl_json_set_integer(&w, "gaining", totals->gaining);
    if (totals->has_energy) {
        pl_json_key(&w, "energy");
        pl_json_begin_object(&w);
        pl_json_set_number(&w, "first", totals->first_energy);
        pl_json_set_number(&w, "least", totals->least_energy);
        pl_json_set_number(&w, "kinetic", totals->most_kinetic);
        pl_json_set_number(&w, "gain", totals->most_gain);
        pl_json_end_object(&w);
    } else {
        pl_json_set_null(&w, "energy");
    }
    pl_json_key(&w, "warnings");
    pl_json_begin_array(&w);
    pl_warnings_put(&w, warnings);
    pl_json_end_array(&w);
    return pl_sealed_write(dir_fd, "warnings.json", &w, false);
}
