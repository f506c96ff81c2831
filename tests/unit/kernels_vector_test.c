/* Checks that the kernels are entirely vector code, which timings on a busy machine would not show: with GCC's report
 * of vector operations that it splits, and with the instructions in the built objects. */
#include "tests/support/long_form.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

typedef struct isa {
    const char *name, *flags;
    int bytes; /* of a native vector */
    int split; /* instructions for one operation on PL_LANES doubles, against v4 */
} isa;
static const isa isas[] = {{"v2", "-march=x86-64-v2", 16, 4},
                           {"v3", "-march=x86-64-v3", 32, 2},
                           {"v4", "-march=x86-64-v4 -mprefer-vector-width=512", 64, 1}};
static const char *const materials[] = {"neo_hookean", "corotated", "arap", "stretch"};
enum { ISAS = 3, MATERIALS = 4 };

/* ---- What the compiler reports ---- */

static const char all_functions[] =
    "#include \"engine/kernels/arap.h\"\n"
    "#include \"engine/kernels/corotated.h\"\n"
    "#include \"engine/kernels/neo_hookean.h\"\n"
    "#define ALL(model) void model##_all(const pl_##model *m, pl_real *k, const pl_mat3 *F,\\\n"
    "                                    pl_mat3 *P, pl_real *H, pl_real *e)\\\n"
    "{\\\n"
    "    e[0] = pl_##model##_energy(m, F);\\\n"
    "    e[1] = pl_##model##_stretch_energy(m, H);\\\n"
    "    e[2] = pl_exp(pl_log(*e));\\\n"
    "    pl_##model##_gradient(m, F, P);\\\n"
    "    pl_##model##_prox(m, *k, F, P + 1);\\\n"
    "    pl_##model##_hessian(m, F, H);\\\n"
    "    pl_##model##_stretch_gradient(m, H, H + 90);\\\n"
    "    pl_##model##_stretch_hessian(m, H, H + 93);\\\n"
    "    pl_##model##_stretch_prox(m, *k, H, H + 102);\\\n"
    "}\n"
    "ALL(neo_hookean) ALL(corotated) ALL(arap)\n"
    "#include \"engine/kernels/stretch_basic.h\"\n"
    "#include \"engine/kernels/stretch_models.h\"\n"
    "#include \"engine/kernels/stretch_solid.h\"\n"
    "#include \"engine/kernels/stretch_spline.h\"\n"
    "typedef pl_stretch pl_stretch_solid;\n"
    "#define TABLE(model) void stretch_##model(const pl_stretch *m, const pl_real *s, pl_real "
    "*g,\\\n"
    "                                          pl_stretch_curvature *c)\\\n"
    "{\\\n"
    "    pl_stretch_##model##_energy_gradient(m, s, g, g + 1);\\\n"
    "    pl_stretch_##model##_curvature(m, s, c);\\\n"
    "}\n"
    "TABLE(neo_hookean) TABLE(corotated) TABLE(arap) TABLE(stvk) TABLE(stable_neo_hookean)\n"
    "TABLE(neo_hookean_wang) TABLE(mooney_rivlin) TABLE(fung) TABLE(polynomial) TABLE(spline)\n"
    "TABLE(hencky)\n"
    "void solid(const pl_stretch *m, pl_real *k, const pl_mat3 *F, pl_mat3 *P, pl_real *H)\n"
    "{\n"
    "    H[0] = pl_stretch_solid_energy_gradient(m, F, P);\n"
    "    pl_stretch_solid_hessian(m, F, H);\n"
    "    pl_stretch_solid_prox(m, *k, F, P + 1);\n"
    "    pl_stretch_polynomial_prox(m, k, F->m, H);\n"
    "}\n";

/* A vector of two of the machine's own: shows the form of the report. */
static const char too_wide[] = "typedef double wide __attribute__((vector_size(128)));\n"
                               "wide sum(wide a, wide b) { return a + b; }\n";

/* The compiler's messages on a text, in `report`; its exit status. */
static int compile(const char *text, const char *flags, char *report, size_t size)
{
    char file[] = "/tmp/pliant-vector-XXXXXX", command[1024];
    const int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    const char *cc = getenv("CC");
    snprintf(command, sizeof command,
             "%s -x c -std=gnu17 -O1 -I. -D_GNU_SOURCE -Wno-psabi -ffp-contract=off "
             "-fno-math-errno -fno-trapping-math -Wvector-operation-performance %s -S -o /dev/null "
             "%s 2>&1",
             cc && *cc ? cc : "gcc", flags, file);
    FILE *messages = popen(command, "r");
    ck_assert_ptr_nonnull(messages);
    const size_t used = fread(report, 1, size - 1, messages);
    report[used] = 0;
    for (char rest[4096]; fread(rest, 1, sizeof rest, messages) > 0;)
        ;
    const int status = pclose(messages);
    unlink(file);
    return status;
}

/* The lanes are 128 bytes, and GCC 12 reports every operation on them, even if the pieces are native vectors. So the
 * kernels are compiled here with lanes of one native vector: a report then means an operation that the instruction set
 * lacks. */
START_TEST(the_compiler_takes_no_operation_apart)
{
    char report[8192], flags[256];
    snprintf(flags, sizeof flags, "%s -DPL_VECTOR_SIZE=%d", isas[_i].flags, isas[_i].bytes);
    ck_assert_int_eq(compile(all_functions, flags, report, sizeof report), 0);
    ck_assert_msg(strstr(report, "vector operation will be expanded") == NULL, "%s: %.1500s",
                  isas[_i].name, report);
    ck_assert_int_eq(compile(too_wide, isas[_i].flags, report, sizeof report), 0);
    ck_assert_ptr_nonnull(strstr(report, "vector operation will be expanded"));
}
END_TEST

/* ---- The objects' contents ---- */

typedef struct count {
    char function[128];
    int packed[3]; /* arithmetic on xmm, ymm, zmm */
    int scalar, fused;
} count;

/* Scalar arithmetic that belongs there: sums over lanes, what `measure` counts by lane, and what `spread`
 * looks up of the neighbours of few elements. */
static int allowed(const char *function)
{
    static const struct {
        const char *function;
        int scalar;
    } sums[] = {{"tets_energy", 16},
                {"tets_energy_gradient", 16},
                {"tets_admm_local", 48},
                {"tets_measure", 96},
                {"tets_spread", 8}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (strcmp(sums[i].function, function) == 0)
            return sums[i].scalar;
    return 0;
}

/* Least packed arithmetic on v4; about half of the count measured with GCC 12. */
static int expected(const char *function)
{
    static const struct {
        const char *function;
        int packed;
    } hot[] = {{"pl_svd3", 900},
               {"tets_admm_local", 400},
               {"tets_gradient", 200},
               {"block_hessian", 60},
               {"tets_prox", 50},
               {"tets_energy", 60},
               {"tets_energy_gradient", 250}};
    for (size_t i = 0; i < sizeof hot / sizeof *hot; i++)
        if (strcmp(hot[i].function, function) == 0)
            return hot[i].packed;
    return 0;
}
enum { HOT = 7 };

static void add_instruction(count *c, const char *text)
{
    static const char *const arithmetic[] = {
        "add", "sub", "mul",   "div", "sqrt",
        "min", "max", "ucomi", "comi"}; /* the latter of scalars only */
    c->fused += strncmp(text, "vfm", 3) == 0 || strncmp(text, "vfnm", 4) == 0;
    const char *op = *text == 'v' ? text + 1 : text;
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
        const size_t length = strlen(arithmetic[i]);
        if (strncmp(op, arithmetic[i], length) != 0)
            continue;
        if (strncmp(op + length, "sd ", 3) == 0)
            c->scalar++;
        if (strncmp(op + length, "pd ", 3) == 0)
            c->packed[strstr(text, "%zmm") ? 2 : strstr(text, "%ymm") ? 1 : 0]++;
    }
}

/* A function's count; parts that the compiler split off it (f.cold) count with it. */
static count *count_of(count *counts, int *used, int most, const char *function)
{
    for (int i = 0; i < *used; i++)
        if (strcmp(counts[i].function, function) == 0)
            return &counts[i];
    ck_assert_int_lt(*used, most);
    count *c = &counts[(*used)++];
    *c = (count){0};
    strcpy(c->function, function);
    return c;
}

/* The functions of an object; their number. */
static int disassemble(const char *object, count *counts, int most)
{
    char command[4400], line[1024];
    snprintf(command, sizeof command, "objdump -d --no-show-raw-insn '%s'", object);
    FILE *text = popen(command, "r");
    ck_assert_ptr_nonnull(text);
    int used = 0;
    count *current = NULL;
    while (fgets(line, sizeof line, text)) {
        char name[128];
        if (sscanf(line, "%*[0-9a-f] <%127[^>.]", name) == 1 && strstr(line, ">:"))
            current = count_of(counts, &used, most, name);
        else if (current && strchr(line, '\t'))
            add_instruction(current, strchr(line, '\t') + 1);
    }
    ck_assert_int_eq(pclose(text), 0);
    return used;
}

/* The folder of this build, from where this program lies: BUILD/tests/unit/. */
static void build_folder(char *folder, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    ck_assert_int_gt(length, 0);
    folder[length] = 0;
    for (int up = 0; up < 3; up++)
        *strrchr(folder, '/') = 0;
}

/* Nothing is called that works on one number at a time: a libm function for each lane. Tables of other objects
 * are found by way of the offset table. */
static void check_calls(const char *object)
{
    char command[4400], name[128];
    snprintf(command, sizeof command, "nm -u '%s'", object);
    FILE *text = popen(command, "r");
    ck_assert_ptr_nonnull(text);
    while (fscanf(text, " U %127s", name) == 1)
        ck_assert_msg(strncmp(name, "pl_", 3) == 0 || strncmp(name, "mem", 3) == 0 ||
                          strcmp(name, "_GLOBAL_OFFSET_TABLE_") == 0,
                      "%s calls %s", object, name);
    ck_assert_int_eq(pclose(text), 0);
}

static void check_object(const char *object, int set)
{
    count counts[128];
    const int functions = disassemble(object, counts, 128);
    int hot = 0;
    for (int i = 0; i < functions; i++) {
        const count *c = &counts[i];
        const int least = expected(c->function) * isas[set].split, most = allowed(c->function);
        int narrow = c->scalar;
        for (int width = 0; width < set; width++)
            narrow += c->packed[width];
        hot += least > 0;
        ck_assert_msg(c->packed[set] >= least, "%s: %s has %d packed operations, not %d", object,
                      c->function, c->packed[set], least);
        ck_assert_msg(c->scalar <= most && narrow <= 2 * most,
                      "%s: %s has %d scalar and %d narrow operations beside %d of full width",
                      object, c->function, c->scalar, narrow - c->scalar, c->packed[set]);
        ck_assert_msg(c->fused == 0, "%s: %s fuses: other bits", object, c->function);
    }
    ck_assert_int_eq(hot, HOT);
}

START_TEST(objects_hold_packed_arithmetic_of_full_width)
{
    char build[4096], object[4352];
    build_folder(build, sizeof build);
    for (int m = 0; m < MATERIALS; m++) {
        snprintf(object, sizeof object, "%s/obj/engine/model/groups/tets_%s_isa.%s.o", build,
                 materials[m], isas[_i].name);
        check_object(object, _i);
        check_calls(object);
    }
}
END_TEST

static void add_tests(TCase *cases)
{
    /* the others in the long form: each compiles every kernel for half a minute */
    tcase_add_loop_test(cases, the_compiler_takes_no_operation_apart, is_long_form() ? 0 : 1,
                        is_long_form() ? ISAS : 2);
    tcase_add_loop_test(cases, objects_hold_packed_arithmetic_of_full_width, 0, ISAS);
}

#else

START_TEST(not_here)
{
    puts("SKIP vector code: GCC on x86-64 without sanitizers only");
}
END_TEST

static void add_tests(TCase *cases)
{
    tcase_add_test(cases, not_here);
}

#endif

int main(void)
{
    Suite *suite = suite_create("kernels_vector");
    TCase *cases = tcase_create("vector");
    tcase_set_timeout(cases, 240);
    add_tests(cases);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
