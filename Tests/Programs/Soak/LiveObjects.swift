import CLiveObjects

/// Objects of GStreamer: elements, pads, pools.
enum LiveObjects {
    /// Counts from here on. Before anything else of GStreamer.
    static func begin() { soak_count_objects() }

    /// How many there are.
    static var count: Int { soak_live_objects() }

    /// Makes one that nobody will let go of.
    static func lose() { soak_lose_object() }

    /// Takes 64 kB that nobody will free.
    static func loseMemory() { soak_lose_memory() }
}
