#include "server/http/principal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    pl_scope scope;
    const char *name;
} scope_names[] = {
    {PL_SCOPE_READ, "read"},
    {PL_SCOPE_SUBMIT, "submit"},
    {PL_SCOPE_ADMIN, "admin"},
    {PL_SCOPE_METRICS, "metrics"},
};
enum { SCOPE_NAMES = sizeof scope_names / sizeof *scope_names };

const char *pl_came_name(pl_came came)
{
    static const char *const names[] = {"owner", "token", "cookie", "peer", "link", "signed"};
    return names[came];
}

pl_principal *pl_principal_create(pl_came came, const char *user, unsigned scopes,
                                  const pl_membership *groups, int group_count)
{
    size_t tail = (size_t)group_count * sizeof *groups;
    pl_principal *p = calloc(1, sizeof *p + tail);
    if (p) {
        p->references = 1;
        p->came = came;
        p->scopes = scopes;
        snprintf(p->user, sizeof p->user, "%s", user);
        p->group_count = group_count;
        if (group_count) {
            memcpy(p->groups, groups, tail);
        }
    }
    return p;
}

pl_principal *pl_principal_acquire(pl_principal *p)
{
    if (p) {
        atomic_fetch_add(&p->references, 1);
    }
    return p;
}

void pl_principal_release(pl_principal *p)
{
    if (p && atomic_fetch_sub(&p->references, 1) == 1) {
        free(p);
    }
}

bool pl_principal_valid(const pl_principal *p)
{
    return !atomic_load(&p->revoked) && (p->expires == 0 || time(NULL) < p->expires);
}

uint64_t pl_principal_key(const pl_principal *p)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *at = p ? p->user : ""; *at; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    }
    return p ? hash | 1 : 0;
}

bool pl_principal_has(const pl_principal *p, pl_scope scope)
{
    return scope == PL_SCOPE_PUBLIC || scope == PL_SCOPE_ANY || p->scopes & PL_SCOPE_ADMIN ||
           p->scopes & scope;
}

static const pl_membership *membership(const pl_principal *p, const char *group)
{
    for (int i = 0; group && i < p->group_count; i++) {
        if (strcmp(p->groups[i].group, group) == 0) {
            return &p->groups[i];
        }
    }
    return NULL;
}

pl_access pl_principal_access(const pl_principal *p, const char *id, const char *owner,
                              const char *group)
{
    if (p->session[0]) {
        return strcmp(p->session, id) == 0 ? PL_ACCESS_VIEW : PL_ACCESS_NONE;
    }
    if (p->scopes & PL_SCOPE_ADMIN || strcmp(p->user, owner) == 0) {
        return PL_ACCESS_MANAGE;
    }
    const pl_membership *m = membership(p, group);
    return m ? m->access : PL_ACCESS_NONE;
}

bool pl_principal_manages(const pl_principal *p, const char *group)
{
    const pl_membership *m = membership(p, group);
    return !p->session[0] && (p->scopes & PL_SCOPE_ADMIN || (m && m->access == PL_ACCESS_MANAGE));
}

bool pl_principal_in(const pl_principal *p, const char *group)
{
    return !p->session[0] && (p->scopes & PL_SCOPE_ADMIN || membership(p, group));
}

void pl_scopes_write(unsigned scopes, char out[64])
{
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < SCOPE_NAMES; i++) {
        if (scopes & scope_names[i].scope) {
            at += (size_t)snprintf(out + at, 64 - at, "%s%s", at ? " " : "", scope_names[i].name);
        }
    }
}

bool pl_scopes_parse(const char *text, unsigned *out)
{
    unsigned scopes = 0;
    for (text += strspn(text, " ,"); *text; text += strspn(text, " ,")) {
        size_t length = strcspn(text, " ,");
        int i = 0;
        while (i < SCOPE_NAMES && (strlen(scope_names[i].name) != length ||
                                   strncmp(scope_names[i].name, text, length) != 0)) {
            i++;
        }
        if (i == SCOPE_NAMES) {
            return false;
        }
        scopes |= scope_names[i].scope;
        text += length;
    }
    *out = scopes;
    return scopes != 0;
}

bool pl_name_well_formed(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t length = strlen(name);
    return length >= 1 && length <= PL_NAME_MAX && strchr(letters, name[0]) &&
           strspn(name + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
               length - 1;
}
