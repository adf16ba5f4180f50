// Shows the thread sanitizer a lock that it does not see: Synchronization.Mutex waits for a contended lock inside a
// library that is not instrumented. "make test-thread" links this file into every program, in front of that library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>

// Synchronization._MutexHandle._lockSlow(UInt32)
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

SWIFT void lock_slowly(uint32_t seen, SELF _Atomic uint32_t *lock) __asm__(LOCK);

SWIFT void lock_slowly(uint32_t seen, SELF _Atomic uint32_t *lock) {
    static SWIFT void (*_Atomic wait)(uint32_t, SELF _Atomic uint32_t *);
    if (!wait) wait = (SWIFT void (*)(uint32_t, SELF _Atomic uint32_t *))dlsym(RTLD_NEXT, LOCK);
    wait(seen, lock);
    // The unlocking thread has stored here with release semantics.
    atomic_load_explicit(lock, memory_order_acquire);
}
