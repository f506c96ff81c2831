/* Contact between bodies: the backend's set of pairs, whose rows are part of the objective. */
#include "engine/backends/cpu/cpu_internal.h"

#include "engine/contact/bounce.h"

void pl_cpu_pairs_release(cpu *c)
{
    pl_host_contact_clear(&c->between);
}

pl_status pl_cpu_pairs_create(cpu *c)
{
    return pl_host_contact_create(c->base.model, c->threads, &c->between);
}

double pl_cpu_pairs_evaluate(cpu *c, const double *x)
{
    pl_contact_rows *rows = pl_host_contact_rows(&c->between);
    if (!rows)
        return 0;
    if (!c->apart)
        return pl_contact_rows_evaluate(rows, x, c->threads);
    pl_contact_rows_pull(rows);
    return 0;
}

static pl_status begin(pl_backend *b, const pl_backend_stage *stage, const pl_array *x)
{
    cpu *c = cpu_of(b);
    pl_cpu_hessian_begin(c);
    pl_cpu_apart_renew(c);
    return pl_contact_set_begin(c->between.set, pl_numbers_read(stage->x_start),
                                pl_numbers_read(x));
}

static pl_contact_renewal renew(pl_backend *b, const pl_array *x)
{
    return pl_contact_rows_renew(pl_contact_set_rows(cpu_of(b)->between.set), pl_numbers_read(x));
}

static double lack(pl_backend *b, const pl_array *x)
{
    return pl_contact_rows_lack(pl_contact_set_rows(cpu_of(b)->between.set), pl_numbers_read(x));
}

static pl_status advance(pl_backend *b, const pl_array *x, pl_contact_keeping keeping,
                         pl_contact_advance *out)
{
    return pl_contact_set_advance(cpu_of(b)->between.set, pl_numbers_read(x), keeping, out);
}

static pl_status measure(pl_backend *b, const pl_array *x, pl_contact_sums *out)
{
    return pl_contact_set_measure(cpu_of(b)->between.set, pl_numbers_read(x), out);
}

static pl_status bounce(pl_backend *b, const pl_array *v_start, pl_array *v)
{
    cpu *c = cpu_of(b);
    if (!c->between.ease)
        return PL_OK;
    return pl_contact_bounce(b->model->touching, pl_contact_set_rows(c->between.set),
                             c->between.ease, pl_numbers_read(v_start), pl_numbers(v), c->threads);
}

static pl_status points(pl_backend *b, const pl_array *x, pl_contact_points *out)
{
    return pl_contact_points_find(pl_contact_set_rows(cpu_of(b)->between.set), b->model->touching,
                                  pl_numbers_read(x), out);
}

static pl_contact_set *set_of(pl_backend *b)
{
    return cpu_of(b)->between.set;
}

const pl_pairs_ops pl_cpu_pairs_ops = {.begin = begin,
                                       .renew = renew,
                                       .apart = pl_cpu_apart_begin,
                                       .lack = lack,
                                       .advance = advance,
                                       .measure = measure,
                                       .bounce = bounce,
                                       .points = points,
                                       .set = set_of};
