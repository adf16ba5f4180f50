internal import MediaBasics
public import MediaCore

extension MediaEngine {
    /// Returns the next frame of a stream, unchanged.
    ///
    /// - Parameters:
    ///   - stream: The stream; by default the local main track.
    ///   - limit: The deadline for the frame; by default ``Configuration/firstFrameTimeout``.
    /// - Throws: ``EngineError/Code/noFrame`` if no frame arrives in time,
    ///   ``EngineError/Code/invalidArgument`` if there is no such track,
    ///   ``EngineError/Code/cancelled``, ``EngineError/Code/shutDown``.
    public func takeSnapshot(
        of stream: StreamID = .local(), within limit: Duration? = nil
    ) async throws(EngineError) -> VideoFrame {
        guard !isShutDown else { throw Self.afterShutDown }
        if case .local(let track) = stream, slots[track] == nil {
            throw EngineError(.invalidArgument, message: "\(track) not found")
        }
        let limit = limit ?? configuration.firstFrameTimeout
        let once = Once<VideoFrame>()
        once.expire(after: limit, on: clock.timeline)
        let tap = tap(SnapshotTap(once), on: stream)
        let shot = await once.value(isCancellable: true)
        if let tap { untap(tap, from: stream) }
        guard let shot else {
            if Task.isCancelled { throw Self.cancelled("the snapshot") }
            throw EngineError(
                .noFrame, message: "no frame arrived within \(limit)",
                advice: "takeSnapshot(of:within:) while the stream is running")
        }
        return shot
    }

    private func tap(_ consumer: any VideoFrameConsumer, on stream: StreamID) -> Int? {
        switch stream {
        case .local(let track): slots[track]?.track.local.tap(consumer)
        case .remote(let user, let track): remote.tap(consumer, on: user, track)
        }
    }

    private func untap(_ number: Int, from stream: StreamID) {
        switch stream {
        case .local(let track): slots[track]?.track.local.untap(number)
        case .remote(let user, let track): remote.untap(number, from: user, track)
        }
    }
}
