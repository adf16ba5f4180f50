extension MediaEngine {
    /// Creates an engine that captures, converts and decodes with GStreamer.
    ///
    /// - Parameters:
    ///   - configuration: The engine's settings; the defaults suit a call.
    ///   - transport: Connects this engine to others. By default all engines of the process that
    ///     join a channel of the same name reach each other.
    public init(
        configuration: Configuration = Configuration(),
        transport: any ChannelTransport = LoopbackNetwork.shared
    ) {
        self.init(
            configuration: configuration, backend: GStreamerBackend(), transport: transport)
    }

    /// Writes the next frame of a stream to a picture file, PNG or JPEG according to the path's
    /// extension.
    ///
    /// - Parameters:
    ///   - stream: The stream to take the frame from.
    ///   - limit: The longest wait for the frame; by default ``Configuration/firstFrameTimeout``.
    ///   - path: The file; an existing one is replaced.
    /// - Throws: ``EngineError/Code/noFrame``; ``PipelineError`` if the file cannot be written.
    public func takeSnapshot(
        of stream: StreamID = .local(), within limit: Duration? = nil, to path: String
    ) async throws {
        try await takeSnapshot(of: stream, within: limit).writePicture(to: path)
    }
}
