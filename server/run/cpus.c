#include "server/run/cpus.h"

#include "server/run/cpu_set.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 64 };

struct pl_cpus {
    cpu_set_t unused;
    cpu_set_t node[NODES];
    int nodes;
};

/* ---- the machine ---- */

static bool read_node(const char *nodes, int number, cpu_set_t *out)
{
    char path[PATH_MAX], line[4096];
    snprintf(path, sizeof path, "%s/node%d/cpulist", nodes, number);
    FILE *file = fopen(path, "re");
    bool good = file && fgets(line, sizeof line, file) && pl_cpu_set_parse(line, out);
    if (file) {
        fclose(file);
    }
    return good;
}

/* Node numbers may have gaps. CPUs without a node form one more. */
static void find_nodes(pl_cpus *c, const char *nodes)
{
    cpu_set_t rest = c->unused;
    for (int i = 0; nodes && i < 4 * NODES && c->nodes < NODES - 1; i++) {
        cpu_set_t *node = &c->node[c->nodes];
        if (!read_node(nodes, i, node)) {
            continue;
        }
        CPU_AND(node, node, &rest);
        CPU_XOR(&rest, &rest, node);
        c->nodes += CPU_COUNT(node) > 0;
    }
    if (CPU_COUNT(&rest) > 0) {
        c->node[c->nodes++] = rest;
    }
}

pl_cpus *pl_cpus_create(const char *set, int64_t cores, const char *nodes)
{
    pl_cpus *c = calloc(1, sizeof *c);
    if (!c || !set || !pl_cpu_set_parse(set, &c->unused) || CPU_COUNT(&c->unused) < cores) {
        free(c);
        return NULL;
    }
    find_nodes(c, nodes);
    return c;
}

void pl_cpus_destroy(pl_cpus *c)
{
    free(c);
}

/* ---- taking and giving back ---- */

static int count_in(const cpu_set_t *set, const cpu_set_t *node)
{
    cpu_set_t both;
    CPU_AND(&both, set, node);
    return CPU_COUNT(&both);
}

/* The node for a worker's next CPUs if it needs `more`: the node with free CPUs where it already has most, otherwise
 * the fullest node with enough, otherwise the emptiest. -1: none. */
static int pick_node(const pl_cpus *c, const cpu_set_t *own, int64_t more)
{
    int best = -1, best_own = 0, best_free = 0;
    for (int i = 0; i < c->nodes; i++) {
        int has = count_in(own, &c->node[i]), unused = count_in(&c->unused, &c->node[i]);
        bool fits = unused >= more, best_fits = best_free >= more;
        bool better = best < 0            ? true
                      : has != best_own   ? has > best_own
                      : fits != best_fits ? fits
                      : fits              ? unused < best_free
                                          : unused > best_free;
        if (unused > 0 && better) {
            best = i;
            best_own = has;
            best_free = unused;
        }
    }
    return best;
}

static void move_cpu(cpu_set_t *from, cpu_set_t *to, int cpu)
{
    CPU_CLR(cpu, from);
    CPU_SET(cpu, to);
}

static bool take_one(pl_cpus *c, cpu_set_t *own, int64_t more)
{
    int node = pick_node(c, own, more);
    for (int cpu = 0; node >= 0 && cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &c->unused) && CPU_ISSET(cpu, &c->node[node])) {
            move_cpu(&c->unused, own, cpu);
            return true;
        }
    }
    return false;
}

/* Give back a CPU on the node where it has fewest, so that the others stay together; the last one there. */
static void give_one(pl_cpus *c, cpu_set_t *own)
{
    int fewest = -1, last = -1;
    for (int i = 0; i < c->nodes; i++) {
        int has = count_in(own, &c->node[i]);
        if (has > 0 && (fewest < 0 || has < count_in(own, &c->node[fewest]))) {
            fewest = i;
        }
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, own) && (fewest < 0 || CPU_ISSET(cpu, &c->node[fewest]))) {
            last = cpu;
        }
    }
    move_cpu(own, &c->unused, last);
}

char *pl_cpus_change(pl_cpus *c, const char *text, int64_t cores)
{
    cpu_set_t own;
    CPU_ZERO(&own);
    if (!c || (text && !pl_cpu_set_parse(text, &own))) {
        return NULL;
    }
    bool enough = true;
    while (enough && CPU_COUNT(&own) < cores) {
        enough = take_one(c, &own, cores - CPU_COUNT(&own));
    }
    while (CPU_COUNT(&own) > (enough ? cores : 0)) {
        give_one(c, &own);
    }
    char *changed = pl_cpu_set_print(&own);
    while (!changed && CPU_COUNT(&own) > 0) {
        give_one(c, &own);
    }
    return changed;
}

bool pl_cpus_claim(pl_cpus *c, const char *text, int64_t cores)
{
    cpu_set_t set, shared;
    if (!c || !text || !pl_cpu_set_parse(text, &set) || CPU_COUNT(&set) != cores) {
        return false;
    }
    CPU_AND(&shared, &set, &c->unused);
    if (!CPU_EQUAL(&shared, &set)) {
        return false;
    }
    CPU_XOR(&c->unused, &c->unused, &set);
    return true;
}
