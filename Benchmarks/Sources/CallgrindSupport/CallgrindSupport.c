// Lets programs with libdispatch run under Debian 12's valgrind 3.19; preloaded with LD_PRELOAD. Valgrind
// modifies the mask passed to sigsuspend, where the main thread of a Swift program ends. libdispatch's
// mask is in read-only memory, so valgrind would crash. This library passes a copy.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    // The kernel's signal set is smaller than the C library's.
    unsigned long copy = *(const unsigned long *)mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, sizeof copy);
}
