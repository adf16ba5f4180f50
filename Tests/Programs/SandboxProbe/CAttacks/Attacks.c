#define _GNU_SOURCE
#include "Attacks.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static int verdict(long result) { return result < 0 ? -errno : 0; }

int attack_type(int terminal) { return verdict(ioctl(terminal, TIOCSTI, "x")); }

// The kernel drops the upper half of the request.
int attack_type_with_high_bits(int terminal) {
    return verdict(syscall(SYS_ioctl, terminal, 0xdeadbeef00000000UL | TIOCSTI, "x"));
}

static int with_readable(const char *path, int (*body)(int)) {
    int file = open(path, O_RDONLY);
    if (file < 0) return -errno;
    int result = body(file);
    close(file);
    return result;
}

static int set_mode(int file) { return verdict(fchmod(file, 04777)); }
int attack_mode(const char *path) { return with_readable(path, set_mode); }

static int set_attribute(int file) { return verdict(fsetxattr(file, "user.mine", "x", 1, 0)); }
int attack_attribute(const char *path) { return with_readable(path, set_attribute); }

static int set_flags(int file) {
    long flags = 0;
    if (ioctl(file, FS_IOC_GETFLAGS, &flags) < 0) return -errno;
    return verdict(ioctl(file, FS_IOC_SETFLAGS, &flags));
}
int attack_flags(const char *path) { return with_readable(path, set_flags); }

static int opened(int file) {
    if (file < 0) return -errno;
    close(file);
    return 0;
}
int attack_empty_for_reading(const char *path) { return opened(open(path, O_RDONLY | O_TRUNC)); }
int attack_empty_for_neither(const char *path) { return opened(open(path, O_ACCMODE | O_TRUNC)); }
int attack_set_user_file(const char *path) { return opened(open(path, O_WRONLY | O_CREAT, 04755)); }
int attack_set_user_node(const char *path) { return verdict(mknod(path, S_IFREG | 04755, 0)); }

int attack_shared_memory(void) {
    int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (memory < 0) return -errno;
    return verdict(shmctl(memory, IPC_RMID, 0));
}

int attack_messages(void) {
    int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    if (queue < 0) return -errno;
    return verdict(msgctl(queue, IPC_RMID, 0));
}

// The session's keyring.
int attack_keys(void) { return verdict(syscall(SYS_keyctl, 0, -3, 0)); }

// Sends no signal, but checks whether one could be sent.
int attack_signal(int process) { return verdict(kill(process, 0)); }

int attack_signal_by_pipe(int process) {
    int ends[2];
    if (pipe(ends) < 0) return -errno;
    int result = verdict(fcntl(ends[0], F_SETOWN, process));
    close(ends[0]);
    close(ends[1]);
    return result;
}

int attack_limits(int process) {
    struct rlimit limit;
    return verdict(prlimit(process, RLIMIT_CPU, NULL, &limit));
}

// Succeeds if the other process has a lower priority afterwards, independent of the call's result.
int attack_priority(int process) {
    int before = getpriority(PRIO_PROCESS, process);
    setpriority(PRIO_PROCESS, process, before + 1);
    return getpriority(PRIO_PROCESS, process) > before ? 0 : -EACCES;
}

int attack_new_world(void) { return verdict(unshare(CLONE_NEWUSER)); }
