#include "clients/cli/session/mesh_quality.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR = 40 };

typedef struct measure {
    const char *key, *title[2]; /* of tetrahedra, of triangles */
} measure;
static const measure measures[] = {
    {"least_angle",
     {"least dihedral angle, degrees (70.5: regular)", "least angle, degrees (60: regular)"}},
    {"greatest_angle",
     {"greatest dihedral angle, degrees (70.5: regular)", "greatest angle, degrees (60: regular)"}},
    {"radius_ratio", {"radius ratio (1: regular, 0: flat)", "radius ratio (1: regular, 0: flat)"}},
    {"aspect",
     {"aspect (1: regular, without bound: flat)", "aspect (1: regular, without bound: flat)"}},
    {"volume", {"volume, m^3", NULL}},
    {"area", {NULL, "area, m^2"}},
};
enum { MEASURES = sizeof measures / sizeof *measures };

static void print_bar(int64_t count, int64_t most, const pl_terminal *terminal)
{
    int length = (int)((BAR * count + most - 1) / most);
    for (int i = 0; i < length; i++)
        fputs(terminal->utf8 ? "\u2588" : "#", stdout);
    putchar('\n');
}

/* Empty bins at either end are left out. */
static void print_histogram(const pl_json *range, const pl_terminal *terminal)
{
    const pl_json *edges = pl_json_at(range, "edges"), *counts = pl_json_at(range, "counts");
    int64_t most = 0;
    size_t first = 0, last = 0;
    for (size_t k = 0; k < pl_json_count(counts); k++) {
        int64_t n = pl_json_integer(pl_json_item(counts, k), "", 0);
        if (n > 0 && most == 0)
            first = k;
        if (n > 0)
            last = k;
        most = n > most ? n : most;
    }
    for (size_t k = first; k <= last && most > 0; k++) {
        int64_t n = pl_json_integer(pl_json_item(counts, k), "", 0);
        double high = pl_json_number(pl_json_item(edges, k + 1), "", INFINITY);
        printf("  %8.3g to %-8.3g %9" PRId64 "  ", pl_json_number(pl_json_item(edges, k), "", 0),
               high, n);
        print_bar(n, most, terminal);
    }
}

static void print_worst(const pl_json *shapes, bool tets)
{
    const pl_json *worst = pl_json_at(shapes, "worst");
    printf("\nworst (numbered from 0 in the file's order)\n"
           "  element  ratio    angles, degrees  aspect   %-8s centre, m\n",
           tets ? "m^3" : "m^2");
    for (size_t i = 0; i < pl_json_count(worst); i++) {
        const pl_json *s = pl_json_item(worst, i);
        bool flat = pl_json_boolean(s, "flat", false);
        printf("%9" PRId64 "  %-7.3g  %6.1f to %-6.1f  %-7.3g  %-8.3g %.4g %.4g %.4g%s\n",
               pl_json_integer(s, "element", 0), pl_json_number(s, "radius_ratio", 0),
               pl_json_number(s, "least_angle", 0), pl_json_number(s, "greatest_angle", 0),
               pl_json_number(s, "aspect", INFINITY),
               pl_json_number(s, tets ? "volume" : "area", 0), pl_json_number(s, "centre/0", NAN),
               pl_json_number(s, "centre/1", NAN), pl_json_number(s, "centre/2", NAN),
               flat                                    ? "  flat"
               : pl_json_boolean(s, "inverted", false) ? "  inverted"
                                                       : "");
    }
}

void pl_mesh_quality_print(const pl_json *shapes, const pl_terminal *terminal)
{
    const char *of = pl_json_string(shapes, "of", NULL);
    if (!of) {
        puts("no tetrahedra and no triangles: nothing to measure");
        return;
    }
    bool tets = strcmp(of, "tetrahedra") == 0;
    int64_t flat = pl_json_integer(shapes, "flat", 0);
    int64_t inverted = pl_json_integer(shapes, "inverted", 0);
    printf("%" PRId64 " %s\n", pl_json_integer(shapes, "elements", 0), of);
    printf("flat      %" PRId64 "%s\n", flat, flat ? "  (a scene with them is rejected)" : "");
    if (tets)
        printf("inverted  %" PRId64 "%s\n", inverted,
               inverted ? "  (reordered when a scene reads them)" : "");
    for (int m = 0; m < MEASURES; m++) {
        const pl_json *range = pl_json_at(shapes, measures[m].key);
        if (!range)
            continue;
        printf("\n%s: %.4g to %.4g, mean %.4g\n", measures[m].title[tets ? 0 : 1],
               pl_json_number(range, "least", 0), pl_json_number(range, "greatest", 0),
               pl_json_number(range, "mean", 0));
        print_histogram(range, terminal);
    }
    print_worst(shapes, tets);
}
