#include "engine/contact/set.h"

#include "engine/contact/clearance.h"
#include "engine/contact/pairs.h"
#include "engine/contact/search.h"
#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the distance that surfaces keep: the least distance in a sweep, and the accuracy of the impact. */
static const double LEAST = 0.2, SLACK = 0.05;
enum { SWEEP_ITERATIONS = 200 };
/* Fraction of the way to the first meeting that `safe` moves. */
static const double SHORT_OF = 0.8;
/* Relative to the distance: the gap that surfaces regain in a step if they are too close. */
static const double REGAINED = 0.125;
/* Relative to the mean edge: maximum range beyond the distance in which pairs are searched for. */
static const double MARGIN = 0.5;
/* How far edges may leave their regions (pairs.h). */
static const double WIDEN = 0.1;

/* Relative to the distance: gaps that fall short by no more than this are wide enough. */
static const double FITS = 0.05;

/* Rows are askew if the mean offset of their points from the normals exceeds ASKEW, in distances that surfaces
 * keep. A step measures them again up to STRAIGHTENINGS times, as long as each leaves at most HELPS of the offset.
 * A block that slid over vertices at 0.6 m/s had 0.1 to 0.5 when a row of vertices left its underside, and 0.001 to
 * 0.005 otherwise. */
static const double ASKEW = 0.03, HELPS = 0.5;
enum { STRAIGHTENINGS = 6 };

/* How often a kept row is measured again in a step, and how many further rows its pair may have afterwards. */
enum { TURNS = 3, FURTHER = 3 };

/* Gaps of up to this many distances are reported. */
static const double NEAR_BY = 2;

/* Reason for a pair to be a row. If there are several, the first determines its measurement. */
typedef enum reason { MEETS, TIGHT, KEPT, NEAR, CARRIES } reason;

typedef struct candidate {
    pl_contact_pair pair;
    reason why;
    int again; /* as for a row */
} candidate;

struct pl_contact_set {
    const pl_contact_bodies *bodies;
    int threads;
    pl_contact_trees *trees;
    pl_contact_rows rows;
    const double *compliance; /* the caller's */
    double *x_start, *safe;   /* [scene vertices][3] */
    double *moved;            /* the same: scratch */
    double reach;             /* m, in the current step */
    pl_clearance clearance;
    double gap;
    double askew;     /* mean offset at the last straightening */
    int straightened; /* number of times, in this step */
    candidate *candidate;
    int64_t candidates, room;
    pl_body_force *forces; /* from the last measure */
};

void pl_contact_set_set_threads(pl_contact_set *s, int threads)
{
    s->threads = threads;
}

void pl_contact_set_destroy(pl_contact_set *s)
{
    if (!s)
        return;
    pl_contact_trees_destroy(s->trees);
    pl_clearance_clear(&s->clearance);
    pl_contact_rows_clear(&s->rows);
    free(s->x_start);
    free(s->safe);
    free(s->moved);
    free(s->candidate);
    free(s->forces);
    free(s);
}

pl_status pl_contact_set_create(const pl_contact_bodies *bodies, const double *compliance,
                                int threads, pl_contact_set **out)
{
    *out = NULL;
    pl_contact_set *s = calloc(1, sizeof *s);
    if (!s)
        return PL_NO_MEMORY;
    size_t n = 3 * (size_t)bodies->surface->scene_vertices + 1;
    s->bodies = bodies;
    s->compliance = compliance;
    s->threads = threads;
    s->gap = INFINITY;
    s->x_start = malloc(n * sizeof *s->x_start);
    s->safe = malloc(n * sizeof *s->safe);
    s->moved = malloc(n * sizeof *s->moved);
    if (!s->x_start || !s->safe || !s->moved || pl_clearance_init(&s->clearance, bodies) != PL_OK ||
        pl_contact_rows_init(&s->rows, bodies->surface->scene_vertices) != PL_OK ||
        pl_contact_trees_create(bodies->surface, &s->trees) != PL_OK) {
        pl_contact_set_destroy(s);
        return PL_NO_MEMORY;
    }
    *out = s;
    return PL_OK;
}

pl_contact_rows *pl_contact_set_rows(pl_contact_set *set)
{
    return &set->rows;
}

static size_t bytes_of(const pl_contact_set *s)
{
    return 3 * (size_t)s->bodies->surface->scene_vertices * sizeof(double);
}

static pl_contact_filter filter_of(const pl_contact_set *s)
{
    return (pl_contact_filter){s->bodies->count, s->bodies->ignore};
}

/* ---- candidates ---- */

static bool add_candidate(pl_contact_set *s, const pl_contact_pair *pair, reason why)
{
    if (s->candidates == s->room) {
        int64_t room = 2 * s->room + 256;
        candidate *more = realloc(s->candidate, (size_t)room * sizeof *more);
        if (!more)
            return false;
        s->candidate = more;
        s->room = room;
    }
    s->candidate[s->candidates++] = (candidate){*pair, why, 0};
    return true;
}

static int compare_pairs(const pl_contact_pair *a, const pl_contact_pair *b)
{
    const int64_t p[] = {a->kind, a->feature[0], a->feature[1]},
                  q[] = {b->kind, b->feature[0], b->feature[1]};
    for (int k = 0; k < 3; k++)
        if (p[k] != q[k])
            return p[k] < q[k] ? -1 : 1;
    return 0;
}

static int by_pair(const void *one, const void *other)
{
    const candidate *a = one, *b = other;
    int order = compare_pairs(&a->pair, &b->pair);
    if (order == 0)
        order = (a->again > b->again) - (a->again < b->again);
    return order ? order : (a->why > b->why) - (a->why < b->why);
}

/* Compares a row with another, or with a candidate, in the order of rows. */
static int compare(const pl_contact_row *row, const pl_contact_pair *pair, int again)
{
    int order = compare_pairs(&row->pair, pair);
    return order ? order : (row->again > again) - (row->again < again);
}

/* The row of a pair with `again` 0, or NULL. */
static pl_contact_row *find_row(const pl_contact_set *s, const pl_contact_pair *pair)
{
    int64_t low = 0, high = s->rows.count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int order = compare(&s->rows.row[middle], pair, 0);
        if (order == 0)
            return &s->rows.row[middle];
        *(order < 0 ? &low : &high) = middle + (order < 0);
    }
    return NULL;
}

/* Pairs near each other at the safe place. */
static pl_status add_near(pl_contact_set *s)
{
    const pl_contact_filter filter = filter_of(s);
    const pl_contact_rules rules = {.reach = s->reach, .widen = WIDEN, .filter = &filter};
    pl_contact_pairs near;
    pl_status status = pl_contact_trees_update(s->trees, s->safe, s->safe, s->reach, s->threads);
    if (status == PL_OK)
        status = pl_contact_pairs_find(s->trees, s->safe, &rules, s->threads, &near);
    if (status != PL_OK)
        return status;
    s->gap = INFINITY;
    for (int64_t i = 0; i < near.count && status == PL_OK; i++) {
        if (near.pair[i].gap <= NEAR_BY * s->bodies->most)
            s->gap = fmin(s->gap, near.pair[i].gap);
        if (!add_candidate(s, &near.pair[i], NEAR))
            status = PL_NO_MEMORY;
    }
    pl_contact_pairs_clear(&near);
    return status;
}

static pl_status add_kept(pl_contact_set *s)
{
    for (int64_t r = 0; r < s->rows.count; r++) {
        if (!add_candidate(s, &s->rows.row[r].pair, KEPT))
            return PL_NO_MEMORY;
        s->candidate[s->candidates - 1].again = s->rows.row[r].again;
    }
    return PL_OK;
}

/* Moves the forces of a pair's rows to its first row. */
static void fold_rows(pl_contact_set *s)
{
    int64_t first = 0;
    for (int64_t r = 0; r < s->rows.count; r++) {
        pl_contact_row *row = &s->rows.row[r];
        if (row->again == 0) {
            first = r;
            continue;
        }
        pl_contact_row_add(&s->rows.row[first], row);
        row->force = row->grip[0] = row->grip[1] = row->grip[2] = 0;
    }
}

static pl_status add_carrying(pl_contact_set *s)
{
    fold_rows(s);
    for (int64_t r = 0; r < s->rows.count; r++) {
        const pl_contact_row *row = &s->rows.row[r];
        if (!(row->force > 0))
            continue;
        pl_contact_pair pair = pl_contact_measure(s->bodies->surface, s->safe, row->pair.kind,
                                                  row->pair.feature[0], row->pair.feature[1]);
        if (!add_candidate(s, &pair, CARRIES))
            return PL_NO_MEMORY;
    }
    return PL_OK;
}

/* Finds the pairs that meet on the way from `safe` to x, as they are when they meet. `moved` is `safe`. */
static pl_status add_meeting(pl_contact_set *s, const double *x, const pl_contact_impacts *impacts)
{
    const pl_contact_surface *surface = s->bodies->surface;
    for (int64_t i = 0; i < impacts->count; i++) {
        const pl_contact_impact *hit = &impacts->impact[i];
        pl_contact_pair pair = pl_contact_measure(surface, s->safe, hit->kind, hit->feature[0],
                                                  hit->feature[1]);
        for (int k = 0; k < 4 && pair.vertex[k] >= 0; k++)
            for (int c = 0; c < 3; c++) {
                int64_t at = 3 * (int64_t)pair.vertex[k] + c;
                s->moved[at] = s->safe[at] + hit->time * (x[at] - s->safe[at]);
            }
        pair = pl_contact_measure(surface, s->moved, hit->kind, hit->feature[0], hit->feature[1]);
        if (!add_candidate(s, &pair, MEETS))
            return PL_NO_MEMORY;
        for (int k = 0; k < 4 && pair.vertex[k] >= 0; k++)
            memcpy(s->moved + 3 * (int64_t)pair.vertex[k], s->safe + 3 * (int64_t)pair.vertex[k],
                   3 * sizeof *s->moved);
    }
    return PL_OK;
}

/* ---- rows ---- */

static void fill_row(const pl_contact_set *s, pl_contact_row *row)
{
    const pl_contact_bodies *b = s->bodies;
    const pl_contact_pair *p = &row->pair;
    int32_t body[2];
    pl_contact_bodies_of(b, p, body);
    int64_t at = pl_contact_bodies_at(b, body[0], body[1]);
    row->start[0] = row->start[1] = row->start[2] = 0;
    for (int k = 0; k < 4 && p->vertex[k] >= 0; k++) {
        for (int c = 0; c < 3; c++)
            row->start[c] += p->weight[k] * (s->x_start[3 * (int64_t)p->vertex[k] + c] -
                                             s->x_start[3 * (int64_t)p->vertex[0] + c]);
    }
    row->friction = b->friction[at];
    row->bound = row->friction * row->force;
    double before = fmax(pl_vector_dot(p->normal, row->start), 0);
    row->distance = fmin(b->distance[at], before + REGAINED * b->distance[at]);
    double along = pl_vector_dot(p->normal, row->grip);
    for (int c = 0; c < 3; c++)
        row->grip[c] -= along * p->normal[c];
}

/* Makes the candidates the rows, with the multipliers of the previous rows. */
static pl_status make_rows(pl_contact_set *s)
{
    pl_contact_row *row = malloc(((size_t)s->candidates + 1) * sizeof *row);
    if (!row)
        return PL_NO_MEMORY;
    if (s->candidates > 0)
        qsort(s->candidate, (size_t)s->candidates, sizeof *s->candidate, by_pair);
    int64_t count = 0, old = 0;
    for (int64_t i = 0; i < s->candidates; i++) {
        const pl_contact_pair *pair = &s->candidate[i].pair;
        const int again = s->candidate[i].again;
        if (count > 0 && compare(&row[count - 1], pair, again) == 0)
            continue;
        while (old < s->rows.count && compare(&s->rows.row[old], pair, again) < 0)
            old++;
        bool known = old < s->rows.count && compare(&s->rows.row[old], pair, again) == 0;
        row[count] = known ? s->rows.row[old] : (pl_contact_row){0};
        row[count].pair = *pair;
        row[count].again = again;
        if (s->candidate[i].why != KEPT)
            fill_row(s, &row[count]);
        row[count].meetings += s->candidate[i].why == MEETS;
        count++;
    }
    return pl_contact_rows_set(&s->rows, row, count, s->compliance);
}

/* ---- a step ---- */

static double farthest(const pl_contact_set *s, const double *a, const double *b)
{
    const pl_contact_surface *f = s->bodies->surface;
    double most = 0;
    for (int32_t i = 0; i < f->vertices; i++) {
        double d[3];
        pl_vector_subtract(a + 3 * (int64_t)f->vertex[i], b + 3 * (int64_t)f->vertex[i], d);
        most = fmax(most, pl_vector_dot(d, d));
    }
    return sqrt(most);
}

static bool carries(const pl_contact_set *s)
{
    for (int64_t r = 0; r < s->rows.count; r++)
        if (s->rows.row[r].force > 0)
            return true;
    return false;
}

/* True if all gaps are proved to stay wider than that on the way from `safe` to x. If x is `safe`, everything true
 * is proved, up to rounding, so a restored run begins its step in the same way. */
static pl_status look(pl_contact_set *s, const double *x, bool *clear)
{
    const double near = NEAR_BY * s->bodies->most;
    pl_status status = PL_OK;
    *clear = pl_clearance_covers(&s->clearance, s->bodies, s->safe, x, near);
    if (*clear)
        return PL_OK;
    status = pl_clearance_find(&s->clearance, s->bodies, s->trees, s->safe, x, near, s->threads);
    *clear = s->clearance.known;
    return status;
}

pl_status pl_contact_set_begin(pl_contact_set *s, const double *x_start, const double *x_guess)
{
    memcpy(s->x_start, x_start, bytes_of(s));
    memcpy(s->safe, x_start, bytes_of(s));
    s->reach = s->bodies->most + fmin(2 * farthest(s, x_start, x_guess), MARGIN * s->bodies->edge);
    s->candidates = 0;
    s->straightened = 0;
    s->gap = INFINITY;
    for (int64_t r = 0; r < s->rows.count; r++)
        s->rows.row[r].meetings = s->rows.row[r].turns = 0;
    bool clear = false;
    pl_status status = carries(s) ? PL_OK : look(s, s->safe, &clear);
    if (status == PL_OK && !clear)
        status = add_near(s);
    if (status == PL_OK)
        status = add_carrying(s);
    return status == PL_OK ? make_rows(s) : status;
}

static pl_status sweep_to(pl_contact_set *s, const double *x, pl_contact_advance *out)
{
    const pl_ccd_limits limits = {LEAST * s->bodies->least, SLACK * s->bodies->least,
                                  SWEEP_ITERATIONS, pl_contact_most_work(s->bodies->surface)};
    const pl_contact_filter filter = filter_of(s);
    pl_contact_impacts impacts;
    pl_status status = pl_contact_sweep(s->trees, s->safe, x, &limits, &filter, s->threads,
                                        &impacts);
    if (status != PL_OK)
        return status;
    out->met = impacts.count;
    out->crowded = impacts.crowded;
    if (out->crowded)
        return PL_OK;
    if (impacts.count > 0) {
        out->first = impacts.impact[impacts.earliest];
        memcpy(s->moved, s->safe, bytes_of(s));
        status = add_meeting(s, x, &impacts);
        const double way = SHORT_OF * out->first.time;
        for (size_t i = 0; i < bytes_of(s) / sizeof *x; i++)
            s->safe[i] += way * (x[i] - s->safe[i]);
    } else {
        memcpy(s->safe, x, bytes_of(s));
    }
    pl_contact_impacts_clear(&impacts);
    return status;
}

/* True if a row exerts or has exerted any force. */
static bool acts(pl_contact_set *s, const double *x)
{
    pl_contact_rows_evaluate(&s->rows, x, s->threads);
    for (int64_t r = 0; r < s->rows.count; r++)
        if (s->rows.row[r].force > 0 || s->rows.pull[3 * r] != 0 || s->rows.pull[3 * r + 1] != 0 ||
            s->rows.pull[3 * r + 2] != 0)
            return true;
    return false;
}

/* True if the gaps of all pairs near each other at the safe place, which are candidates, are wide enough: the
 * distance of the two bodies, or their gap at the step's start. Pairs that are not are measured again. */
static bool fits(pl_contact_set *s)
{
    bool all = true;
    for (int64_t i = 0; i < s->candidates; i++) {
        pl_contact_row row = {.pair = s->candidate[i].pair};
        if (s->candidate[i].why != NEAR)
            continue;
        fill_row(s, &row);
        if (row.pair.gap < (1 - FITS) * row.distance) {
            pl_contact_row *was = find_row(s, &row.pair);
            s->candidate[i].why = TIGHT;
            if (was && ++was->turns > TURNS)
                s->candidate[i].again = 1 + (was->turns - TURNS - 1) % FURTHER;
            all = false;
        }
    }
    return all;
}

/* Force-weighted mean offset of rows' points from their normals, in distances. */
static double offset(const pl_contact_set *s, const double *x)
{
    double sum = 0, forces = 0;
    for (int64_t r = 0; r < s->rows.count; r++) {
        const pl_contact_row *row = &s->rows.row[r], measured = {.pair = row->pair};
        double way[3];
        if (!(row->force > 0))
            continue;
        pl_contact_row_slip(&measured, x, way);
        sum += row->force * sqrt(pl_vector_dot(way, way)) / row->distance;
        forces += row->force;
    }
    return forces > 0 ? sum / forces : 0;
}

static bool is_askew(pl_contact_set *s, const double *x)
{
    const double now = offset(s, x);
    if (now <= ASKEW || s->straightened == STRAIGHTENINGS ||
        (s->straightened > 0 && now > HELPS * s->askew))
        return false;
    s->askew = now;
    s->straightened++;
    return true;
}

/* Keeps all rows; measures those that push again at x. */
static pl_status add_straight(pl_contact_set *s, const double *x)
{
    s->candidates = 0;
    for (int64_t r = 0; r < s->rows.count; r++) {
        const pl_contact_row *row = &s->rows.row[r];
        const bool pushes = row->force > 0;
        const pl_contact_pair pair = pushes
                                         ? pl_contact_measure(s->bodies->surface, x, row->pair.kind,
                                                              row->pair.feature[0],
                                                              row->pair.feature[1])
                                         : row->pair;
        if (!add_candidate(s, &pair, pushes ? CARRIES : KEPT))
            return PL_NO_MEMORY;
        s->candidate[s->candidates - 1].again = row->again;
    }
    return PL_OK;
}

pl_status pl_contact_set_advance(pl_contact_set *s, const double *x, pl_contact_keeping keeping,
                                 pl_contact_advance *out)
{
    const bool keep = keeping != PL_CONTACT_MEASURED;
    *out = (pl_contact_advance){0};
    if (s->rows.count == 0) {
        bool clear;
        pl_status found = look(s, x, &clear);
        if (found != PL_OK || clear) {
            memcpy(s->safe, x, bytes_of(s));
            out->reached = out->quiet = true;
            return found;
        }
    }
    out->quiet = !acts(s, x);
    s->candidates = 0;
    pl_status status = PL_OK;
    if (s->bodies->check)
        status = sweep_to(s, x, out);
    else
        memcpy(s->safe, x, bytes_of(s));
    if (status != PL_OK || out->crowded)
        return status;
    out->reached = out->met == 0;
    status = add_near(s);
    out->fits = status == PL_OK && keep && out->reached && fits(s);
    const bool askew = out->fits && keeping == PL_CONTACT_STRAIGHT && is_askew(s, x);
    if (status == PL_OK && askew)
        status = add_straight(s, x);
    else if (status == PL_OK && !out->fits)
        status = keep && out->reached ? add_kept(s) : add_carrying(s);
    out->fits = out->fits && !askew;
    if (status == PL_OK && !out->fits)
        status = make_rows(s);
    out->quiet = out->quiet && out->reached && !acts(s, x);
    return status;
}

/* ---- results ---- */

static int by_bodies(const void *one, const void *other)
{
    const pl_body_force *a = one, *b = other;
    int order = (a->body[0] > b->body[0]) - (a->body[0] < b->body[0]);
    return order ? order : (a->body[1] > b->body[1]) - (a->body[1] < b->body[1]);
}

/* The force of each pair of different bodies, from the rows that carry any: [rows.count] at most. */
static int32_t list_bodies(const pl_contact_set *s, pl_body_force *out)
{
    int64_t count = 0;
    int32_t found = 0;
    for (int64_t r = 0; r < s->rows.count; r++) {
        int32_t body[2];
        pl_contact_bodies_of(s->bodies, &s->rows.row[r].pair, body);
        if (s->rows.row[r].force > 0 && body[0] != body[1])
            out[count++] = (pl_body_force){{body[body[1] < body[0]], body[body[0] < body[1]]}, {0}};
    }
    qsort(out, (size_t)count, sizeof *out, by_bodies);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || by_bodies(&out[i], &out[found - 1]) != 0)
            out[found++] = out[i];
    return found;
}

static void add_force(const pl_contact_set *s, const pl_contact_row *row, pl_contact_sums *out)
{
    int32_t body[2];
    pl_contact_bodies_of(s->bodies, &row->pair, body);
    if (body[0] == body[1])
        return;
    const bool turned = body[1] < body[0];
    const pl_body_force wanted = {{body[turned], body[!turned]}, {0}};
    pl_body_force *to = bsearch(&wanted, out->forces, (size_t)out->count, sizeof wanted, by_bodies);
    for (int c = 0; c < 3; c++) {
        double on_first = row->force * row->pair.normal[c] - row->grip[c];
        to->newton[c] += turned ? on_first : -on_first;
    }
}

pl_status pl_contact_set_measure(pl_contact_set *s, const double *x, pl_contact_sums *out)
{
    pl_body_force *forces = realloc(s->forces, ((size_t)s->rows.count + 1) * sizeof *forces);
    *out = (pl_contact_sums){.gap = s->gap};
    if (!forces)
        return PL_NO_MEMORY;
    s->forces = out->forces = forces;
    out->count = list_bodies(s, forces);
    for (int64_t r = 0; r < s->rows.count; r++) {
        const pl_contact_row *row = &s->rows.row[r];
        double slip[3];
        if (!(row->force > 0))
            continue;
        pl_contact_row_slip(row, x, slip);
        out->active++;
        out->taken += pl_vector_dot(row->grip, slip);
        add_force(s, row, out);
    }
    return PL_OK;
}

/* ---- memory ---- */

int64_t pl_contact_set_save(const pl_contact_set *s, pl_contact_memory *out)
{
    return pl_contact_memory_save(&s->rows, out);
}

bool pl_contact_set_accepts(const pl_contact_set *s, const pl_contact_memory *memory, int64_t count)
{
    return pl_contact_memory_is_good(s->bodies->surface, memory, count);
}

bool pl_contact_set_restore(pl_contact_set *s, const pl_contact_memory *memory, int64_t count)
{
    return pl_contact_memory_restore(memory, count, s->compliance, &s->rows);
}
