extension MediaEngine {
    /// An engine that captures, converts and decodes with GStreamer.
    ///
    /// - Parameters:
    ///   - configuration: How it behaves; the defaults suit a call.
    ///   - transport: The way to other engines; by default every engine of the process reaches every
    ///     other in channels of the same name.
    public init(
        configuration: Configuration = Configuration(),
        transport: any ChannelTransport = LoopbackNetwork.shared
    ) {
        self.init(
            configuration: configuration, backend: GStreamerBackend(), transport: transport)
    }

    /// Writes the next frame of a stream as a picture, PNG or JPEG by the path's ending.
    ///
    /// - Parameters:
    ///   - stream: Whose frame.
    ///   - limit: How long it may take; by default ``Configuration/firstFrameDeadline``.
    ///   - path: The file, which is replaced.
    /// - Throws: ``EngineError/Code/noFrame``; ``PipelineError`` where it cannot be written.
    public func takeSnapshot(
        of stream: StreamID = .local(), within limit: Duration? = nil, to path: String
    ) async throws {
        try await takeSnapshot(of: stream, within: limit).writePicture(to: path)
    }
}
