extension MediaEngine {
    /// Starts the local renderers and, unless the channel holds it already, the source. A second
    /// call has no effect except a warning.
    ///
    /// - Throws: ``EngineError``, which names the source's call that returned false, threw or did
    ///   not return. Renderers that cannot start are reported as events: the preview continues on
    ///   the others.
    public func startPreview() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard !holds.contains(.preview) else {
            hub.post(.warning("the preview is already running; nothing changed"))
            return
        }
        try await acquire(.preview)
    }

    /// Releases the preview's hold on the source; the channel's hold stays.
    public func stopPreview() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard holds.contains(.preview) else {
            hub.post(.warning("no preview is running; nothing changed"))
            return
        }
        await release(.preview)
    }

    /// Whether the preview holds the source.
    public var isPreviewing: Bool { holds.contains(.preview) }
}
