// System calls by which a process gives up rights. glibc wraps none of them, and syscall() and prctl() are
// variadic, which Swift does not import. Each function returns a negative errno on failure.
#ifndef CMEDIABRIDGE_SANDBOX_H
#define CMEDIABRIDGE_SANDBOX_H

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: Landlock

// Debian 12's header lacks the network and scope fields. The kernel accepts the shorter structure of older
// callers.
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

// The version of the kernel's Landlock; negative if the kernel has none, or if it is disabled.
static inline int mb_landlock_version(void) {
    long version = syscall(MB_LANDLOCK_CREATE, NULL, 0, 1);
    return version < 0 ? -errno : (int)version;
}

// Returns a descriptor of an empty rule set: every right named in `rules` is denied.
static inline int mb_landlock_create(const MBLandlockRules *rules, int version) {
    size_t size = version >= 6 ? sizeof *rules : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    long set = syscall(MB_LANDLOCK_CREATE, rules, size, 0);
    return set < 0 ? -errno : (int)set;
}

static inline int mb_landlock_allow(int set, int descriptor, uint64_t allowed) {
    struct mb_landlock_path path = {allowed, descriptor};
    return syscall(MB_LANDLOCK_ADD, set, 1, &path, 0) < 0 ? -errno : 0;
}

// Applies to the calling thread, to the threads that it starts later, and to the programs that it executes.
static inline int mb_landlock_restrict(int set) {
    return syscall(MB_LANDLOCK_RESTRICT, set, 0) < 0 ? -errno : 0;
}

static inline int mb_set_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}
static inline int mb_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }

// MARK: Capabilities

// Drops all capabilities of the calling thread. User 0 then has only the rights that file modes grant, and
// executing a program restores no capability.
static inline int mb_drop_capabilities(void) {
    for (int capability = 0; capability < 64; capability++) {
        if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 1) continue;
        // The kernel refuses this to some threads. They cannot gain capabilities either, because of
        // PR_SET_NO_NEW_PRIVS.
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0 && errno != EPERM) return -errno;
    }
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    (void)prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
    return syscall(__NR_capset, &header, none) < 0 ? -errno : 0;
}

// Whether the calling thread has any capabilities.
static inline int mb_has_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
    if (syscall(__NR_capget, &header, data) < 0) return 1;
    return (data[0].permitted | data[1].permitted) != 0;
}

#endif
