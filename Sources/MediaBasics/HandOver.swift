/// Declares to the thread sanitizer that one thread hands an object over to another. It happens under locks of GLib and
/// GStreamer, which are not instrumented. Does nothing in other builds.
package enum HandOver {
    #if SANITIZES_THREADS
        @_silgen_name("__tsan_release") private static func release(_ address: UnsafeRawPointer)
        @_silgen_name("__tsan_acquire") private static func acquire(_ address: UnsafeRawPointer)

        /// Everything that this thread did before is visible after ``end(_:)`` of another thread.
        @inline(__always) package static func begin(_ place: UnsafeRawPointer) { release(place) }
        @inline(__always) package static func end(_ place: UnsafeRawPointer) { acquire(place) }
    #else
        @inlinable package static func begin(_ place: UnsafeRawPointer) {}
        @inlinable package static func end(_ place: UnsafeRawPointer) {}
    #endif
}
