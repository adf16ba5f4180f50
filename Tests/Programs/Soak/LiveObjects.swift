import CLiveObjects

/// GStreamer objects: elements, pads, pools.
enum LiveObjects {
    /// Starts counting. Call it before anything else of GStreamer.
    static func begin() { soak_count_objects() }

    /// The number of live objects.
    static var count: Int { soak_live_objects() }

    /// Leaks one object.
    static func lose() { soak_lose_object() }

    /// Leaks 64 kB.
    static func loseMemory() { soak_lose_memory() }
}
