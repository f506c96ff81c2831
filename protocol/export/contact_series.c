#include "protocol/export/contact_series.h"

#include "protocol/export/vtu.h"

#include <stdio.h>
#include <stdlib.h>

void pl_contact_series_clear(pl_contact_series *s)
{
    free(s->prefix);
    free(s->place);
    free(s->force);
    free(s->gap);
    free(s->body);
    free(s->point);
    *s = (pl_contact_series){0};
}

static bool make_room(pl_contact_series *s, const pl_export *e, int64_t count)
{
    if (s->prefix && count <= s->room)
        return true;
    size_t n = 2 * (size_t)count + 1;
    pl_contact_series_clear(s);
    s->room = (int64_t)n;
    s->place = malloc(3 * n * sizeof *s->place);
    s->force = malloc(3 * n * sizeof *s->force);
    s->gap = malloc(n * sizeof *s->gap);
    s->body = malloc(2 * n * sizeof *s->body);
    s->point = malloc(n * sizeof *s->point);
    if (asprintf(&s->prefix, "%s_contacts", e->order.name) < 0)
        s->prefix = NULL;
    if (s->prefix && s->place && s->force && s->gap && s->body && s->point)
        return true;
    pl_contact_series_clear(s);
    return false;
}

static void fill(pl_contact_series *s, const pl_export_frame *f)
{
    for (int64_t i = 0; i < f->contacts; i++) {
        const pl_contact_point *p = &f->contact[i];
        for (int c = 0; c < 3; c++) {
            s->place[3 * i + c] = (float)p->place[c];
            s->force[3 * i + c] = (float)p->newton[c];
        }
        s->gap[i] = (float)p->gap;
        s->point[i] = (int32_t)i;
        for (int k = 0; k < 2; k++)
            s->body[2 * i + k] = p->body[k];
    }
}

bool pl_contact_series_put(pl_contact_series *s, pl_export *e, const pl_export_frame *f)
{
    if (!make_room(s, e, f->contacts))
        return pl_export_no_memory(e);
    fill(s, f);
    const pl_vtu_mesh mesh = {.vertices = f->contacts,
                              .bodies = 2,
                              .body = s->body,
                              .points = f->contacts,
                              .point = s->point};
    const pl_vtu_frame frame = {.time = f->time,
                                .positions = s->place,
                                .points = {{"force", 3, s->force}, {"gap", 1, s->gap}}};
    pl_vtu v;
    pl_vtu_file file = {.count = 0};
    char *name = pl_vtu_name(s->prefix, f->frame);
    bool good = false;
    if (name && pl_vtu_open(&v, &mesh) == PL_OK) {
        good = pl_vtu_build(&v, &frame, &file) == PL_OK;
        good = good ? pl_export_put_file(e, name, file.spans, file.count) : pl_export_no_memory(e);
        pl_vtu_clear(&v);
    } else {
        pl_export_no_memory(e);
    }
    pl_vtu_file_clear(&file);
    free(name);
    return good;
}

bool pl_contact_series_list(pl_contact_series *s, pl_export *e, const int64_t *frames,
                            const double *times, int64_t count)
{
    pl_text text = {0};
    char *name = NULL;
    if (!make_room(s, e, 0) || asprintf(&name, "%s.pvd", s->prefix) < 0)
        return pl_export_no_memory(e);
    pl_pvd_write(&text, s->prefix, frames, times, count);
    bool good = text.failed
                    ? pl_export_no_memory(e)
                    : pl_export_put_file(e, name, &(pl_span){text.text, text.length, NULL}, 1);
    free(text.text);
    free(name);
    return good;
}
