#include "server/store/busy_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pl_busy_key {
    struct pl_busy_key *next;
    char *name; /* owner, route and key */
} pl_busy_key;

static char *name_of(const char *owner, const char *route, const char *key)
{
    char *name = NULL;
    return asprintf(&name, "%s\n%s\n%s", owner, route, key) < 0 ? NULL : name;
}

void pl_busy_keys_init(pl_busy_keys *keys)
{
    keys->first = NULL;
    pthread_mutex_init(&keys->mutex, NULL);
}

void pl_busy_keys_clear(pl_busy_keys *keys)
{
    for (pl_busy_key *k = keys->first, *next; k; k = next) {
        next = k->next;
        free(k->name);
        free(k);
    }
    keys->first = NULL;
    pthread_mutex_destroy(&keys->mutex);
}

bool pl_busy_keys_take(pl_busy_keys *keys, const char *owner, const char *route, const char *key)
{
    char *name = name_of(owner, route, key);
    pl_busy_key *mine = malloc(sizeof *mine);
    bool taken = !mine || !name;
    pthread_mutex_lock(&keys->mutex);
    for (pl_busy_key *k = keys->first; k && !taken; k = k->next) {
        taken = strcmp(k->name, name) == 0;
    }
    if (!taken) {
        *mine = (pl_busy_key){keys->first, name};
        keys->first = mine;
    }
    pthread_mutex_unlock(&keys->mutex);
    if (taken) {
        free(mine);
        free(name);
    }
    return !taken;
}

/* Compares piece by piece: releasing a key must not need memory, or the key could stay busy. */
static bool is_name(const char *name, const char *owner, const char *route, const char *key)
{
    const char *const parts[] = {owner, route, key};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(parts[i]);
        if (strncmp(name, parts[i], n) != 0 || name[n] != (i < 2 ? '\n' : 0)) {
            return false;
        }
        name += n + 1;
    }
    return true;
}

void pl_busy_keys_remove(pl_busy_keys *keys, const char *owner, const char *route, const char *key)
{
    pthread_mutex_lock(&keys->mutex);
    for (pl_busy_key **k = &keys->first; *k; k = &(*k)->next) {
        if (is_name((*k)->name, owner, route, key)) {
            pl_busy_key *gone = *k;
            *k = gone->next;
            free(gone->name);
            free(gone);
            break;
        }
    }
    pthread_mutex_unlock(&keys->mutex);
}
