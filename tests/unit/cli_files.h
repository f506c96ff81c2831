/* cli_files.h - a separate folder for a test of the command line, and whole files in it. */
#ifndef PLIANT_TESTS_UNIT_CLI_FILES_H
#define PLIANT_TESTS_UNIT_CLI_FILES_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char cli_folder[64];

static inline void cli_folder_make(void)
{
    strcpy(cli_folder, "/tmp/pliant-cli-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(cli_folder));
}

static inline void cli_folder_remove(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", cli_folder);
    ck_assert_int_eq(system(command), 0);
}

/* The path of a file in the folder; a static buffer, good for one use at a time. */
static inline const char *cli_path(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", cli_folder, name);
    return path;
}

static inline void cli_write(const char *name, const char *text)
{
    FILE *f = fopen(cli_path(name), "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static inline unsigned char *cli_read(const char *name, size_t *size)
{
    FILE *f = fopen(cli_path(name), "rb");
    ck_assert_msg(f != NULL, "no file %s", cli_path(name));
    unsigned char *bytes = malloc(1 << 24);
    *size = fread(bytes, 1, (1 << 24) - 1, f);
    bytes[*size] = '\0';
    fclose(f);
    return bytes;
}

#endif
