#include "server/worker/sandbox_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Definitions that headers older than the running kernel lack, by Landlock ABI (linux/landlock.h). */
#define ACCESS_REFER     (1ULL << 13) /* 2: link or rename across directories */
#define ACCESS_TRUNCATE  (1ULL << 14) /* 3 */
#define ACCESS_IOCTL_DEV (1ULL << 15) /* 5 */
#define ACCESS_NET       3ULL         /* 4: TCP bind and connect */
#define SCOPES           3ULL         /* 6: abstract unix sockets, signals to outside */

/* struct landlock_ruleset_attr of ABI 6; older kernels take a prefix of it. */
struct ruleset {
    uint64_t files, net, scopes;
};

#define ACCESS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_WRITE                                                                               \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |                              \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | ACCESS_TRUNCATE)

/* Rights that apply to a file that is not a directory. */
#define ACCESS_FILE                                                                                \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE |              \
     ACCESS_IOCTL_DEV)

static uint64_t handled_files(int abi)
{
    uint64_t all = LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1; /* every right of ABI 1 */
    if (abi >= 2)
        all |= ACCESS_REFER;
    if (abi >= 3)
        all |= ACCESS_TRUNCATE;
    if (abi >= 5)
        all |= ACCESS_IOCTL_DEV;
    return all;
}

static int allow(int ruleset, int place, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = place};
    return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/* Allow access to a path. A missing path needs no rule. */
static int allow_path(int ruleset, const char *path, uint64_t access)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
    struct stat st;
    int result = fstat(fd, &st);
    if (result == 0)
        result = allow(ruleset, fd, S_ISDIR(st.st_mode) ? access : access & ACCESS_FILE);
    int kept = errno;
    close(fd);
    errno = kept;
    return result;
}

/* Allow the files that NVIDIA's driver opens, and the machine's description that it reads. */
static int allow_gpu(int ruleset, uint64_t handled)
{
    enum { CARDS = 32 };
    static const char *const devices[] = {"/dev/nvidiactl", "/dev/nvidia-uvm",
                                          "/dev/nvidia-uvm-tools", "/dev/nvidia-caps"};
    static const char *const readable[] = {"/proc/driver/nvidia", "/proc/devices",
                                           "/sys/bus/pci/devices", "/sys/devices"};
    uint64_t use = (ACCESS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_IOCTL_DEV) & handled;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (allow_path(ruleset, devices[i], use) != 0)
            return -1;
    for (int card = 0; card < CARDS; card++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/nvidia%d", card);
        if (allow_path(ruleset, path, use) != 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
        if (allow_path(ruleset, readable[i], ACCESS_READ & handled) != 0)
            return -1;
    return 0;
}

static int allow_all(int ruleset, const int *directories, int count, uint64_t handled)
{
    /* Libraries may be loaded late (libgcc_s when a thread exits), and the C library and libgomp query the number of
     * CPUs. */
    static const char *const readable[] = {
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/lib",
        "/lib64",
        "/etc/ld.so.cache",
        "/proc/self",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/sys/devices/system/cpu",
        "/sys/devices/system/node",
        "/dev/urandom",
    };
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
        if (allow_path(ruleset, readable[i], ACCESS_READ & handled) != 0)
            return -1;
    if (allow_path(ruleset, "/dev/null", (ACCESS_READ | ACCESS_WRITE) & handled) != 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (allow(ruleset, directories[i], (ACCESS_READ | ACCESS_WRITE) & handled) != 0)
            return -1;
    return 0;
}

pl_status pl_sandbox_files(const int *directories, int count, bool gpu, int *abi)
{
    *abi = 0;
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return errno == ENOSYS || errno == EOPNOTSUPP ? PL_OK : PL_IO;
    struct ruleset attributes = {.files = handled_files((int)version)};
    size_t size = sizeof attributes.files;
    if (version >= 4) {
        attributes.net = ACCESS_NET;
        size = offsetof(struct ruleset, scopes);
    }
    if (version >= 6) {
        attributes.scopes = SCOPES;
        size = sizeof attributes;
    }
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    if (ruleset < 0)
        return PL_IO;
    int failed = allow_all(ruleset, directories, count, attributes.files);
    if (!failed && gpu)
        failed = allow_gpu(ruleset, attributes.files);
    if (!failed)
        failed = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
    int kept = errno;
    close(ruleset);
    errno = kept;
    if (failed)
        return PL_IO;
    *abi = (int)version;
    return PL_OK;
}
