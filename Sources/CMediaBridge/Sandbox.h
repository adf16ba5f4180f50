// What a process asks of the kernel so that it can do less from then on. glibc wraps none of these calls,
// and syscall() and prctl() are variadic, which Swift does not import. Each returns a negative errno
// where it fails.
#ifndef CMEDIABRIDGE_SANDBOX_H
#define CMEDIABRIDGE_SANDBOX_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: Landlock

// Debian 12's header ends before the network and the scopes; the kernel takes a shorter structure from
// those who know less.
typedef struct {
    uint64_t file_system;
    uint64_t network;
    uint64_t scopes;
} MBLandlockRules;

struct __attribute__((packed)) mb_landlock_path {
    uint64_t allowed;
    int32_t directory;
};

enum { MB_LANDLOCK_CREATE = 444, MB_LANDLOCK_ADD = 445, MB_LANDLOCK_RESTRICT = 446 };

// The version of the kernel's Landlock; negative where there is none, or it is off.
static inline int mb_landlock_version(void) {
    long version = syscall(MB_LANDLOCK_CREATE, NULL, 0, 1);
    return version < 0 ? -errno : (int)version;
}

// A descriptor of an empty set of rules: all that `rules` names is denied.
static inline int mb_landlock_create(const MBLandlockRules *rules, int version) {
    size_t size = version >= 6 ? sizeof *rules : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    long set = syscall(MB_LANDLOCK_CREATE, rules, size, 0);
    return set < 0 ? -errno : (int)set;
}

static inline int mb_landlock_allow(int set, int descriptor, uint64_t allowed) {
    struct mb_landlock_path path = {allowed, descriptor};
    return syscall(MB_LANDLOCK_ADD, set, 1, &path, 0) < 0 ? -errno : 0;
}

// For the calling thread, those that it starts, and the program that it becomes.
static inline int mb_landlock_restrict(int set) {
    return syscall(MB_LANDLOCK_RESTRICT, set, 0) < 0 ? -errno : 0;
}

static inline int mb_set_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}
static inline int mb_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }

// MARK: Seccomp

#if defined(__x86_64__)
#define MB_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MB_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define MB_ARCHITECTURE 0
#endif

// What Landlock does not cover: sockets of any family, a second way to them (io_uring), calls that change
// a file by its path without opening it, and a look into other processes.
static const uint32_t mb_denied_calls[] = {
    __NR_socket, __NR_io_uring_setup,
    __NR_truncate, __NR_fchmodat, __NR_fchownat, __NR_utimensat, 452 /* fchmodat2 */,
    __NR_setxattr, __NR_lsetxattr, __NR_removexattr, __NR_lremovexattr, 463 /* setxattrat */, 466 /* removexattrat */,
#if defined(__x86_64__)
    __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes, __NR_futimesat,
#endif
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev,
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot,
};

// Refuses them, with EACCES, for every thread of the process.
static inline int mb_seccomp_enter(void) {
    enum { count = sizeof mb_denied_calls / sizeof *mb_denied_calls };
    struct sock_filter program[2 * count + 8];
    unsigned short length = 0;
    if (MB_ARCHITECTURE == 0) return -ENOSYS;
    const struct sock_filter deny = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MB_ARCHITECTURE, 1, 0);
    program[length++] = deny;
    program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    // The x32 calls have numbers of their own.
    program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    program[length++] = deny;
#endif
    for (int i = 0; i < count; i++) {
        program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mb_denied_calls[i], 0, 1);
        program[length++] = deny;
    }
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {length, program};
    long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    return result < 0 ? -errno : result > 0 ? -EBUSY : 0;
}

#endif
