// The system call filter of a sandbox, as a program for the kernel. Each call returns a negative errno on
// failure.
//
// The filter compares the low 32 bits of arguments, because the kernel takes these arguments as 32-bit numbers
// and ignores the rest.
#ifndef CMEDIABRIDGE_SECCOMP_H
#define CMEDIABRIDGE_SECCOMP_H

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MB_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MB_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define MB_ARCHITECTURE 0
#endif

// Calls that are newer than Debian 12's headers; the numbers are the same on every architecture.
enum {
    MB_FCHMODAT2 = 452, MB_SETXATTRAT = 463, MB_REMOVEXATTRAT = 466, MB_OPEN_TREE_ATTR = 467,
    MB_FILE_SETATTR = 469,
};

// Denied with EACCES, regardless of their arguments.
static const uint32_t mb_denied_calls[] = {
    // Sockets of any family, and io_uring, which can also open them.
    __NR_socket, __NR_io_uring_setup,
    // Changes to a file that Landlock does not check: by path, or through a read-only descriptor.
    __NR_truncate, __NR_fchmodat, MB_FCHMODAT2, __NR_fchown, __NR_fchownat, __NR_utimensat,
    __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, MB_SETXATTRAT,
    __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr, MB_REMOVEXATTRAT, MB_FILE_SETATTR,
    __NR_mknodat, __NR_name_to_handle_at, __NR_open_by_handle_at, __NR_fanotify_init, __NR_inotify_init1,
    // Memory, messages, semaphores and keys that processes share by number or name.
    __NR_shmget, __NR_shmat, __NR_shmctl, __NR_msgget, __NR_msgsnd, __NR_msgrcv, __NR_msgctl,
    __NR_semget, __NR_semop, __NR_semtimedop, __NR_semctl, __NR_mq_open, __NR_mq_unlink,
    __NR_keyctl, __NR_add_key, __NR_request_key,
    // Other processes.
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_process_madvise, __NR_pidfd_open,
    __NR_pidfd_getfd, __NR_pidfd_send_signal, __NR_kcmp, __NR_tkill, __NR_migrate_pages, __NR_move_pages,
    __NR_perf_event_open, __NR_bpf, __NR_userfaultfd, __NR_syslog, __NR_acct,
    // Other views of the machine.
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_unshare, __NR_setns, __NR_open_tree,
    MB_OPEN_TREE_ATTR, __NR_move_mount, __NR_fsopen, __NR_fsconfig, __NR_fsmount, __NR_fspick,
    __NR_mount_setattr, __NR_quotactl, __NR_quotactl_fd, __NR_swapon, __NR_swapoff,
#if defined(__x86_64__)
    __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes, __NR_futimesat, __NR_mknod,
    __NR_inotify_init, __NR_uselib, __NR_ioperm, __NR_iopl,
#endif
};

// Denied with ENOSYS: their arguments are in memory, which a filter cannot read. Callers support older kernels,
// and fall back to the calls that are filtered below.
static const uint32_t mb_missing_calls[] = {__NR_openat2, __NR_clone3};

// Calls that may affect only the process itself: argument `who` is the process number, or zero.
typedef struct {
    uint32_t call;
    uint32_t who;
    uint32_t zero;     // whether zero means the caller; for kill() it means the whole process group
    uint32_t ignored;  // whether calls for others return 0 without an effect, in place of EACCES
} MBOwnCall;
static const MBOwnCall mb_own_calls[] = {
    {__NR_kill, 0, 0, 0}, {__NR_tgkill, 0, 0, 0}, {__NR_rt_sigqueueinfo, 0, 0, 0},
    {__NR_rt_tgsigqueueinfo, 0, 0, 0}, {__NR_prlimit64, 0, 1, 0},
    // These also take a thread number, which a filter cannot distinguish from the number of another process;
    // libdispatch ends the process if they fail.
    {__NR_sched_setaffinity, 0, 1, 1}, {__NR_sched_setscheduler, 0, 1, 1}, {__NR_sched_setparam, 0, 1, 1},
    {__NR_sched_setattr, 0, 1, 1}, {__NR_setpriority, 1, 1, 1}, {__NR_ioprio_set, 1, 1, 1},
};

// The allowed ioctl() requests, for example a terminal's size and the number of waiting bytes. Other requests
// type into terminals (TIOCSTI), redefine their keys (KDSKBSENT) and change the flags of read-only files
// (FS_IOC_SETFLAGS).
static const uint32_t mb_allowed_requests[] = {
    0x5401 /* TCGETS */, 0x802c542a /* TCGETS2 */, 0x5413 /* TIOCGWINSZ */, 0x540f /* TIOCGPGRP */,
    0x541b /* FIONREAD */, 0x5421 /* FIONBIO */, 0x5450 /* FIONCLEX */, 0x5451 /* FIOCLEX */,
};

// fcntl() commands that make the kernel send signals to other processes, or delay their opens.
static const uint32_t mb_denied_commands[] = {
    8 /* F_SETOWN */, 10 /* F_SETSIG */, 15 /* F_SETOWN_EX */, 1024 /* F_SETLEASE */, 1026 /* F_NOTIFY */,
};

typedef struct {
    struct sock_filter code[1024];
    unsigned short length;
} MBFilter;

static inline void mb_put(MBFilter *filter, struct sock_filter instruction) {
    filter->code[filter->length++] = instruction;
}
static inline void mb_load(MBFilter *filter, uint32_t offset) {
    mb_put(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}
static inline uint32_t mb_argument(uint32_t index) {
    return (uint32_t)(offsetof(struct seccomp_data, args) + index * sizeof(uint64_t));  // little endian
}
// Skips `skipped` instructions unless the loaded value is `value`.
static inline void mb_unless(MBFilter *filter, uint32_t value, uint8_t skipped) {
    mb_put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped));
}
static inline void mb_deny(MBFilter *filter) {
    mb_put(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES));
}
static inline void mb_miss(MBFilter *filter) {
    mb_put(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
}
// Returns 0, as if the call had succeeded.
static inline void mb_ignore(MBFilter *filter) {
    mb_put(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0));
}
static inline void mb_permit(MBFilter *filter) {
    mb_put(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static inline void mb_own_call(MBFilter *filter, const MBOwnCall *own, uint32_t process) {
    mb_unless(filter, own->call, own->zero ? 6 : 4);
    mb_load(filter, mb_argument(own->who));
    if (own->zero) {
        mb_unless(filter, 0, 1);
        mb_permit(filter);
    }
    mb_unless(filter, process, 1);
    mb_permit(filter);
    if (own->ignored) mb_ignore(filter); else mb_deny(filter);
}

// Denies truncating a file that may not be written, and creating a file that runs as its owner or group. Linux
// also truncates a file that is opened for reading only, or with access mode 3 (no access). Landlock has a
// separate truncate right only from version 3 on.
static inline void mb_open_call(MBFilter *filter, uint32_t call, uint32_t flags, uint32_t mode) {
    enum { made = O_CREAT | 020000000 /* __O_TMPFILE */ };
    mb_unless(filter, call, 12);
    mb_load(filter, mb_argument(flags));
    mb_put(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_ACCMODE));
    mb_put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_ACCMODE, 7, 0));
    mb_load(filter, mb_argument(flags));
    mb_put(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_ACCMODE | O_TRUNC));
    mb_put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_TRUNC, 4, 0));
    mb_load(filter, mb_argument(flags));
    mb_put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, made, 0, 3));
    mb_load(filter, mb_argument(mode));
    mb_put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 06000, 0, 1));
    mb_deny(filter);
    mb_permit(filter);
}

// Sets the filter for every thread of the process.
static inline int mb_seccomp_enter(void) {
    MBFilter filter = {.length = 0};
    const uint32_t process = (uint32_t)getpid();
#define MB_EACH(index, list) for (size_t index = 0; index < sizeof(list) / sizeof *(list); index++)
    if (MB_ARCHITECTURE == 0) return -ENOSYS;
    mb_load(&filter, offsetof(struct seccomp_data, arch));
    mb_put(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MB_ARCHITECTURE, 1, 0));
    mb_deny(&filter);
    mb_load(&filter, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    // x32 calls have separate numbers.
    mb_put(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
    mb_deny(&filter);
#endif
    MB_EACH(i, mb_denied_calls) {
        mb_unless(&filter, mb_denied_calls[i], 1);
        mb_deny(&filter);
    }
    MB_EACH(i, mb_missing_calls) {
        mb_unless(&filter, mb_missing_calls[i], 1);
        mb_miss(&filter);
    }
    // From 2.84 on GLib gives a file that replaces another one the mode of that one, and fails if it cannot: this
    // succeeds without an effect. Modes that raise privileges are denied.
    mb_unless(&filter, __NR_fchmod, 4);
    mb_load(&filter, mb_argument(1));
    mb_put(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 06000, 0, 1));
    mb_deny(&filter);
    mb_ignore(&filter);
    MB_EACH(i, mb_own_calls) mb_own_call(&filter, &mb_own_calls[i], process);
    mb_open_call(&filter, __NR_openat, 2, 3);
#if defined(__x86_64__)
    mb_open_call(&filter, __NR_open, 1, 2);
    mb_unless(&filter, __NR_creat, 4);
    mb_load(&filter, mb_argument(1));
    mb_put(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 06000, 0, 1));
    mb_deny(&filter);
    mb_permit(&filter);
#endif
    // Allows new threads and processes, but not in new namespaces, where they would be root.
    mb_unless(&filter, __NR_clone, 4);
    mb_load(&filter, mb_argument(0));
    mb_put(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7e020080 /* CLONE_NEW… */, 0, 1));
    mb_deny(&filter);
    mb_permit(&filter);
    mb_unless(&filter, __NR_ioctl, 2 * sizeof mb_allowed_requests / sizeof *mb_allowed_requests + 2);
    mb_load(&filter, mb_argument(1));
    MB_EACH(i, mb_allowed_requests) {
        mb_unless(&filter, mb_allowed_requests[i], 1);
        mb_permit(&filter);
    }
    mb_deny(&filter);
    mb_unless(&filter, __NR_fcntl, 2 * sizeof mb_denied_commands / sizeof *mb_denied_commands + 2);
    mb_load(&filter, mb_argument(1));
    MB_EACH(i, mb_denied_commands) {
        mb_unless(&filter, mb_denied_commands[i], 1);
        mb_deny(&filter);
    }
    mb_permit(&filter);
    mb_permit(&filter);
#undef MB_EACH
    struct sock_fprog program = {filter.length, filter.code};
    long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    return result < 0 ? -errno : result > 0 ? -EBUSY : 0;
}

// Whether a request that types into a terminal is denied before the kernel checks that the descriptor is a
// terminal.
static inline int mb_seccomp_refuses_typing(void) { return ioctl(-1, TIOCSTI, "") < 0 && errno == EACCES; }

#endif
