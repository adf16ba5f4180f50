extension MediaEngine {
    /// Starts the source, unless the channel holds it already, and the local renderers. Twice is once.
    ///
    /// - Throws: ``EngineError``, naming the call of the source that said no, threw or hung. Renderers
    ///   that cannot start are events: the preview of the others goes on.
    public func startPreview() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard !holds.contains(.preview) else {
            hub.post(.warning("the preview runs already; nothing changes"))
            return
        }
        try await acquire(.preview)
    }

    /// Lets the preview's hold on the source go; the channel's stays.
    public func stopPreview() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard holds.contains(.preview) else {
            hub.post(.warning("no preview runs; nothing changes"))
            return
        }
        await release(.preview)
    }

    /// Whether the preview holds the source.
    public var isPreviewing: Bool { holds.contains(.preview) }
}
