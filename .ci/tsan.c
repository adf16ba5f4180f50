// Shows the thread sanitizer a lock that it does not see: the kernel hands a contended Synchronization.Mutex over, in a
// library that is not instrumented. "make test-thread" links this file into every program, in front of that library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>

// Methods of Synchronization._MutexHandle: _lockSlow(UInt32) and _unlockSlow().
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void (*Lock)(uint32_t, SELF void *);
typedef SWIFT void (*Unlock)(SELF void *);
SWIFT void lock_slowly(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void unlock_slowly(SELF void *mutex) __asm__(UNLOCK);
void __tsan_acquire(void *mutex);
void __tsan_release(void *mutex);

SWIFT void lock_slowly(uint32_t thread, SELF void *mutex) {
    static _Atomic(Lock) next;
    if (!next) next = (Lock)dlsym(RTLD_NEXT, LOCK);
    next(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void unlock_slowly(SELF void *mutex) {
    static _Atomic(Unlock) next;
    if (!next) next = (Unlock)dlsym(RTLD_NEXT, UNLOCK);
    __tsan_release(mutex);
    next(mutex);
}
