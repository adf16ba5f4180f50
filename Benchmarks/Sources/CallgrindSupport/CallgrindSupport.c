// Makes programs with libdispatch run under Debian 12's valgrind 3.19, preloaded with LD_PRELOAD. Valgrind
// changes the mask that it is given for sigsuspend, where the main thread of a Swift program ends, and
// libdispatch's is in read-only memory: valgrind would end with a segmentation fault. So it gets a copy.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    // The kernel's set of signals is shorter than the C library's.
    unsigned long copy = *(const unsigned long *)mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, sizeof copy);
}
