#include "server/worker/sandbox_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

/* Denied with EPERM regardless of arguments. Calls unknown to an architecture or an older header are omitted. */
static const int denied[] = {
    /* the network, and unix sockets */
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    /* other programs and processes */
    SYS_execve,
    SYS_execveat,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_setns,
    SYS_unshare,
    SYS_personality,
    SYS_move_pages,
    SYS_migrate_pages,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_pidfd_getfd,
    SYS_process_madvise,
    /* operations on files other than opening, writing and renaming one's own */
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_mknodat,
    SYS_symlinkat,
    SYS_linkat,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    SYS_quotactl,
    /* the machine */
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_vhangup,
    /* ways around this list, and kernel interfaces with a history of exploits */
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_lookup_dcookie,
    SYS_nfsservctl,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_mknod,
    SYS_symlink,
    SYS_link,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_kexec_file_load,
#endif
};

enum { FILTER_MAX = 2 * (sizeof denied / sizeof *denied) + 48 };

typedef struct filter {
    struct sock_filter code[FILTER_MAX];
    unsigned short length;
} filter;

static void emit(filter *f, struct sock_filter instruction)
{
    f->code[f->length++] = instruction;
}

static void load(filter *f, size_t offset)
{
    emit(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void refuse(filter *f, int error)
{
    emit(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error));
}

static void permit(filter *f)
{
    emit(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

/* Deny call nr. The accumulator holds the call's number before and after. */
static void refuse_call(filter *f, int nr, int error)
{
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1));
    refuse(f, error);
}

/* Deny call nr unless the low half of argument `index` satisfies `test` (a BPF_JMP operation) with value; with
 * `invert`, if it does. */
static void refuse_argument(filter *f, int nr, int index, unsigned short test, uint32_t value,
                            bool invert)
{
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 4));
    size_t low = offsetof(struct seccomp_data, args) + 8 * (size_t)index;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    low += 4;
#endif
    load(f, low);
    emit(f, (struct sock_filter)BPF_JUMP((unsigned short)(BPF_JMP | test | BPF_K), value,
                                         invert ? 0 : 1, invert ? 1 : 0));
    refuse(f, EPERM);
    permit(f);
}

#ifdef FILTER_ARCH
static void build(filter *f, bool traced)
{
    f->length = 0;
    load(f, offsetof(struct seccomp_data, arch));
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0));
    refuse(f, EPERM);
    load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    /* The x32 calls have different numbers and would bypass the list. */
    emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1));
    refuse(f, EPERM);
#endif
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        refuse_call(f, denied[i], EPERM);
    /* A terminal inherited as standard input must not receive fake input. */
    refuse_argument(f, SYS_ioctl, 1, BPF_JEQ, TIOCSTI, true);
    refuse_argument(f, SYS_ioctl, 1, BPF_JEQ, TIOCLINUX, true);
    uint32_t self = (uint32_t)getpid();
    refuse_argument(f, SYS_kill, 0, BPF_JEQ, self, false);
    refuse_argument(f, SYS_tgkill, 0, BPF_JEQ, self, false);
    if (!traced) {
        refuse_call(f, SYS_ptrace, EPERM);
        /* Threads, not processes. The flags of clone3 are in memory, where a filter cannot see them: the C library
         * falls back to clone when clone3 appears to be missing. */
        refuse_argument(f, SYS_clone, 0, BPF_JSET, CLONE_THREAD, false);
        refuse_call(f, SYS_clone3, ENOSYS);
    }
    permit(f);
}

pl_status pl_sandbox_calls(bool traced, bool *installed)
{
    *installed = false;
    filter f;
    build(&f, traced);
    struct sock_fprog program = {.len = f.length, .filter = f.code};
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                          &program);
    if (result < 0 && (errno == ENOSYS || errno == EINVAL))
        return PL_OK; /* built without seccomp, or without filters */
    if (result != 0)
        return PL_IO;
    *installed = true;
    return PL_OK;
}
#else
pl_status pl_sandbox_calls(bool traced, bool *installed)
{
    *installed = false;
    return PL_OK;
}
#endif
