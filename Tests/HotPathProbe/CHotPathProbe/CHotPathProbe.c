// Takes the place of the C library's allocator, in the whole process, and counts. Takes the place of its
// sigsuspend as well, so that valgrind can run the process.
#define _GNU_SOURCE
#include "CHotPathProbe.h"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

// Valgrind 3.19 changes the mask that it is given, and libdispatch's, with which the main thread of a Swift
// program ends, is in read-only memory. So it gets a copy; the kernel's set of signals is shorter than the C
// library's.
int sigsuspend(const sigset_t *mask) {
    unsigned long copy = *(const unsigned long *)mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, sizeof copy);
}

#if defined(__has_feature) && (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))

long long allocation_count(void) { return -1; }

#else

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// What glibc calls its own allocator by.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_llong calls;

static void count(void) { atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed); }

long long allocation_count(void) { return atomic_load(&calls); }

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count();
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *result = memalign(alignment, size);
    if (!result) return ENOMEM;
    *memory = result;
    return 0;
}

#endif
