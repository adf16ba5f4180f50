// Takes the place of the C library's allocator, in the whole process, and counts.
#include "CAllocations.h"

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
