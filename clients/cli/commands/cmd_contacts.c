/* contacts: prints where bodies touch each other or themselves, for each frame. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/session/session_source.h"
#include "protocol/text/json.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct printer {
    pl_cli *cli;
    pl_json *topology; /* has the bodies' names */
    bool missing;      /* the session does not store contacts */
} printer;

static const char *name_of(const printer *p, int32_t body)
{
    return pl_json_string(pl_json_item(pl_json_at(p->topology, "bodies"), (size_t)body), "name",
                          "");
}

static void put_vector(pl_json_writer *w, const char *key, const double v[3])
{
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (int c = 0; c < 3; c++)
        pl_json_put_number(w, v[c], 9);
    pl_json_end_array(w);
}

static void put_point(const printer *p, pl_json_writer *w, const pl_contact_point *point)
{
    pl_json_begin_object(w);
    pl_json_key(w, "bodies");
    pl_json_begin_array(w);
    for (int k = 0; k < 2; k++)
        pl_json_put_string(w, name_of(p, point->body[k]));
    pl_json_end_array(w);
    put_vector(w, "position", point->place);
    put_vector(w, "force", point->newton);
    pl_json_set_number(w, "gap", point->gap);
    pl_json_end_object(w);
}

static void print_line(const printer *p, const pl_session_frame *f)
{
    pl_json_writer w = {0};
    size_t length;
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "frame", f->frame);
    pl_json_set_number(&w, "time", f->time);
    pl_json_key(&w, "contacts");
    pl_json_begin_array(&w);
    for (int64_t i = 0; i < f->contacts; i++) {
        pl_contact_point point;
        pl_session_frame_contact(f, i, &point);
        put_point(p, &w, &point);
    }
    pl_json_end_array(&w);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, &length);
    if (text)
        puts(text);
    free(text);
}

/* A name as a field of CSV. */
static void print_name(const char *name)
{
    putchar('"');
    for (; *name; name++) {
        if (*name == '"')
            putchar('"');
        putchar(*name);
    }
    fputs("\",", stdout);
}

static void print_rows(const printer *p, const pl_session_frame *f)
{
    for (int64_t i = 0; i < f->contacts; i++) {
        pl_contact_point point;
        pl_session_frame_contact(f, i, &point);
        printf("%" PRId64 ",%.9g,", f->frame, f->time);
        for (int k = 0; k < 2; k++)
            print_name(name_of(p, point.body[k]));
        printf("%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", point.place[0], point.place[1],
               point.place[2], point.newton[0], point.newton[1], point.newton[2], point.gap);
    }
}

static bool take_frame(void *context, const pl_session_frame *f)
{
    printer *p = context;
    p->missing = f->contacts < 0;
    if (p->missing)
        return false;
    if (p->cli->json)
        print_line(p, f);
    else
        print_rows(p, f);
    return true;
}

static int read_names(pl_session_source *source, printer *p)
{
    char *text = NULL;
    size_t size;
    int status = pl_session_source_document(source, PL_FILE_TOPOLOGY, "/v1/sessions/%s/topology",
                                            NULL, &text, &size);
    if (status != PL_EXIT_OK)
        return status;
    p->topology = pl_json_parse(text, size, NULL);
    free(text);
    return p->topology ? PL_EXIT_OK : pl_cli_fail(p->cli, PL_EXIT_FAILED, "out of memory");
}

int pl_command_contacts(pl_cli *cli)
{
    int64_t from, to, every;
    if (!pl_cli_integer(cli, "--from", 0, INT64_MAX, 0, &from) ||
        !pl_cli_integer(cli, "--to", 0, INT64_MAX, INT64_MAX, &to) ||
        !pl_cli_integer(cli, "--every", 1, 1 << 30, 1, &every))
        return PL_EXIT_USAGE;
    pl_session_source source;
    int status = pl_session_source_open(cli, cli->arguments[0], &source);
    if (status != PL_EXIT_OK)
        return status;
    printer p = {.cli = cli};
    status = read_names(&source, &p);
    if (status == PL_EXIT_OK && !cli->json)
        puts("frame,time,first,second,x,y,z,force_x,force_y,force_z,gap");
    if (status == PL_EXIT_OK && from < source.frames)
        status = pl_session_source_frames(&source, from,
                                          to < source.frames ? to : source.frames - 1, every, false,
                                          take_frame, &p);
    if (status == PL_EXIT_OK && p.missing)
        status = pl_cli_fail(cli, PL_EXIT_FAILED,
                             "the session does not store contacts; ask for them in the scene: "
                             "\"output\": {\"fields\": [\"position\", \"contacts\"]}");
    pl_json_free(p.topology);
    pl_session_source_close(&source);
    return status;
}
