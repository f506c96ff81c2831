#include "protocol/log/segment.h"

#include "protocol/log/small_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pl_segment_name(char name[PL_SEGMENT_NAME], const pl_segment *segment, const char *kind)
{
    snprintf(name, PL_SEGMENT_NAME, "log/%04d-%04d.%s", segment->attempt, segment->number, kind);
}

bool pl_segment_list_add(pl_segment_list *list, const pl_segment *segment)
{
    if (list->count == list->capacity) {
        int64_t capacity = 2 * list->capacity + 64;
        pl_segment *larger = realloc(list->items, (size_t)capacity * sizeof *list->items);
        if (!larger)
            return false;
        list->items = larger;
        list->capacity = capacity;
    }
    list->items[list->count++] = *segment;
    return true;
}

/* Parses "0003-0001.seg"; accepts only names written by pl_segment_name. */
static bool parse_name(const char *name, pl_segment *out)
{
    char again[PL_SEGMENT_NAME];
    *out = (pl_segment){.frames = -1, .length = -1};
    if (strlen(name) > 24 || sscanf(name, "%d-%d", &out->attempt, &out->number) != 2 ||
        out->attempt < 0 || out->number < 0)
        return false;
    pl_segment_name(again, out, "seg");
    return strcmp(again + strlen("log/"), name) == 0;
}

pl_status pl_segment_list_names(int dir_fd, pl_segment_list *out)
{
    int fd = openat(dir_fd, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *log = fd < 0 ? NULL : fdopendir(fd);
    if (!log) {
        if (fd >= 0)
            pl_close_fd(fd);
        return errno == ENOENT ? PL_OK : errno == ENOMEM ? PL_NO_MEMORY : PL_IO;
    }
    pl_status status = PL_OK;
    for (struct dirent *e; status == PL_OK && (e = readdir(log));) {
        pl_segment segment;
        if (parse_name(e->d_name, &segment) && out->count < PL_HEAD_SEGMENTS_MAX &&
            !pl_segment_list_add(out, &segment))
            status = PL_NO_MEMORY;
    }
    closedir(log);
    return status;
}

int32_t pl_log_newest_attempt(int dir_fd)
{
    pl_segment_list list = {0};
    int32_t newest = 0;
    pl_segment_list_names(dir_fd, &list);
    for (int64_t i = 0; i < list.count; i++)
        if (list.items[i].attempt > newest)
            newest = list.items[i].attempt;
    free(list.items);
    return newest;
}

int32_t pl_segment_next_number(const pl_segment *segments, int64_t count, int32_t attempt)
{
    int32_t number = 0;
    for (int64_t i = 0; i < count; i++)
        if (segments[i].attempt == attempt && segments[i].number >= number)
            number = segments[i].number + 1;
    return number;
}
